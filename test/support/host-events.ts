/* Deliveries of GitHub, with only the fields that the service reads. */

export const SHA = (digit: string): string => digit.repeat(40);

const ZEROS = "0".repeat(40);

/** When the first of these events happened. A close is remembered only for days. */
const BEGAN = Math.floor(Date.now() / 1000) * 1000 - 3_600_000;

/** Returns the time of an event this many seconds later, as GitHub writes it. */
export const hostTime = (seconds = 0): string => new Date(BEGAN + seconds * 1000).toISOString().replace(".000", "");

interface HostRepository {
  id?: number;
  fullName?: string;
  defaultBranch?: string;
}

const repositoryOf = ({ id = 1, fullName = "acme/app-1", defaultBranch = "main" }: HostRepository = {}) => ({
  ...{ id, full_name: fullName, default_branch: defaultBranch },
});

/** Returns a change of the repository itself. `changes` has the previous values. */
export const repositoryEvent = (action: string, changes: object, repository: HostRepository = {}) => ({
  ...{ action, changes, repository: repositoryOf(repository), sender: { login: "ann" } },
});

interface PushFacts extends HostRepository {
  ref?: string;
  before?: string;
  message?: string;
  files?: string[];
  sender?: string;
  /** The commit's author. */
  author?: string;
}

/** Returns a push of a branch or a tag; a deletion if `sha` is null. */
export const newPush = (
  sha: string | null,
  {
    ref = "refs/heads/main",
    before = SHA("0"),
    message = "Mend it",
    files = ["a.ts"],
    sender = "ann",
    author = "Ann",
    ...repository
  }: PushFacts = {},
) => {
  const commit = sha && { id: sha, message, author: { name: author }, added: [], removed: [], modified: files };
  return {
    ...{ ref, before, after: sha ?? ZEROS, forced: false, deleted: sha === null },
    ...{ repository: repositoryOf(repository), sender: { login: sender } },
    ...{ head_commit: commit, commits: commit ? [commit] : [] },
  };
};

interface PullFacts extends HostRepository {
  number?: number;
  branch?: string;
  base?: string;
  forkOf?: number | null;
  updatedAt?: string;
  title?: string;
  before?: string;
  draft?: boolean;
  labels?: string[];
  author?: string;
  sender?: string;
  /** GitHub's word for the author: MEMBER, CONTRIBUTOR. */
  association?: string;
  /** `open` or `closed`; a host may omit it. */
  state?: string;
}

/** Returns a change of a pull request of the repository itself, or of a fork: the repository with the id `forkOf`. */
export const newPull = (action: string, sha: string, facts: PullFacts = {}) => {
  const { number = 7, branch = "topic", base = "main", forkOf = facts.id ?? 1, title = "Add it" } = facts;
  const { updatedAt = hostTime(), before, draft = false, author = "ann", sender = "ann" } = facts;
  const labels = (facts.labels ?? []).map((name) => ({ name }));
  return {
    ...{ action, number, before, repository: repositoryOf(facts), sender: { login: sender } },
    pull_request: {
      ...{ title, draft, merged: false, user: { login: author }, labels, updated_at: updatedAt },
      ...{ author_association: facts.association, state: facts.state },
      base: { ref: base },
      head: { ref: branch, sha, repo: forkOf === null ? null : { id: forkOf } },
    },
  };
};

/** Returns a merge queue's event about a commit that it tests. */
export const newMergeGroup = (action: string, sha: string, ref = "refs/heads/gh-readonly-queue/main/pr-7-abc") => ({
  ...{ action, repository: repositoryOf(), sender: { login: "github-merge-queue[bot]" } },
  merge_group: { head_ref: ref, head_sha: sha, base_ref: "refs/heads/main", base_sha: SHA("0") },
});
