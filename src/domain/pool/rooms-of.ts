import { refOf } from "../git-ref.ts";
import { roomsOf } from "../jobs/rooms.ts";
import { trustOf } from "./confine.ts";
import type { BuildFacts } from "./facts.ts";
import type { Room } from "./rooms.ts";
import type { PoolState } from "./state.ts";

/** The ref to which the concurrency groups of an untrusted build belong; null for those of the repository. */
export const ownRefOf = (build: Pick<BuildFacts, "trust" | "branch">): string | null =>
  trustOf(build) === "untrusted" ? refOf(build.branch) : null;

/** What a build, or a job, holds while it is leased. The pipeline's room is held by the whole build, not by its jobs. */
export const roomsOfBuild = (state: PoolState, build: BuildFacts): Room[] => {
  const { id, repoId, pipelineId, jobOf } = build;
  const maxParallel = state.jobs.get(id)?.maxParallel ?? null;
  const holder = jobOf ?? id;
  const pipeline = pipelineId === null ? [] : [{ key: `pipeline ${pipelineId}`, limit: maxParallel, holder }];
  const several = jobOf === undefined ? undefined : state.graphs.get(jobOf);
  const node = several?.nodes.get(id);
  const job = node && several?.graph.jobs[node.index];
  return job
    ? [...pipeline, ...roomsOf(job, { id: holder, repoId, pipelineId: null, maxParallel, ownRef: ownRefOf(build) })]
    : pipeline;
};
