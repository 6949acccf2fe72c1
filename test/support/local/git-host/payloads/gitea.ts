import { bodyWith, type Changeable } from "../../../deliveries/bodies.ts";
import type { ListedCommit } from "../bare-repository.ts";
import { type HostEvent, type NamedRepository, type PullMoment, type Teller, ZEROS } from "./event.ts";

const ACTIONS: Record<PullMoment, string> = {
  opened: "opened",
  "new-head": "synchronized",
  closed: "closed",
};

const nameRepository = (body: Changeable, { id, fullName, defaultBranch }: NamedRepository): void => {
  const [owner, name] = fullName.split("/");
  Object.assign(body, { id, name, full_name: fullName, default_branch: defaultBranch });
  Object.assign(body.owner, { login: owner, username: owner });
};

const commitOf = ({ id, message, author, timestamp, added, removed, modified }: ListedCommit) => ({
  ...{ id, message, timestamp, added, removed, modified },
  author: { ...author, username: author.name },
  committer: { ...author, username: author.name },
});

/** Gitea sends two events for a new or deleted ref: a push, and `create` or `delete`. */
export const gitea: Teller = {
  pushed: (repository, { ref, before, after, commit, commits }) => {
    const push: HostEvent = {
      name: "push",
      body: bodyWith("giteaPush", (body) => {
        nameRepository(body.repository, repository);
        const listed = commits.map(commitOf);
        Object.assign(body, { ref, before, after, commits: listed, total_commits: listed.length });
        body.head_commit = listed.find(({ id }) => id === commit) ?? null;
      }),
    };
    if (before !== ZEROS && after !== ZEROS) return [push];
    const isTag = ref.startsWith("refs/tags/");
    const other = {
      name: before === ZEROS ? "create" : "delete",
      body: bodyWith("giteaDelete", (body) => {
        nameRepository(body.repository, repository);
        Object.assign(body, { ref: ref.replace(/^refs\/(?:heads|tags)\//, ""), ref_type: isTag ? "tag" : "branch" });
        if (before === ZEROS) body.sha = after;
      }),
    };
    return [other, push];
  },
  pull: (repository, pull, moment) => [
    {
      name: "pull_request",
      body: bodyWith("giteaPull", (body) => {
        nameRepository(body.repository, repository);
        Object.assign(body, { action: ACTIONS[moment], number: pull.number });
        const told = body.pull_request;
        Object.assign(told, { number: pull.number, title: pull.title, merged: pull.isMerged });
        Object.assign(told, { state: pull.isOpen ? "open" : "closed", updated_at: pull.updatedAt.toISOString() });
        Object.assign(told.head, { ref: pull.branch, sha: pull.head, repo_id: pull.from.id });
        Object.assign(told.base, { ref: pull.base, repo_id: repository.id });
        nameRepository(told.head.repo, pull.from);
        nameRepository(told.base.repo, repository);
      }),
    },
  ],
  ping: () => [],
};
