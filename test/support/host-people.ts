import type { HostKind } from "../../src/protocol/connection.ts";
import { bodyWith } from "./deliveries/bodies.ts";
import { hostTime, newPull, newPush, SHA } from "./host-events.ts";

/* People's actions at each host, as deliveries about the repository with the id 1. */

interface Pushed {
  ref: string;
  /** Null for a deletion. */
  sha: string | null;
  /** Null for a new branch or tag. */
  before: string | null;
  sender: string;
}

interface PullEvent {
  did: "opened" | "reopened" | "closed" | "pushed" | "labeled" | "ready";
  number: number;
  branch: string;
  sha: string;
  sender: string;
  author: string;
  draft?: boolean;
  labels?: string[];
  /** Only for GitHub: the fork of the pull request, and GitHub's word for its author. */
  forkOf?: number;
  association?: string;
  /** The order of the events. */
  second: number;
}

/** An event of a host, and the delivery's body. */
export type Told = [event: string, body: object];

interface HostOfPeople {
  push(pushed: Pushed): Told;
  pull(event: PullEvent): Told;
}

const ZEROS = SHA("0");
const idOf = (login: string): number => [...login].reduce((sum, letter) => sum * 31 + letter.charCodeAt(0), 7) % 1e9;

const GITHUB = { opened: "opened", reopened: "reopened", closed: "closed", pushed: "synchronize" };
const github: HostOfPeople = {
  push: ({ sha, before, ...facts }) => ["push", newPush(sha, { ...facts, before: before ?? ZEROS })],
  pull: ({ did, sha, second, ...facts }) => {
    const action = { ...GITHUB, labeled: "labeled", ready: "ready_for_review" }[did];
    const state = did === "closed" ? "closed" : "open";
    return ["pull_request", newPull(action, sha, { ...facts, state, updatedAt: hostTime(second) })];
  },
};

const gitea: HostOfPeople = {
  push: ({ ref, sha, before, sender }) => [
    "push",
    bodyWith("giteaPush", (body) => {
      const head = { ...body.head_commit, id: sha };
      const commits = sha === null ? [] : [head];
      Object.assign(body, {
        ref,
        before: before ?? ZEROS,
        after: sha ?? ZEROS,
        commits,
        total_commits: commits.length,
      });
      Object.assign(body, { head_commit: commits[0] ?? null, sender: { login: sender } });
      Object.assign(body.repository, { id: 1, full_name: "acme/app-1" });
    }),
  ],
  pull: ({ did, number, branch, sha, sender, author, draft = false, labels = [], second }) => [
    "pull_request",
    bodyWith("giteaPull", (body) => {
      const action = { ...GITHUB, pushed: "synchronized", labeled: "label_updated", ready: "edited" }[did];
      const repository = { ...body.repository, id: 1, full_name: "acme/app-1" };
      Object.assign(body, { action, number, repository, sender: { login: sender } });
      Object.assign(body.pull_request, { number, draft, user: { login: author }, updated_at: hostTime(second) });
      Object.assign(body.pull_request, { state: did === "closed" ? "closed" : "open" });
      body.pull_request.labels = labels.map((name) => ({ name }));
      Object.assign(body.pull_request.head, { ref: branch, sha, repo_id: 1, repo: repository });
    }),
  ],
};

const gitlab: HostOfPeople = {
  push: ({ ref, sha, before, sender }) => [
    ref.startsWith("refs/tags/") ? "Tag Push Hook" : "Push Hook",
    bodyWith("gitlabPush", (body) => {
      Object.assign(body, { ref, before: before ?? ZEROS, after: sha ?? ZEROS, checkout_sha: sha });
      Object.assign(body.project, { id: 1, path_with_namespace: "acme/app-1" });
      body.user_username = sender;
      body.commits = sha === null ? [] : [{ ...body.commits[0], id: sha }];
      body.total_commits_count = body.commits.length;
    }),
  ],
  pull: ({ did, number, branch, sha, sender, author, draft = false, labels = [], second }) => [
    "Merge Request Hook",
    bodyWith("gitlabMergeRequest", (body) => {
      const action = { opened: "open", reopened: "reopen", closed: "close", pushed: "update" }[did as "opened"];
      Object.assign(body.project, { id: 1, path_with_namespace: "acme/app-1" });
      body.user = { id: idOf(sender), username: sender };
      body.labels = labels.map((title) => ({ title }));
      if (did === "labeled") body.changes = { labels: {} };
      if (did === "ready") body.changes = { draft: { current: false } };
      Object.assign(body.object_attributes, {
        ...{ action: action ?? "update", iid: number, state: did === "closed" ? "closed" : "opened", draft },
        ...{ author_id: idOf(author), source_branch: branch, source_project_id: 1, updated_at: hostTime(second) },
        oldrev: did === "pushed" ? SHA("9") : null,
      });
      body.object_attributes.last_commit.id = sha;
    }),
  ],
};

export const HOSTS_OF_PEOPLE: Record<HostKind, HostOfPeople> = { github, gitlab, gitea };
