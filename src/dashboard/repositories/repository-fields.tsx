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
      label="Clone URL"
      value={repository?.cloneUrl}
      required
      hint="The URL for git clone, without a password: https://git.example.com/owner/repo.git or git@git.example.com:owner/repo.git. A private repository can have a credential."
    />
    <TextField
      request={request}
      name="gitHostRepoId"
      label="Repository ID at the git host"
      value={repository?.gitHostRepoId ?? null}
      type="number"
      min={0}
      hint={
        <>
          Identifies the repository when its name changes. Unique at its git host. GitHub:{" "}
          <code>gh api repos/OWNER/REPO --jq .id</code>. GitLab: the project ID. Other hosts: any number.{" "}
          {repository
            ? "Leave the field empty to keep the current ID."
            : "Leave the field empty to derive one from the clone URL."}
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
  off: "do not build",
  approval: "build each commit after a member approves it",
  members: "build members' commits at once, others after a member approves the commit",
};

/** Shows the fields that say which code builds without secrets, and whether a person must approve it first. */
export const SourceFields = ({ request, repository }: { request: FormState; repository: Repository }) => (
  <>
    <SelectField
      request={request}
      name="forks"
      label="Fork pull requests"
      value={repository.forks}
      choices={Object.entries(FORKS).map(([value, label]) => ({ value, label }))}
      hint="Their builds get no secrets and run only on agents with the label untrusted. Only GitHub reports who is a member."
    />
    <AreaField
      request={request}
      name="untrustedAuthors"
      label="Untrusted authors"
      value={repository.untrustedAuthors.join("\n")}
      rows={2}
      hint="Usernames at the git host, one per line, such as renovate[bot]. Their pushes and pull requests are built like those of forks, but need no approval. Their commits stay untrusted, whoever opens or labels the pull request."
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
