import * as z from "zod/mini";
import { refOf } from "../../domain/git-ref.ts";
import { type Arrival, type CommitSummary, type DeliveryRepository, ignored } from "./arrival.ts";
import { LineField, oneLine, optional, refProblem } from "./fields.ts";
import { hasSkipMarker, subjectOf } from "./skip-marker.ts";
import { MERGE_QUEUE } from "./superseding.ts";

const Paths = z.array(z.string());

/** The paths that a commit of a push names: the same three lists at every host. */
export const CommitPaths = z.object({ added: Paths, removed: Paths, modified: Paths });
export type CommitPaths = z.infer<typeof CommitPaths>;

/** A commit as hosts tell it. */
export const Written = z.object({ message: z.string(), author: optional(z.object({ name: LineField })) });
type Written = z.infer<typeof Written>;

/** What the hosts' pushes have in common. */
interface Pushed {
  repository: DeliveryRepository;
  sender: string | null;
  ref: string;
  /** Null for zeros. */
  before: string | null;
  after: string | null;
  forced: boolean | null;
  /** The commit to build: of an annotated tag, `after` is the tag itself. */
  commitSha: string | null;
  head: Written | null;
  /** Null where the list of commits is cut, or was not read. */
  commits: CommitPaths[] | null;
}

/** What is shown of a commit, and whether it asks for no build. */
export const commitFacts = (head: Written | null): { commit: CommitSummary | null; isSkipped: boolean } => ({
  commit: head && { subject: oneLine(subjectOf(head.message)), author: head.author?.name ?? null },
  isSkipped: head !== null && hasSkipMarker(head.message),
});

const changedPaths = ({ before, forced, commits }: Pushed): string[] | null => {
  if (!before || forced || !commits?.length) return null;
  const paths = commits.flatMap(({ added, removed, modified }) => [...added, ...removed, ...modified]);
  return [...new Set(paths.map((path) => path.toWellFormed()))];
};

/** A push as a branch or tag that was set, or is gone. */
export const pushArrival = (pushed: Pushed): Arrival => {
  const { repository, sender, ref, before, after, forced } = pushed;
  const problem = refProblem(ref);
  if (problem !== null) return ignored(problem);
  // GitHub makes such a branch for each merge group, which has an event of its own.
  if (ref.startsWith(refOf(MERGE_QUEUE))) return ignored("The branch belongs to a merge queue.");
  if (after === null) return { kind: "deleted", repository, sender, ref, before };
  const sha = pushed.commitSha ?? after;
  const head = { repository, sender, ref, sha, before, forced, ...commitFacts(pushed.head) };
  return ref.startsWith("refs/tags/")
    ? { kind: "tag", ...head }
    : { kind: "push", ...head, changedPaths: changedPaths(pushed) };
};
