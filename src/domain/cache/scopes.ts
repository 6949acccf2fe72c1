import { branchOf, refOf } from "../git-ref.ts";

/** What a build is of, as the pool knows it: no agent and no step has a word in it. */
export interface CacheFacts {
  repoId: string;
  pipelineId: string | null;
  /** A branch's own name, or a full ref. */
  branch: string;
  event: string;
  /** The branch that a pull request is for; null where there is none. */
  base: string | null;
}

/** The refs whose entries a build finds, best first, and the one that its own go to. */
export interface CacheRefs {
  reads: string[];
  writes: string | null;
}

const NONE: CacheRefs = { reads: [], writes: null };

/**
 * A build finds the entries of its own branch, of the base of its pull request, and of the default branch; it writes
 * to its own branch alone. A merge queue's branch is there for one build: nothing is written for it.
 */
export const cacheRefs = ({ pipelineId, branch, event, base }: CacheFacts, defaultBranch: string): CacheRefs => {
  if (pipelineId === null) return NONE;
  const own = refOf(branch);
  const reads = [own, ...(base ? [refOf(base)] : []), refOf(defaultBranch)];
  return { reads: [...new Set(reads)], writes: event === "merge-group" ? null : own };
};

export const shownRef = branchOf;
