import { bodyWith, type Changeable } from "../../../deliveries/bodies.ts";
import type { HostedPull, ListedCommit } from "../bare-repository.ts";
import { type NamedRepository, type PullMoment, type Teller, ZEROS } from "./event.ts";

/** GitLab lists this many commits of a push, the newest. */
const LISTED = 20;

const nameProject = (body: Changeable, { id, fullName, defaultBranch }: NamedRepository): void => {
  const name = fullName.split("/").at(-1);
  Object.assign(body, { id, name, path_with_namespace: fullName, default_branch: defaultBranch });
};

const commitOf = ({ id, message, author, timestamp, added, removed, modified }: ListedCommit) => ({
  ...{ id, message, title: message.split("\n")[0], timestamp, author },
  ...{ added, removed, modified },
});

const ACTIONS: Record<PullMoment, (pull: HostedPull) => string> = {
  opened: () => "open",
  "new-head": () => "update",
  closed: ({ isMerged }) => (isMerged ? "merge" : "close"),
};

/** GitLab: a push names its commit in `checkout_sha`, and an update has new commits if it has `oldrev`. */
export const gitlab: Teller = {
  pushed: (repository, { ref, before, after, commit, commits }) => {
    const isTag = ref.startsWith("refs/tags/");
    return [
      {
        name: isTag ? "Tag Push Hook" : "Push Hook",
        body: bodyWith(isTag ? "gitlabTag" : "gitlabPush", (body) => {
          nameProject(body.project, repository);
          Object.assign(body, { ref, before, after, checkout_sha: commit, project_id: repository.id });
          // A new branch has no base from which to list its commits.
          const listed = before === ZEROS && !isTag ? [] : commits;
          body.commits = listed.slice(-LISTED).map(commitOf);
          body.total_commits_count = listed.length;
        }),
      },
    ];
  },
  pull: (repository, pull, moment, before) => [
    {
      name: "Merge Request Hook",
      body: bodyWith("gitlabMergeRequest", (body) => {
        nameProject(body.project, repository);
        const told = body.object_attributes;
        Object.assign(told, { iid: pull.number, title: pull.title, action: ACTIONS[moment](pull) });
        Object.assign(told, { source_branch: pull.branch, target_branch: pull.base });
        Object.assign(told, { source_project_id: pull.from.id, target_project_id: repository.id });
        told.updated_at = pull.updatedAt
          .toISOString()
          .replace("T", " ")
          .replace(/\.\d+Z$/, " UTC");
        if (moment === "new-head") told.oldrev = before;
        told.last_commit = { ...told.last_commit, id: pull.head, message: pull.title, title: pull.title };
        body.labels = [];
        body.changes = {};
      }),
    },
  ],
  ping: () => [],
};
