import type { Forks, Repository } from "../../protocol/repository.ts";
import {
  AreaField,
  readLines,
  readNumber,
  readRequiredText,
  readText,
  SelectField,
  TextField,
} from "../parts/fields.tsx";
import type { FormState } from "../shell/page-definition.ts";

/** Shows the fields to connect or edit a repository. */
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

const FORKS: Record<Forks, string> = {
  off: "not built",
  approval: "each commit, once a member has approved it",
  members: "those of members at once, others once a member has approved the commit",
};

/** Shows the fields for code that is built without secrets, and whether a person must approve it first. */
export const SourceFields = ({ request, repository }: { request: FormState; repository: Repository }) => (
  <>
    <SelectField
      request={request}
      name="forks"
      label="Pull requests of forks"
      value={repository.forks}
      choices={Object.entries(FORKS).map(([value, label]) => ({ value, label }))}
      hint="They are built without secrets, by agents with the label untrusted alone. GitHub says who is a member; other hosts do not."
    />
    <AreaField
      request={request}
      name="untrustedAuthors"
      label="Untrusted authors"
      value={repository.untrustedAuthors.join("\n")}
      rows={2}
      hint="Names at the git host, one a line, such as renovate[bot]: their pushes and pull requests are built as those of forks are, without anybody's approval. What they pushed stays so, whoever opens or labels it."
    />
  </>
);

export const readSources = (form: URLSearchParams) => ({
  ...(form.has("forks") && { forks: form.get("forks") ?? "" }),
  ...(form.has("untrustedAuthors") && { untrustedAuthors: readLines(form, "untrustedAuthors") }),
});

export const readRepository = (form: URLSearchParams) => ({
  fullName: readRequiredText(form, "fullName"),
  cloneUrl: readRequiredText(form, "cloneUrl"),
  gitHostRepoId: readNumber(form, "gitHostRepoId") ?? undefined,
  defaultBranch: readText(form, "defaultBranch") ?? undefined,
});
