import type { HostKind } from "../../../src/protocol/connection.ts";
import { type BodyName, bodyWith, type Changeable } from "./bodies.ts";

const ZEROS = "0".repeat(40);
const HEAD = "2".repeat(40);
const BEFORE = "1".repeat(40);
const PULL_HEAD = "3".repeat(40);

/** A delivery, the expected arrival, and whether it triggers a build if everything except forks is built. */
export interface Delivery {
  title: string;
  kind: HostKind;
  event: string;
  body: Changeable;
  arrival: object;
  builds: boolean;
}

const REPOSITORIES: Record<HostKind, object> = {
  github: { id: 7001, fullName: "millwork/gears" },
  gitlab: { id: 8002, fullName: "millwork/parts/gears" },
  gitea: { id: 93, fullName: "millwork/gears" },
};

type Row = [
  title: string,
  event: string,
  name: BodyName,
  change: (body: Changeable) => void,
  arrival: object,
  builds?: true,
];

const IGNORED = { kind: "ignored" };
const asIs = (): void => {};
const ends = (body: Changeable): void => {
  Object.assign(body, { after: ZEROS, checkout_sha: null, head_commit: null, commits: [], deleted: true });
};
const begins = (body: Changeable): void => void Object.assign(body, { before: ZEROS, created: true });
const acts =
  (action: string, more: object = {}) =>
  (body: Changeable) =>
    void Object.assign(body, { action, ...more });
const merges =
  (attributes: object, changes: object = {}) =>
  (body: Changeable) => {
    Object.assign(body.object_attributes, attributes);
    Object.assign(body.changes, changes);
  };
const ofPull = (action: string, more: object = {}) => ({
  kind: "pull",
  action,
  ref: "refs/pull/12/head",
  sha: PULL_HEAD,
  ...more,
});
const ofMerge = (action: string, more: object = {}) => ({
  ...{ kind: "pull", action, ref: "refs/merge-requests/4/head", sha: PULL_HEAD, before: null, ...more },
});
const ofGitea = (action: string, more: object = {}) => ({ ...ofPull(action, more), ref: "refs/pull/6/head" });

const GITHUB: Row[] = [
  [
    "a push",
    "push",
    "githubPush",
    asIs,
    { kind: "push", ref: "refs/heads/main", sha: HEAD, before: BEFORE, forced: false },
    true,
  ],
  ["a new branch", "push", "githubPush", begins, { kind: "push", before: null, changedPaths: null }, true],
  [
    "a forced push",
    "push",
    "githubPush",
    (body) => Object.assign(body, { forced: true }),
    { kind: "push", forced: true, changedPaths: null },
    true,
  ],
  ["a deleted branch", "push", "githubPush", ends, { kind: "deleted", ref: "refs/heads/main", before: BEFORE }],
  [
    "an annotated tag",
    "push",
    "githubPush",
    (body) => Object.assign(body, { ref: "refs/tags/v1", before: ZEROS, after: "9".repeat(40), commits: [] }),
    { kind: "tag", ref: "refs/tags/v1", sha: HEAD, before: null },
    true,
  ],
  [
    "a deleted tag",
    "push",
    "githubPush",
    (body) => Object.assign(body, ends(body), { ref: "refs/tags/v1" }),
    { kind: "deleted", ref: "refs/tags/v1" },
  ],
  [
    "a merge queue's branch",
    "push",
    "githubPush",
    (body) => Object.assign(body, { ref: "refs/heads/gh-readonly-queue/main/pr-1-a" }),
    IGNORED,
  ],
  [
    "a branch with a name that is too long",
    "push",
    "githubPush",
    (body) => Object.assign(body, { ref: `refs/heads/${"x".repeat(300)}` }),
    IGNORED,
  ],
  ["a new pull request", "pull_request", "githubPull", asIs, ofPull("opened", { before: null }), true],
  [
    "a pull request's new head",
    "pull_request",
    "githubPull",
    acts("synchronize", { before: BEFORE, after: PULL_HEAD }),
    ofPull("new-head", { before: BEFORE }),
    true,
  ],
  ["a reopened pull request", "pull_request", "githubPull", acts("reopened"), ofPull("reopened"), true],
  [
    "a merged pull request",
    "pull_request",
    "githubPull",
    (body) => Object.assign(acts("closed")(body) ?? body.pull_request, { merged: true, state: "closed" }),
    ofPull("closed", { pull: { isMerged: true } }),
  ],
  [
    "a pull request's label",
    "pull_request",
    "githubPull",
    acts("labeled", { label: { name: "speed" } }),
    ofPull("labeled"),
  ],
  [
    "a pull request from a fork",
    "pull_request",
    "githubPull",
    (body) => Object.assign(body.pull_request.head.repo, { id: 7777, fork: true, full_name: "stranger/gears" }),
    ofPull("opened", { pull: { isFork: true } }),
  ],
  [
    "a pull request from a deleted fork",
    "pull_request",
    "githubPull",
    (body) => Object.assign(body.pull_request.head, { repo: null }),
    ofPull("opened", { pull: { isFork: true } }),
  ],
  ["a pull request's assignee", "pull_request", "githubPull", acts("assigned"), IGNORED],
  ["a renamed repository", "repository", "githubRepositoryChange", asIs, { kind: "renamed" }],
  ["a transferred repository", "repository", "githubRepositoryChange", acts("transferred"), { kind: "renamed" }],
  ["an archived repository", "repository", "githubRepositoryChange", acts("archived"), IGNORED],
  [
    "a merge group",
    "merge_group",
    "githubMergeGroup",
    asIs,
    {
      ...{ kind: "merge-group", action: "asked", ref: "refs/heads/gh-readonly-queue/main/pr-12-1111111" },
      ...{ sha: "4".repeat(40), base: "1".repeat(40) },
    },
  ],
  [
    "a destroyed merge group",
    "merge_group",
    "githubMergeGroup",
    acts("destroyed"),
    { kind: "merge-group", action: "gone" },
  ],
  ["a new branch, as a create event", "create", "githubPush", begins, IGNORED],
];

