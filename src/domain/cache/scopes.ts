import type { Trust } from "../../protocol/build.ts";
import { branchOf, refOf } from "../git-ref.ts";

/**
 * The facts that decide which cache entries a build finds. The pool knows all of them, and no agent and no step can
 * change them.
 */
export interface CacheFacts {
  repoId: string;
  pipelineId: string | null;
  /** A branch's own name, or a full ref. */
  branch: string;
  event: string;
  /** The target branch of a pull request; otherwise null. */
  base: string | null;
  trust: Trust;
}

/** The refs whose entries a build finds, best first, and the ref to which the build saves. */
interface CacheRefs {
  reads: string[];
  writes: string | null;
}

const NONE: CacheRefs = { reads: [], writes: null };

/**
 * Returns the cache's ref for an untrusted build. No branch and no tag has such a ref, so no trusted build finds the
 * entries of an untrusted one.
 */
const untrustedRef = (ref: string): string => ref.replace(/^refs\//, "refs/untrusted/");

/**
 * Returns the refs for a build's cache. A build finds the entries of its own branch, of its pull request's base, and of
 * the default branch. It saves to its own branch only. A merge queue's branch exists for one build, so its build saves
 * nothing.
 */
export const cacheRefs = ({ pipelineId, branch, event, base, trust }: CacheFacts, defaultBranch: string): CacheRefs => {
  if (pipelineId === null) return NONE;
  const own = trust === "trusted" ? refOf(branch) : untrustedRef(refOf(branch));
  const reads = [own, ...(base ? [refOf(base)] : []), refOf(defaultBranch)];
  return { reads: [...new Set(reads)], writes: event === "merge-group" ? null : own };
};

export const shownRef = branchOf;
