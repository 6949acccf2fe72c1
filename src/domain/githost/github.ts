import * as z from "zod/mini";
import { type Arrival, ignored, type PullAction } from "./arrival.ts";
import type { Fields } from "./body.ts";
import { factsOf, Login, optional, Repository, Sha } from "./fields.ts";
import { pullRequestArrival } from "./pull-request.ts";
import { CommitPaths, pushArrival, Written } from "./pushed.ts";

/** From here on GitHub may have cut the list. */
const LISTED_COMMITS = 2048;
const LISTED_PATHS = 5000;

const Push = z.object({
  repository: Repository,
  sender: optional(Login),
  ref: z.string(),
  before: Sha,
  after: Sha,
  forced: optional(z.boolean()),
  head_commit: z.nullish(z.extend(Written, { id: Sha })),
  commits: optional(z.array(CommitPaths)),
});

const isWhole = (commits: CommitPaths[]): boolean =>
  commits.length < LISTED_COMMITS &&
  commits.every(({ added, removed, modified }) =>
    [added, removed, modified].every((paths) => paths.length < LISTED_PATHS),
  );

const push = (fields: Fields): Arrival => {
  const facts = factsOf(Push, fields);
  if ("kind" in facts) return facts;
  const { head_commit: head = null, forced, commits } = facts;
  return pushArrival({
    ...facts,
    commitSha: head?.id ?? null,
    head,
    commits: forced === false && commits && isWhole(commits) ? commits : null,
  });
};

const PULL_ACTIONS = new Map<string, PullAction>([
  ["opened", "opened"],
  ["synchronize", "new-head"],
  ["reopened", "reopened"],
  ["closed", "closed"],
  ["edited", "edited"],
  ["converted_to_draft", "edited"],
  ["ready_for_review", "ready"],
  ["labeled", "labeled"],
  ["unlabeled", "labeled"],
]);

const RepositoryChange = z.object({ action: z.string(), repository: Repository, sender: optional(Login) });

const renamed = (fields: Fields): Arrival => {
  const facts = factsOf(RepositoryChange, fields);
  if ("kind" in facts) return facts;
  const { action, repository, sender } = facts;
  if (action !== "renamed" && action !== "transferred") return ignored("This change of a repository makes no build.");
  return { kind: "renamed", repository, sender };
};

/** What a delivery of GitHub says that happened. @param event Its header `X-GitHub-Event`. */
export const githubArrival = (event: string, fields: Fields): Arrival => {
  switch (event) {
    case "push":
      return push(fields);
    case "pull_request":
      return pullRequestArrival(fields, PULL_ACTIONS);
    case "repository":
      return renamed(fields);
    case "ping":
      return { kind: "ping" };
    default:
      return ignored("This event makes no build.");
  }
};
