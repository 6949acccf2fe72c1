import type { Trust } from "../../protocol/build.ts";
import { branchOf, refOf } from "../git-ref.ts";

/** What decides which cache entries a build finds. The pool knows it all: no agent and no step can change it. */
export interface CacheFacts {
  repoId: string;
  pipelineId: string | null;
  /** A branch's own name, or a full ref. */
  branch: string;
  event: string;
  /** The branch that a pull request is for; null where there is none. */
  base: string | null;
  trust: Trust;
}

/** The refs whose entries a build finds, best first, and the one that its own go to. */
interface CacheRefs {
  reads: string[];
  writes: string | null;
}

const NONE: CacheRefs = { reads: [], writes: null };

/** No branch and no tag has such a ref: what an untrusted build leaves, no trusted one finds. */
const untrustedRef = (ref: string): string => ref.replace(/^refs\//, "refs/untrusted/");

/**
 * A build finds the entries of its own branch, of the base of its pull request, and of the default branch; it writes
 * to its own branch alone. A merge queue's branch is there for one build: nothing is written for it.
 */
export const cacheRefs = ({ pipelineId, branch, event, base, trust }: CacheFacts, defaultBranch: string): CacheRefs => {
  if (pipelineId === null) return NONE;
  const own = trust === "trusted" ? refOf(branch) : untrustedRef(refOf(branch));
  const reads = [own, ...(base ? [refOf(base)] : []), refOf(defaultBranch)];
  return { reads: [...new Set(reads)], writes: event === "merge-group" ? null : own };
};

export const shownRef = branchOf;
