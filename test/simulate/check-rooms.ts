import type { GraphJob, JobGraph } from "../../src/domain/jobs/graph.ts";
import type { BuildFacts } from "../../src/domain/pool/facts.ts";
import type { PoolState } from "../../src/domain/pool/state.ts";
import type { Call, CheckContext } from "./observations.ts";
import type { SeenBuild } from "./seen-build.ts";
import { isLeased } from "./specification.ts";
import type { SimStorage } from "./storage.ts";
import { must } from "./violation.ts";

/* Rooms, counted anew each time by looking at every build. */

const byId = new WeakMap<JobGraph, Map<string, GraphJob>>();

/** What the file says of a job of a build of several; undefined for a build of one. */
const graphJobOf = ({ rows }: SimStorage, { id, jobOf }: BuildFacts): GraphJob | undefined => {
  const graph = jobOf === undefined ? undefined : rows.graphs.get(jobOf)?.graph;
  if (!graph) return undefined;
  const known = byId.get(graph) ?? new Map(graph.jobs.map((job) => [job.id, job]));
  byId.set(graph, known);
  return known.get(id);
};

const isTaken = (state: PoolState, { id, status }: BuildFacts, countOffers: boolean): boolean =>
  isLeased(status) || (countOffers && state.offers.has(id));

/** Builds that have a place of the pipeline, one for all jobs of a build of several: without what this one takes. */
const placesTaken = (state: PoolState, { id, pipelineId }: BuildFacts, countOffers: boolean): Set<string> => {
  const taken = new Set<string>();
  for (const build of state.builds.values()) {
    if (build.pipelineId !== pipelineId || build.id === id) continue;
    if (build.several ? build.several.holdsPlace : isTaken(state, build, countOffers))
      taken.add(build.jobOf ?? build.id);
  }
  return taken;
};

/** What strangers wrote shares groups with its own ref alone. */
const groupOf = ({ repoId, trust, branch }: BuildFacts, { concurrency }: GraphJob): string | null =>
  concurrency && JSON.stringify([repoId, trust ? branch : null, concurrency.group.toLowerCase()]);

/** Whether the pipeline, the job's matrix and its group let one more run. */
export const hasRoom = (state: PoolState, storage: SimStorage, build: BuildFacts, countOffers: boolean): boolean => {
  const { maxParallel } = state.jobs.get(build.jobOf ?? build.id)!;
  if (maxParallel !== null) {
    const places = placesTaken(state, build, countOffers);
    if (!places.has(build.jobOf ?? build.id) && places.size >= maxParallel) return false;
  }
  const job = graphJobOf(storage, build);
  if (!job) return true;
  const group = groupOf(build, job);
  let [inMatrix, inGroup, limit] = [0, 0, job.concurrency?.limit ?? 0];
  for (const other of state.builds.values()) {
    const otherJob = other.id === build.id ? undefined : graphJobOf(storage, other);
    if (!otherJob) continue;
    const takes = isTaken(state, other, countOffers) ? 1 : 0;
    if (other.jobOf === build.jobOf && otherJob.definition === job.definition) inMatrix += takes;
    if (group === null || groupOf(other, otherJob) !== group) continue;
    inGroup += takes;
    limit = Math.min(limit, otherJob.concurrency!.limit);
  }
  return (job.maxParallel === null || inMatrix < job.maxParallel) && (group === null || inGroup < limit);
};

/** No room has more leases than the least of their limits, and a new hint found room beside all leases and hints. */
export const checkRooms = (state: PoolState, storage: SimStorage, { offers }: Call): void => {
  for (const [id, { agentId }] of state.offers) {
    const isNew = !offers.some(([known, offer]) => known === id && offer.agentId === agentId);
    must(28, !isNew || hasRoom(state, storage, state.builds.get(id)!, true), "a hint was given without room");
  }
  if (storage.rows.graphs.size === 0) return;
  const rooms = new Map<string, { taken: number; limit: number }>();
  const take = (key: string, limit: number) => {
    const room = rooms.get(key) ?? { taken: 0, limit };
    rooms.set(key, { taken: room.taken + 1, limit: Math.min(room.limit, limit) });
  };
  for (const build of state.builds.values()) {
    const job = isLeased(build.status) ? graphJobOf(storage, build) : undefined;
    if (!job) continue;
    if (job.maxParallel !== null) take(`matrix ${build.jobOf} ${job.definition}`, job.maxParallel);
    const group = groupOf(build, job);
    if (group !== null) take(`group ${group}`, job.concurrency!.limit);
  }
  for (const { taken, limit } of rooms.values()) must(28, taken <= limit, "more jobs in a room than its limit");
  for (const build of state.builds.values()) {
    if (!build.several?.holdsPlace) continue;
    const { maxParallel } = state.jobs.get(build.id)!;
    if (maxParallel === null) continue;
    const places = placesTaken(state, build, false).add(build.id);
    must(36, places.size <= maxParallel, "more builds than maxParallel hold a place");
  }
};

/** A build of several holds its place from its first lease until nothing of it is ready or leased. */
export const checkPlace = ({ call }: CheckContext, _state: PoolState, { build, jobs, seen }: SeenBuild): void => {
  const holds = build.several!.holdsPlace;
  const statuses = jobs.flatMap(({ node, queued }) => (node.end || !queued ? [] : [queued.status]));
  const hasLease = statuses.some(isLeased);
  must(36, !holds || statuses.length > 0, "a build of which nothing is ready holds a place");
  must(36, holds || !hasLease, "a job is leased without a place of its build");
  // A gate may open in the call that ended the last job before it.
  const isClear = statuses.length === 0 || hasLease || call.command === "decideGate";
  must(36, isClear || holds === seen.holdsPlace, "a build took or lost its place while its jobs wait for agents");
  seen.holdsPlace = holds;
};
