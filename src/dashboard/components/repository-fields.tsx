import type { Repository } from "../../protocol/repository.ts";
import { readNumber, readRequiredText, readText } from "../form-fields.ts";
import type { FormState } from "../page-definition.ts";
import { TextField } from "./fields.tsx";

/** The fields to connect a repository, or to edit one. */
export const RepositoryFields = ({ request, repository }: { request: FormState; repository?: Repository }) => (
  <>
    <TextField request={request} name="fullName" label="Name" value={repository?.fullName} required hint="owner/repo" />
    <TextField
      request={request}
      name="cloneUrl"
      label="Clone address"
      value={repository?.cloneUrl}
      required
      hint="The address for git clone: https://git.example.com/owner/repo.git or git@git.example.com:owner/repo.git, without a password. A private repository gets a credential."
    />
    <TextField
      request={request}
      name="gitHostRepoId"
      label="Number at the git host"
      value={repository?.gitHostRepoId ?? null}
      type="number"
      min={0}
      hint={
        <>
          It identifies the repository when its name changes, and is unique at its git host. GitHub:{" "}
          <code>gh api repos/OWNER/REPO --jq .id</code>. GitLab: the project id. Other hosts: any number.{" "}
          {repository
            ? "Leave it empty to keep the present number."
            : "Leave it empty to derive one from the clone address."}
        </>
      }
    />
    <TextField
      request={request}
      name="defaultBranch"
      label="Default branch"
      value={repository?.defaultBranch ?? "main"}
      required
    />
  </>
);

export const readRepository = (form: URLSearchParams) => ({
  fullName: readRequiredText(form, "fullName"),
  cloneUrl: readRequiredText(form, "cloneUrl"),
  gitHostRepoId: readNumber(form, "gitHostRepoId") ?? undefined,
  defaultBranch: readText(form, "defaultBranch") ?? undefined,
});
