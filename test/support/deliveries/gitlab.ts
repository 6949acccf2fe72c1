/* Bodies as GitLab sends them, including fields that the service does not read. */

const project = () => ({
  ...{ id: 8002, name: "Gears", description: "", web_url: "https://gitlab.com/millwork/parts/gears" },
  ...{ namespace: "parts", visibility_level: 0, path_with_namespace: "millwork/parts/gears", default_branch: "main" },
  ...{ git_http_url: "https://gitlab.com/millwork/parts/gears.git", ci_config_path: null },
});

const AUTHOR = { name: "Ann Miller", email: "ann@millwork.example" };
const commit = (id: string, message: string) => ({
  ...{ id, message, title: message.split("\n")[0], timestamp: "2026-11-20T09:00:00+01:00", author: { ...AUTHOR } },
  ...{ url: `https://gitlab.com/millwork/parts/gears/-/commit/${id}` },
});

const pushed = (kind: string, ref: string, before: string, after: string, checkout_sha: string | null) => ({
  ...{ object_kind: kind, event_name: kind, before, after, ref, ref_protected: true, checkout_sha },
  ...{ message: null, user_id: 601, user_name: "Ann Miller", user_username: "ann", project_id: 8002 },
  ...{
    project: project(),
    push_options: {},
    repository: { name: "Gears", url: "git@gitlab.com:millwork/parts/gears.git" },
  },
});

export const gitlabPush = () => {
  const listed = { ...commit("2".repeat(40), "Oil the gears\n"), added: ["OIL.md"], modified: [], removed: [] };
  return {
    ...pushed("push", "refs/heads/main", "1".repeat(40), "2".repeat(40), "2".repeat(40)),
    ...{ commits: [listed] as object[], total_commits_count: 1 },
  };
};

/** For an annotated tag: `after` is the tag's object. */
export const gitlabTag = () => ({
  ...pushed("tag_push", "refs/tags/v2", "0".repeat(40), "9".repeat(40), "2".repeat(40)),
  ...{ commits: [{ ...commit("2".repeat(40), "Oil the gears\n"), added: [], modified: [], removed: [] }] as object[] },
  total_commits_count: 1,
});

export const gitlabMergeRequest = () => ({
  ...{ object_kind: "merge_request", event_type: "merge_request", project: project(), changes: {} as object },
  user: { id: 601, name: "Ann Miller", username: "ann", email: "[REDACTED]" },
  labels: [{ id: 5, title: "speed", color: "#dc143c", project_id: 8002 }],
  object_attributes: {
    ...{ id: 991, iid: 4, action: "open", state: "opened", title: "Oil the gears", description: "", author_id: 601 },
    ...{ source_branch: "oil", source_project_id: 8002, target_branch: "main", target_project_id: 8002 },
    ...{
      draft: false,
      work_in_progress: false,
      created_at: "2026-11-19 08:00:00 UTC",
      updated_at: "2026-11-19 08:00:00 UTC",
    },
    ...{ merge_status: "checking", last_commit: commit("3".repeat(40), "Oil the gears") },
  },
});
