import type { GraphJob, JobGraph } from "../../src/pipeline/graph/graph.ts";
import type { BuildFacts, JobFacts } from "../../src/queue/state/facts.ts";
import type { PoolState } from "../../src/queue/state/state.ts";
import type { Call, CheckContext } from "./observations.ts";
import type { SeenBuild } from "./seen-build.ts";
import { isEnded, isLeased } from "./specification.ts";
import type { SimStorage } from "./storage.ts";
import { must } from "./violation.ts";

/* Semaphores, recounted each time from every build. */

const byId = new WeakMap<JobGraph, Map<string, GraphJob>>();

/** Returns a planned job of the file; undefined for the job with which a build begins. */
const graphJobOf = ({ rows }: SimStorage, { id, buildId }: JobFacts): GraphJob | undefined => {
  const graph = rows.graphs.get(buildId)?.graph;
  if (!graph) return undefined;
  const known = byId.get(graph) ?? new Map(graph.jobs.map((job) => [job.id, job]));
  byId.set(graph, known);
  return known.get(id);
};

const isTaken = (state: PoolState, { id, status }: JobFacts, countOffers: boolean): boolean =>
  isLeased(status) || (countOffers && state.offers.has(id));

/** Counts builds that hold a place of the pipeline, one for all jobs of a build, without the place for this job. */
const placesTaken = (state: PoolState, { id, buildId }: JobFacts, countOffers: boolean): Set<string> => {
  const { pipelineId } = state.builds.get(buildId)!;
  const taken = new Set<string>();
  for (const build of state.builds.values())
    if (build.pipelineId === pipelineId && build.holdsPlace) taken.add(build.id);
  for (const job of state.jobs.values())
    if (job.id !== id && state.builds.get(job.buildId)!.pipelineId === pipelineId && isTaken(state, job, countOffers))
      taken.add(job.buildId);
  return taken;
};

/** A stranger's code shares groups only with its own ref. */
const groupOf = ({ repoId, trust, branch }: BuildFacts, { concurrency }: GraphJob): string | null =>
  concurrency && JSON.stringify([repoId, trust ? branch : null, concurrency.group.toLowerCase()]);

/** Reports whether the pipeline, the job's matrix and its group allow one more to run. */
export const findsFreeSemaphores = (
  state: PoolState,
  storage: SimStorage,
  facts: JobFacts,
  countOffers: boolean,
): boolean => {
  const build = state.builds.get(facts.buildId)!;
  const { maxParallel, pipelineId } = build;
  if (maxParallel !== null && pipelineId !== null) {
    const places = placesTaken(state, facts, countOffers);
    if (!places.has(build.id) && places.size >= maxParallel) return false;
  }
  const job = graphJobOf(storage, facts);
  if (!job) return true;
  const group = groupOf(build, job);
  let [inMatrix, inGroup, limit] = [0, 0, job.concurrency?.limit ?? 0];
  for (const other of state.jobs.values()) {
    const otherJob = other.id === facts.id ? undefined : graphJobOf(storage, other);
    if (!otherJob) continue;
    const takes = isTaken(state, other, countOffers) ? 1 : 0;
    if (other.buildId === build.id && otherJob.definition === job.definition) inMatrix += takes;
    if (group === null || groupOf(state.builds.get(other.buildId)!, otherJob) !== group) continue;
    inGroup += takes;
    // A job that waits for others, or has ended, neither holds nor wants a semaphore.
    if (other.status === "queued" || isLeased(other.status)) limit = Math.min(limit, otherJob.concurrency!.limit);
  }
  return (job.maxParallel === null || inMatrix < job.maxParallel) && (group === null || inGroup < limit);
};

/** No semaphore has more leases than the lowest of its limits. A new hint found it free beside all others. */
export const checkSemaphores = (state: PoolState, storage: SimStorage, { offers }: Call): void => {
  for (const [id, { agentId }] of state.offers) {
    const isNew = !offers.some(([known, offer]) => known === id && offer.agentId === agentId);
    must(
      28,
      !isNew || findsFreeSemaphores(state, storage, state.jobs.get(id)!, true),
      "a hint was given without a free semaphore",
    );
  }
  const semaphores = new Map<string, { taken: number; limit: number }>();
  const take = (key: string, limit: number) => {
    const semaphore = semaphores.get(key) ?? { taken: 0, limit };
    semaphores.set(key, { taken: semaphore.taken + 1, limit: Math.min(semaphore.limit, limit) });
  };
  for (const facts of state.jobs.values()) {
    const job = isLeased(facts.status) ? graphJobOf(storage, facts) : undefined;
    if (!job) continue;
    if (job.maxParallel !== null) take(`matrix ${facts.buildId} ${job.definition}`, job.maxParallel);
    const group = groupOf(state.builds.get(facts.buildId)!, job);
    if (group !== null) take(`group ${group}`, job.concurrency!.limit);
  }
  for (const { taken, limit } of semaphores.values())
    must(28, taken <= limit, "more jobs hold a semaphore than its limit");
  const places = new Map<string, number>();
  for (const { holdsPlace, pipelineId } of state.builds.values())
    if (holdsPlace && pipelineId !== null) places.set(pipelineId, (places.get(pipelineId) ?? 0) + 1);
  for (const { holdsPlace, pipelineId, maxParallel } of state.builds.values())
    if (holdsPlace && pipelineId !== null && maxParallel !== null)
      must(12, places.get(pipelineId)! <= maxParallel, "more builds than maxParallel hold a place");
};

/**
 * A build holds its place while one of its jobs is leased. Once one has ended, it holds it until none is ready: its
 * jobs do not lose the place to each other.
 */
export const checkPlace = ({ call }: CheckContext, _state: PoolState, { build, jobs, seen }: SeenBuild): void => {
  if (isEnded(build.status)) return;
  const holds = build.holdsPlace;
  const statuses = jobs.flatMap(({ facts: { status } }) => (status === "queued" || isLeased(status) ? [status] : []));
  const hasLease = statuses.some(isLeased);
  must(36, !holds || statuses.length > 0, "a build without a ready job holds a place");
  must(36, holds || !hasLease, "a job is leased although its build holds no place");
  // A gate may open in the call that ended the last job before it.
  const hasRun =
    build.plannedBy !== undefined || jobs.some(({ facts: { end } }) => end?.startedAt != null && !end.adopted);
  const isClear = statuses.length === 0 || hasLease || call.command === "decideGate" || !hasRun;
  must(36, hasLease || hasRun || !holds, "a build holds a place before any of its jobs has run");
  must(36, isClear || holds === seen.holdsPlace, "a build took or lost its place while its jobs wait for agents");
  seen.holdsPlace = holds;
};
