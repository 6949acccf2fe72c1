import * as z from "zod/mini";
import { type Arrival, ignored, type PullAction } from "../core/arrival.ts";
import type { Fields } from "../core/body.ts";
import { CommitFields, CommitPaths, pullRequestArrival, pushArrival } from "../core/common-events.ts";
import { factsIn, Login, optional, RepositoryField, refProblem, Sha } from "../core/fields.ts";

const Head = z.extend(CommitFields, { id: Sha });

const Push = z.object({
  repository: RepositoryField,
  sender: optional(Login),
  ref: z.string(),
  before: Sha,
  after: Sha,
  total_commits: optional(z.int()),
  head_commit: optional(Head),
  commits: optional(z.array(z.extend(Head, CommitPaths.shape))),
});

const push = (fields: Fields): Arrival => {
  const facts = factsIn(Push, fields);
  if ("kind" in facts) return facts;
  const { after, commits, total_commits, head_commit } = facts;
  const head = head_commit ?? commits?.find(({ id }) => id === after) ?? null;
  const isWhole = commits?.length === total_commits;
  return pushArrival({
    ...facts,
    forced: null,
    commitSha: head?.id ?? null,
    head,
    commits: isWhole ? commits : null,
  });
};

const Deletion = z.object({
  repository: RepositoryField,
  sender: optional(Login),
  ref: z.string(),
  ref_type: z.enum(["branch", "tag"]),
});

const deleted = (fields: Fields): Arrival => {
  const facts = factsIn(Deletion, fields);
  if ("kind" in facts) return facts;
  const { repository, sender, ref_type } = facts;
  const place = ref_type === "tag" ? "refs/tags/" : "refs/heads/";
  const ref = facts.ref.startsWith(place) ? facts.ref : place + facts.ref;
  const problem = refProblem(ref);
  return problem === null ? { kind: "deleted", repository, sender, ref, before: null } : ignored(problem);
};

const PULL_ACTIONS = new Map<string, PullAction>([
  ["opened", "opened"],
  ["synchronized", "new-head"],
  ["reopened", "reopened"],
  ["closed", "closed"],
  ["edited", "edited"],
  ["label_updated", "labeled"],
  ["label_cleared", "labeled"],
]);

/**
 * Returns the event in a delivery from Gitea or Forgejo. A new branch or tag also arrives as a push.
 * @param event The delivery's header `X-Gitea-Event`.
 */
export const giteaArrival = (event: string, fields: Fields): Arrival => {
  switch (event) {
    case "push":
      return push(fields);
    case "delete":
      return deleted(fields);
    case "pull_request":
      return pullRequestArrival(fields, PULL_ACTIONS);
    default:
      return ignored("This event triggers no build.");
  }
};
