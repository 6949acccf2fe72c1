import * as z from "zod/mini";
import { FullName } from "../../protocol/repository.ts";
import { type Arrival, ignored, type PullAction } from "../core/arrival.ts";
import type { Fields } from "../core/body.ts";
import { CommitFields, CommitPaths, commitFacts, isClosed, pushArrival } from "../core/common-events.ts";
import { BranchName, factsIn, HostId, HostTime, LineField, labelsField, optional, Sha } from "../core/fields.ts";

const Project = z.pipe(
  z.object({ id: HostId, path_with_namespace: FullName, default_branch: optional(BranchName) }),
  z.transform((project) => ({
    id: project.id,
    fullName: project.path_with_namespace,
    defaultBranch: project.default_branch,
  })),
);

const ListedCommit = z.extend(CommitFields, { id: Sha, ...CommitPaths.shape });

const Push = z.object({
  project: Project,
  user_username: optional(LineField),
  ref: z.string(),
  before: Sha,
  after: Sha,
  checkout_sha: optional(Sha),
  total_commits_count: optional(z.int()),
  commits: optional(z.array(ListedCommit)),
});

/** Reads a push. GitLab lists only the newest 20 commits, in no guaranteed order. */
const push = (fields: Fields): Arrival => {
  const facts = factsIn(Push, fields);
  if ("kind" in facts) return facts;
  const { project, user_username, ref, before, after, checkout_sha, commits, total_commits_count } = facts;
  const sha = checkout_sha ?? after;
  return pushArrival({
    repository: project,
    sender: user_username,
    ref,
    before,
    after,
    forced: null,
    commitSha: checkout_sha,
    head: commits?.find(({ id }) => id === sha) ?? null,
    commits: commits?.length === total_commits_count ? commits : null,
  });
};

/** The changes of an update. Unchanged fields are absent. */
const Changes = z.object({
  labels: z.optional(z.unknown()),
  title: z.optional(z.unknown()),
  target_branch: z.optional(z.unknown()),
  draft: optional(z.object({ current: z.boolean() })),
});

const Label = z.pipe(
  z.object({ title: LineField }),
  z.transform(({ title }) => title),
);

const MergeRequest = z.object({
  project: Project,
  user: optional(z.object({ id: z.number(), username: LineField })),
  labels: labelsField(Label),
  changes: optional(Changes),
  object_attributes: z.object({
    action: z.string(),
    iid: HostId,
    title: LineField,
    state: optional(z.string()),
    updated_at: optional(HostTime),
    author_id: optional(z.number()),
    draft: optional(z.boolean()),
    work_in_progress: optional(z.boolean()),
    oldrev: optional(Sha),
    source_branch: BranchName,
    source_project_id: z.nullish(z.number()),
    target_branch: BranchName,
    last_commit: z.extend(CommitFields, { id: Sha }),
  }),
});
type MergeRequest = z.infer<typeof MergeRequest>;

const ACTIONS = new Map<string, PullAction>([
  ["open", "opened"],
  ["reopen", "reopened"],
  ["close", "closed"],
  ["merge", "closed"],
]);

/**
 * Returns the action on a merge request. Every other change is an `update`, too. Only `oldrev` means that there are new
 * commits.
 */
const toAction = ({ object_attributes, changes }: MergeRequest): PullAction | undefined => {
  if (object_attributes.action !== "update") return ACTIONS.get(object_attributes.action);
  if (object_attributes.oldrev) return "new-head";
  if (changes?.draft?.current === false) return "ready";
  if (changes?.labels) return "labeled";
  return changes?.title || changes?.target_branch || changes?.draft ? "edited" : undefined;
};

const mergeRequest = (fields: Fields): Arrival => {
  const facts = factsIn(MergeRequest, fields);
  if ("kind" in facts) return facts;
  const { project, user, labels, object_attributes: told } = facts;
  const action = toAction(facts);
  if (action === undefined) return ignored("This merge request event triggers no build.");
  if (isClosed(told.state, "opened") && action !== "closed") return ignored("The merge request is closed.");
  const { id: sha, ...head } = told.last_commit;
  if (sha === null) return ignored("The merge request has no commit.");
  return {
    kind: "pull",
    action,
    repository: project,
    sender: user?.username ?? null,
    ref: `refs/merge-requests/${told.iid}/head`,
    sha,
    before: told.oldrev,
    ...commitFacts(head),
    pull: {
      number: told.iid,
      base: told.target_branch,
      branch: told.source_branch,
      isFork: told.source_project_id !== project.id,
      isByMember: false,
      isDraft: told.draft ?? told.work_in_progress ?? false,
      isMerged: told.action === "merge",
      labels,
      author: user && user.id === told.author_id ? user.username : null,
      title: told.title,
      updatedAt: told.updated_at,
    },
  };
};

/**
 * Returns the event in a delivery from GitLab. GitLab's project hooks do not report a rename. A rename shows as a new
 * full name of a known id.
 * @param event The delivery's header `X-Gitlab-Event`.
 */
export const gitlabArrival = (event: string, fields: Fields): Arrival => {
  switch (event) {
    case "Push Hook":
    case "Tag Push Hook":
      return push(fields);
    case "Merge Request Hook":
      return mergeRequest(fields);
    default:
      return ignored("This event triggers no build.");
  }
};
