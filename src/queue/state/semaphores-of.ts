import { refOf } from "../../domain/git-ref.ts";
import type { BuildFacts, HeldJob } from "./facts.ts";
import { plannedSemaphores, type Semaphore } from "./semaphores.ts";
import type { PoolState } from "./state.ts";
import { trustOf } from "./trust.ts";

/** The ref to which the concurrency groups of an untrusted build belong; null for those of the repository. */
export const groupRef = (build: Pick<BuildFacts, "trust" | "branch">): string | null =>
  trustOf(build) === "untrusted" ? refOf(build.branch) : null;

/** The semaphore that a build holds while it counts for its pipeline's limit: its jobs hold it together. */
export const semaphoresOfBuild = ({ id, pipelineId, maxParallel }: BuildFacts): Semaphore[] =>
  pipelineId === null ? [] : [{ key: `pipeline ${pipelineId}`, limit: maxParallel, holder: id }];

/** What a job holds while it is leased: the semaphore of its build, that of its matrix, and that of its group. */
export const semaphoresOfJob = ({ graphs }: PoolState, { build, job }: HeldJob): Semaphore[] => {
  const { id, repoId, maxParallel } = build;
  const planned = graphs.get(id)?.jobs[job.index];
  const own =
    planned && plannedSemaphores(planned, { id, repoId, pipelineId: null, maxParallel, ownRef: groupRef(build) });
  return [...semaphoresOfBuild(build), ...(own ?? [])];
};
