/* Bodies as Gitea and Forgejo send them, including fields that the service does not read. */

const ANN = { id: 3, login: "ann", full_name: "Ann Miller", username: "ann", email: "ann@millwork.example" };
const repository = () => ({
  ...{ id: 93, name: "gears", full_name: "millwork/gears", private: false, fork: false, default_branch: "main" },
  ...{ owner: { id: 2, login: "millwork", username: "millwork", full_name: "" }, empty: false, size: 128 },
  ...{
    clone_url: "https://git.millwork.example/millwork/gears.git",
    html_url: "https://git.millwork.example/millwork/gears",
  },
});

const PERSON = { name: "Ann Miller", email: "ann@millwork.example", username: "ann" };
const commit = (id: string, message: string, paths: { added?: string[]; removed?: string[]; modified?: string[] }) => ({
  ...{ id, message, author: { ...PERSON }, committer: { ...PERSON }, timestamp: "2026-11-20T09:00:00+01:00" },
  ...{ verification: null, added: [], removed: [], modified: [], ...paths },
});

export const giteaPush = () => {
  const head = commit("2".repeat(40), "Grease the gears\n\nAll of them.\n", { modified: ["gears.c"] });
  const first = commit("5".repeat(40), "Look at them\n", {
    added: ["eyes.c"],
    removed: ["blind.c"],
    modified: ["gears.c"],
  });
  return {
    ...{ ref: "refs/heads/main", before: "1".repeat(40), after: head.id, compare_url: "" },
    ...{ commits: [head, first] as object[], total_commits: 2, head_commit: head as object | null },
    ...{ repository: repository(), pusher: { ...ANN }, sender: { ...ANN } },
  };
};

export const giteaDelete = () => ({
  ...{ ref: "grease", ref_type: "branch", pusher_type: "user", repository: repository(), sender: { ...ANN } },
});

const side = (ref: string, sha: string) => ({
  ...{ label: ref, ref, sha, repo_id: 93, repo: repository() as ReturnType<typeof repository> | null },
});

export const giteaPull = () => ({
  ...{ action: "reopened", number: 6, repository: repository(), sender: { ...ANN } },
  pull_request: {
    ...{ id: 71, number: 6, user: { ...ANN }, title: "Grease the gears", body: "", labels: [], state: "open" },
    ...{ is_locked: false, mergeable: true, merged: false, merged_at: null, merge_base: "1".repeat(40) },
    ...{ created_at: "2026-11-18T08:00:00Z", updated_at: "2026-11-19T08:00:00Z", closed_at: null },
    ...{ base: side("main", "1".repeat(40)), head: side("grease", "3".repeat(40)) },
  },
});
