import * as z from "zod/mini";
import { type Arrival, ignored, type PullAction } from "./arrival.ts";
import type { Fields } from "./body.ts";
import {
  BranchName,
  factsIn,
  HeadName,
  HostId,
  HostTime,
  LineField,
  Login,
  labelsOf,
  optional,
  RepositoryField,
  Sha,
} from "./fields.ts";

const Label = z.pipe(
  z.object({ name: LineField }),
  z.transform(({ name }) => name),
);

const PullRequest = z.object({
  action: z.string(),
  number: HostId,
  before: optional(Sha),
  repository: RepositoryField,
  sender: optional(Login),
  pull_request: z.object({
    title: LineField,
    state: optional(z.string()),
    draft: optional(z.boolean()),
    merged: optional(z.boolean()),
    user: optional(Login),
    author_association: optional(z.string()),
    updated_at: optional(HostTime),
    labels: labelsOf(Label),
    base: z.object({ ref: BranchName }),
    head: z.object({
      ref: HeadName,
      sha: Sha,
      repo: z.nullish(z.object({ id: z.number() })),
      repo_id: z.nullish(z.number()),
    }),
  }),
});

type Head = z.infer<typeof PullRequest>["pull_request"]["head"];

/**
 * A head is the repository's own only where all that tells of it says so. A fork that was deleted is null. A request
 * that was pushed to Gitea's refs/for/ names the repository itself, though its author may not write there.
 */
const isFork = ({ ref, repo, repo_id }: Head, repositoryId: number): boolean =>
  repo?.id !== repositoryId || (repo_id ?? repositoryId) !== repositoryId || ref.startsWith("refs/");

/** Labels and titles of closed pull requests change too. Where the host tells no state, it is taken for an open one. */
export const isClosed = (state: string | null, open: "open" | "opened"): boolean => state !== null && state !== open;

/** What GitHub calls the authors who may write to the repository, or belong to its organization. */
const MEMBERS: ReadonlySet<string | null> = new Set(["OWNER", "MEMBER", "COLLABORATOR"]);

/** A pull request in the form of GitHub, which Gitea's is like. @param actions What the host's actions mean. */
export const pullRequestArrival = (fields: Fields, actions: ReadonlyMap<string, PullAction>): Arrival => {
  const facts = factsIn(PullRequest, fields);
  if ("kind" in facts) return facts;
  const { number, before, repository, sender, pull_request: told } = facts;
  const { base, head, labels } = told;
  const action = actions.get(facts.action);
  if (action === undefined) return ignored("This change of a pull request makes no build.");
  if (isClosed(told.state, "open") && action !== "closed") return ignored("The pull request is closed.");
  if (head.sha === null) return ignored("The pull request has no commit.");
  const pull = {
    number,
    base: base.ref,
    branch: head.ref,
    isFork: isFork(head, repository.id),
    isByMember: MEMBERS.has(told.author_association) && sender !== null && sender === told.user,
    isDraft: told.draft === true,
    isMerged: told.merged === true,
    labels,
    author: told.user,
    title: told.title,
    updatedAt: told.updated_at,
  };
  const ref = `refs/pull/${number}/head`;
  return { kind: "pull", action, repository, sender, ref, sha: head.sha, before, commit: null, isSkipped: false, pull };
};