const GITLAB: Row[] = [
  [
    "a push",
    "Push Hook",
    "gitlabPush",
    asIs,
    { kind: "push", ref: "refs/heads/main", sha: HEAD, before: BEFORE, forced: null },
    true,
  ],
  ["a new branch", "Push Hook", "gitlabPush", begins, { kind: "push", before: null, changedPaths: null }, true],
  ["a deleted branch", "Push Hook", "gitlabPush", ends, { kind: "deleted", ref: "refs/heads/main", before: BEFORE }],
  [
    "an annotated tag",
    "Tag Push Hook",
    "gitlabTag",
    asIs,
    { kind: "tag", ref: "refs/tags/v2", sha: HEAD, before: null },
    true,
  ],
  [
    "a deleted tag",
    "Tag Push Hook",
    "gitlabTag",
    (body) => Object.assign(body, ends(body), { before: "9".repeat(40) }),
    { kind: "deleted", ref: "refs/tags/v2" },
  ],
  ["a new merge request", "Merge Request Hook", "gitlabMergeRequest", asIs, ofMerge("opened"), true],
  [
    "a merge request's new head",
    "Merge Request Hook",
    "gitlabMergeRequest",
    merges({ action: "update", oldrev: BEFORE }),
    ofMerge("new-head", { before: BEFORE }),
    true,
  ],
  [
    "a merge request's label",
    "Merge Request Hook",
    "gitlabMergeRequest",
    merges({ action: "update" }, { labels: { previous: [], current: [{ title: "speed" }] } }),
    ofMerge("labeled"),
  ],
  [
    "a merge request's assignee",
    "Merge Request Hook",
    "gitlabMergeRequest",
    merges({ action: "update" }, { assignees: { previous: [], current: [] } }),
    IGNORED,
  ],
  ["a merge request's approval", "Merge Request Hook", "gitlabMergeRequest", merges({ action: "approved" }), IGNORED],
  [
    "a merged merge request",
    "Merge Request Hook",
    "gitlabMergeRequest",
    merges({ action: "merge", state: "merged" }),
    ofMerge("closed", { pull: { isMerged: true } }),
  ],
  [
    "a merge request from a fork",
    "Merge Request Hook",
    "gitlabMergeRequest",
    merges({ source_project_id: 9999 }),
    ofMerge("opened", { pull: { isFork: true } }),
  ],
  ["a note", "Note Hook", "gitlabMergeRequest", asIs, IGNORED],
];

const GITEA: Row[] = [
  [
    "a push",
    "push",
    "giteaPush",
    asIs,
    { kind: "push", ref: "refs/heads/main", sha: HEAD, before: BEFORE, forced: null },
    true,
  ],
  ["a new branch", "push", "giteaPush", begins, { kind: "push", before: null, changedPaths: null }, true],
  [
    "a deleted branch, as a push",
    "push",
    "giteaPush",
    ends,
    { kind: "deleted", ref: "refs/heads/main", before: BEFORE },
  ],
  ["a deleted branch", "delete", "giteaDelete", asIs, { kind: "deleted", ref: "refs/heads/grease", before: null }],
  [
    "a deleted tag",
    "delete",
    "giteaDelete",
    (body) => Object.assign(body, { ref: "v1", ref_type: "tag" }),
    { kind: "deleted", ref: "refs/tags/v1" },
  ],
  ["a new pull request", "pull_request", "giteaPull", acts("opened"), ofGitea("opened"), true],
  ["a pull request's new head", "pull_request", "giteaPull", acts("synchronized"), ofGitea("new-head"), true],
  ["a reopened pull request", "pull_request", "giteaPull", asIs, ofGitea("reopened"), true],
  ["a pull request's label", "pull_request", "giteaPull", acts("label_updated"), ofGitea("labeled")],
  ["a pull request's milestone", "pull_request", "giteaPull", acts("milestoned"), IGNORED],
  ["a pull request's comment", "pull_request_comment", "giteaPull", acts("reviewed"), IGNORED],
  [
    "a pull request from a fork",
    "pull_request",
    "giteaPull",
    (body) => Object.assign(body.pull_request.head, { repo_id: 94 }),
    ofGitea("reopened", { pull: { isFork: true } }),
  ],
  ["a release", "release", "giteaDelete", acts("published"), IGNORED],
];

const deliveriesOf = (kind: HostKind, rows: Row[]): Delivery[] =>
  rows.map(([what, event, name, change, arrival, builds = false]) => ({
    ...{ title: `${kind}: ${what}`, kind, event, builds, body: bodyWith(name, change) },
    arrival: arrival === IGNORED ? arrival : { repository: REPOSITORIES[kind], ...arrival },
  }));

/** One delivery of each kind that hosts send, titled by their documentation. */
export const DELIVERIES: Delivery[] = [
  ...deliveriesOf("github", GITHUB),
  ...deliveriesOf("gitlab", GITLAB),
  ...deliveriesOf("gitea", GITEA),
];
