import * as z from "zod/mini";
import { refOf } from "../../domain/git-ref.ts";
import { type Arrival, type CommitSummary, type DeliveryRepository, ignored, type PullAction } from "./arrival.ts";
import type { Fields } from "./body.ts";
import { MERGE_QUEUE } from "./effect-facts.ts";
import {
  BranchName,
  factsIn,
  HeadName,
  HostId,
  HostTime,
  LineField,
  Login,
  labelsField,
  oneLine,
  optional,
  RepositoryField,
  refProblem,
  Sha,
} from "./fields.ts";

const IN_SUBJECT = /\[(?:skip[ -]ci|ci[ -]skip|no ci|skip actions|actions skip)\]/i;
const TRAILER = /^skip-checks:[ \t]*true[ \t]*$/i;
const TRAILER_LINE = /^(?:[A-Za-z0-9-]+:|[ \t])/;

/** Returns the last paragraph if it is a block of trailers (git-interpret-trailers(1)) and not the subject itself. */
const readTrailers = (message: string): string[] => {
  const lines = message.trimEnd().split(/\r?\n/);
  const begin = lines.findLastIndex((line) => line.trim() === "") + 1;
  const block = lines.slice(begin);
  return begin > 0 && block.every((line) => TRAILER_LINE.test(line)) ? block : [];
};

/** Returns the first line of a commit's message. */
export const subjectOf = (message: string): string => /^[^\r\n]*/.exec(message.trimStart())?.[0] ?? "";

/**
 * Reports whether the author of a commit skips the build, with a marker in the subject line or the trailer
 * `skip-checks: true`. Markers elsewhere do not count, because a squash merge quotes the messages of other commits.
 */
export const hasSkipMarker = (message: string): boolean =>
  IN_SUBJECT.test(subjectOf(message)) || readTrailers(message).some((line) => TRAILER.test(line));

const Paths = z.array(z.string());

/** The paths in a commit of a push. Every host sends the same three lists. */
export const CommitPaths = z.object({ added: Paths, removed: Paths, modified: Paths });
export type CommitPaths = z.infer<typeof CommitPaths>;

/** A commit as hosts report it. */
export const CommitFields = z.object({ message: z.string(), author: optional(z.object({ name: LineField })) });
type CommitFields = z.infer<typeof CommitFields>;

/** The common facts of all hosts' pushes. */
interface PushFacts {
  repository: DeliveryRepository;
  sender: string | null;
  ref: string;
  /** The previous head; null for zeros. */
  before: string | null;
  after: string | null;
  forced: boolean | null;
  /** The commit to build. For an annotated tag, `after` is the tag itself. */
  commitSha: string | null;
  head: CommitFields | null;
  /** The commits of the push; null if the host cut the list, or if it was not read. */
  commits: CommitPaths[] | null;
}

/** Returns a commit's facts to show, and whether the commit skips the build. */
export const commitFacts = (head: CommitFields | null): { commit: CommitSummary | null; isSkipped: boolean } => ({
  commit: head && { subject: oneLine(subjectOf(head.message)), author: head.author?.name ?? null },
  isSkipped: head !== null && hasSkipMarker(head.message),
});

const changedPaths = ({ before, forced, commits }: PushFacts): string[] | null => {
  if (!before || forced || !commits?.length) return null;
  const paths = commits.flatMap(({ added, removed, modified }) => [...added, ...removed, ...modified]);
  return [...new Set(paths.map((path) => path.toWellFormed()))];
};

/** Returns a push as a branch or tag that was set or deleted. */
export const pushArrival = (pushed: PushFacts): Arrival => {
  const { repository, sender, ref, before, after, forced } = pushed;
  const problem = refProblem(ref);
  if (problem !== null) return ignored(problem);
  // GitHub creates such a branch for each merge group, which has its own event.
  if (ref.startsWith(refOf(MERGE_QUEUE))) return ignored("The branch belongs to a merge queue.");
  if (after === null) return { kind: "deleted", repository, sender, ref, before };
  const sha = pushed.commitSha ?? after;
  const head = { repository, sender, ref, sha, before, forced, ...commitFacts(pushed.head) };
  return ref.startsWith("refs/tags/")
    ? { kind: "tag", ...head }
    : { kind: "push", ...head, changedPaths: changedPaths(pushed) };
};

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
    labels: labelsField(Label),
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
 * Reports whether a head belongs to a fork. A head belongs to the repository only if every field says so. The
 * repository of a deleted fork is null. A request pushed to Gitea's refs/for/ names the repository itself, although its
 * author may not write there.
 */
const isFork = ({ ref, repo, repo_id }: Head, repositoryId: number): boolean =>
  repo?.id !== repositoryId || (repo_id ?? repositoryId) !== repositoryId || ref.startsWith("refs/");

/**
 * Reports whether a pull request is closed. Labels and titles of closed pull requests change, too. A request without a
 * state counts as open.
 */
export const isClosed = (state: string | null, open: "open" | "opened"): boolean => state !== null && state !== open;

/** GitHub's words for authors who may write to the repository, or belong to its organization. */
const MEMBERS: ReadonlySet<string | null> = new Set(["OWNER", "MEMBER", "COLLABORATOR"]);

/** Reads a pull request in GitHub's form, which Gitea's resembles. @param actions The meaning of the host's actions. */
export const pullRequestArrival = (fields: Fields, actions: ReadonlyMap<string, PullAction>): Arrival => {
  const facts = factsIn(PullRequest, fields);
  if ("kind" in facts) return facts;
  const { number, before, repository, sender, pull_request: told } = facts;
  const { base, head, labels } = told;
  const action = actions.get(facts.action);
  if (action === undefined) return ignored("This pull request event triggers no build.");
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
