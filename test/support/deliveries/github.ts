/* Bodies as GitHub sends them, including fields that the service does not read. */

const OWNER = { login: "millwork", id: 41, node_id: "O_41", type: "Organization", site_admin: false };
const ANN = { login: "ann", id: 501, node_id: "U_501", type: "User", site_admin: false };

const repository = () => ({
  ...{ id: 7001, node_id: "R_7001", name: "gears", full_name: "millwork/gears", private: true, fork: false },
  ...{ owner: { ...OWNER }, html_url: "https://github.com/millwork/gears", default_branch: "main" },
  ...{ clone_url: "https://github.com/millwork/gears.git", visibility: "private", topics: [], archived: false },
  ...{ created_at: 1_700_000_000, pushed_at: 1_795_000_000, open_issues_count: 3, license: null },
});

const PERSON = { name: "Ann Miller", email: "ann@millwork.example", username: "ann" };

const commit = (id: string, message: string, modified: string[]) => ({
  ...{ id, tree_id: id.replace(/./g, "7"), distinct: true, message, timestamp: "2026-11-20T09:00:00+01:00" },
  ...{ url: `https://github.com/millwork/gears/commit/${id}`, author: { ...PERSON }, committer: { ...PERSON } },
  ...{ added: [] as string[], removed: [] as string[], modified },
});

export const githubPush = () => {
  const head = commit("2".repeat(40), "Turn the gears faster (#12)\n\nTwice.", ["gears/turn.go", "gears/turn_test.go"]);
  return {
    ...{ ref: "refs/heads/main", before: "1".repeat(40), after: head.id, base_ref: null },
    ...{ created: false, deleted: false, forced: false, compare: "https://github.com/millwork/gears/compare/1...2" },
    ...{ repository: repository(), pusher: { name: "ann", email: "ann@millwork.example" }, sender: { ...ANN } },
    ...{ head_commit: head, commits: [head] },
  };
};

const side = (ref: string, sha: string) => ({
  ...{ label: `millwork:${ref}`, ref, sha, user: { ...OWNER } },
  repo: repository() as ReturnType<typeof repository> | null,
});

export const githubPull = () => ({
  ...{ action: "opened", number: 12, repository: repository(), sender: { ...ANN } },
  pull_request: {
    ...{
      id: 88,
      number: 12,
      state: "open",
      locked: false,
      title: "Turn the gears faster",
      body: null as string | null,
    },
    ...{ user: { ...ANN }, draft: false, merged: false, mergeable: null, merge_commit_sha: null },
    ...{ created_at: "2026-11-19T08:00:00Z", updated_at: "2026-11-19T08:00:00Z", closed_at: null, merged_at: null },
    ...{ labels: [{ id: 9, name: "speed", color: "ededed", default: false }], assignees: [], commits: 1 },
    ...{ base: side("main", "1".repeat(40)), head: side("faster", "3".repeat(40)) },
  },
});

export const githubRepositoryChange = () => ({
  ...{ action: "renamed", changes: { repository: { name: { from: "cogs" } } } },
  ...{ repository: repository(), sender: { ...ANN } },
});

export const githubMergeGroup = () => ({
  ...{ action: "checks_requested", repository: repository(), sender: { ...ANN } },
  merge_group: {
    ...{
      head_sha: "4".repeat(40),
      head_ref: "refs/heads/gh-readonly-queue/main/pr-12-1111111",
      base_sha: "1".repeat(40),
    },
    ...{ base_ref: "refs/heads/main", head_commit: commit("4".repeat(40), "Merge the gears", []) },
  },
});
