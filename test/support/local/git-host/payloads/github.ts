import { bodyWith, type Changeable } from "../../../deliveries/bodies.ts";
import type { ListedCommit } from "../bare-repository.ts";
import { type NamedRepository, type PullMoment, type Teller, ZEROS } from "./event.ts";

const ACTIONS: Record<PullMoment, string> = {
  opened: "opened",
  "new-head": "synchronize",
  closed: "closed",
};

const nameRepository = (body: Changeable, { id, fullName, defaultBranch }: NamedRepository): void => {
  const [owner, name] = fullName.split("/");
  Object.assign(body, { id, name, full_name: fullName, default_branch: defaultBranch });
  body.owner.login = owner;
};

const commitOf = ({ id, message, author, timestamp, added, removed, modified }: ListedCommit) => ({
  id,
  tree_id: id,
  distinct: true,
  message,
  timestamp,
  author: { ...author, username: author.name },
  committer: { ...author, username: author.name },
  ...{ added, removed, modified },
});

/** GitHub: for an annotated tag, `after` is the tag's object, and `head_commit` the commit. */
export const github: Teller = {
  pushed: (repository, { ref, before, after, commit, isForced, commits }) => [
    {
      name: "push",
      body: bodyWith("githubPush", (body) => {
        nameRepository(body.repository, repository);
        const listed = commits.map(commitOf);
        Object.assign(body, {
          ref,
          before,
          after,
          forced: isForced,
          created: before === ZEROS,
          deleted: after === ZEROS,
        });
        body.head_commit = commit === null ? null : listed.find(({ id }) => id === commit);
        body.commits = ref.startsWith("refs/tags/") ? [] : listed;
      }),
    },
  ],
  pull: (repository, pull, moment, before) => [
    {
      name: "pull_request",
      body: bodyWith("githubPull", (body) => {
        nameRepository(body.repository, repository);
        Object.assign(body, { action: ACTIONS[moment], number: pull.number });
        if (moment === "new-head") Object.assign(body, { before, after: pull.head });
        const told = body.pull_request;
        Object.assign(told, { number: pull.number, title: pull.title, merged: pull.isMerged, labels: [] });
        Object.assign(told, { state: pull.isOpen ? "open" : "closed", updated_at: pull.updatedAt.toISOString() });
        Object.assign(told.head, { ref: pull.branch, sha: pull.head });
        Object.assign(told.base, { ref: pull.base });
        nameRepository(told.head.repo, pull.from);
        nameRepository(told.base.repo, repository);
      }),
    },
  ],
  ping: (repository) => [
    {
      name: "ping",
      body: {
        zen: "Design for failure.",
        hook_id: 1,
        repository: { id: repository.id, full_name: repository.fullName },
      },
    },
  ],
};
