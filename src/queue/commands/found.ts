import { type DecisionContext, patchBuild } from "../state/decision.ts";
import type { BuildFacts, Change, HeldJob } from "../state/facts.ts";

/** What an agent found out of a commit: its hash, and that of the commit that changes are counted from. */
interface Found {
  commitSha?: string | undefined;
  base?: string | null | undefined;
}

/** The commit to keep for later attempts and retries. An annotated tag has an id of its own: its commit replaces that. */
export const commitBuilt = ({ branch, commitSha }: BuildFacts, reported: string | undefined): string | null =>
  (branch.startsWith("refs/tags/") ? (reported ?? commitSha) : (commitSha ?? reported)) ?? null;

/** Stores what the agent found, where that is news. The commit of a build is settled once its jobs are planned. */
export const foundChanges = ({ build }: HeldJob, found: Found, context: DecisionContext): Change[] => {
  const commitSha = build.until === null ? commitBuilt(build, found.commitSha) : build.commitSha;
  const base = found.base ?? build.base ?? null;
  const isKnown = commitSha === build.commitSha && base === (build.base ?? null);
  return isKnown ? [] : patchBuild(build, { commitSha, base }, context);
};
