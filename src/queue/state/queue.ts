import type { Feature } from "../../protocol/jobs.ts";
import type { Requires } from "../../protocol/pipeline.ts";
import type { JobEntry } from "./facts.ts";
import type { Semaphore } from "./semaphores.ts";

/** A queued job, with the values that decide its place: a higher priority comes first, then the older job. */
export interface QueuedJob {
  id: string;
  priority: number;
  seq: number;
}

/** A semaphore that each job of a lane needs. */
export interface LaneSemaphore {
  key: string;
  limit: number | null;
  /**
   * The holder of the semaphore for the whole lane, which is the build of the lane's jobs. Null if each job holds it
   * for itself.
   */
  holder: string | null;
}

/**
 * Queued jobs with equal requirements, features and semaphores, in queue order. An agent may have any of them or none.
 */
export interface Lane {
  key: string;
  requirementClass: RequirementClass;
  semaphores: readonly LaneSemaphore[];
  /** The features that an agent's program needs for these jobs. */
  features: readonly Feature[];
  jobs: QueuedJob[];
}

/** Lanes with equal requirements. */
interface RequirementClass {
  key: string;
  requires: Requires;
  lanes: Map<string, Lane>;
}

export const byQueueOrder = (one: QueuedJob, other: QueuedJob): number =>
  other.priority - one.priority || one.seq - other.seq;

/** Returns the same text for equal requirements, in whatever form they were written. */
export const requirementKey = ({ platform, ios, android, web, labels, xcode }: Requires): string =>
  [
    platform ?? "",
    ios ? "ios" : "",
    android ? "android" : "",
    web ? "web" : "",
    ...[...(labels ?? [])].sort(),
    // Labels contain no line breaks.
    ...(xcode ? [`\nxcode ${xcode}`] : []),
  ].join(" ");

/** The queued jobs by requirements. A search visits classes of jobs instead of each job. */
export class Queue {
  readonly classes = new Map<string, RequirementClass>();
  readonly #bySemaphore = new Map<string, Set<Lane>>();
  size = 0;

  add(entry: JobEntry, semaphores: readonly Semaphore[]): { lane: Lane; queued: QueuedJob } {
    const lane = this.#laneFor(entry, semaphores);
    const queued = toQueuedJob(entry);
    lane.jobs.splice(rankIn(lane, queued), 0, queued);
    this.size++;
    return { lane, queued };
  }

  remove({ lane, queued }: { lane: Lane; queued: QueuedJob }): void {
    lane.jobs.splice(rankIn(lane, queued), 1);
    this.size--;
    if (lane.jobs.length > 0) return;
    lane.requirementClass.lanes.delete(lane.key);
    if (lane.requirementClass.lanes.size === 0) this.classes.delete(lane.requirementClass.key);
    for (const { key } of lane.semaphores) {
      const lanes = this.#bySemaphore.get(key);
      if (lanes?.delete(lane) && lanes.size === 0) this.#bySemaphore.delete(key);
    }
  }

  /** Returns the lanes whose jobs need this semaphore. */
  lanesIn(semaphore: string): Iterable<Lane> {
    return this.#bySemaphore.get(semaphore) ?? [];
  }

  /** Returns the number of queued jobs before this one. */
  countAhead(entry: JobEntry): number {
    let count = 0;
    const place = toQueuedJob(entry);
    for (const { lanes } of this.classes.values()) for (const lane of lanes.values()) count += rankIn(lane, place);
    return count;
  }

  #laneFor({ job }: JobEntry, needed: readonly Semaphore[]): Lane {
    const { requires, features = [] } = job;
    const classKey = requirementKey(requires);
    const requirementClass = this.classes.get(classKey) ?? { key: classKey, requires, lanes: new Map<string, Lane>() };
    this.classes.set(classKey, requirementClass);
    const semaphores = needed.map((semaphore) => toLaneSemaphore(job.id, semaphore));
    const key = JSON.stringify([
      features,
      ...semaphores.map((semaphore) => [semaphore.key, semaphore.limit, semaphore.holder]),
    ]);
    const existing = requirementClass.lanes.get(key);
    if (existing) return existing;
    const lane: Lane = { key, requirementClass, semaphores, features, jobs: [] };
    requirementClass.lanes.set(key, lane);
    for (const semaphore of semaphores)
      this.#bySemaphore.set(semaphore.key, (this.#bySemaphore.get(semaphore.key) ?? new Set()).add(lane));
    return lane;
  }
}

const toLaneSemaphore = (id: string, { key, limit, holder }: Semaphore): LaneSemaphore => ({
  key,
  limit,
  holder: holder === id || limit === null ? null : holder,
});

const toQueuedJob = ({ build, job }: JobEntry): QueuedJob => ({ id: job.id, priority: build.priority, seq: job.seq });

/** Returns the number of the lane's jobs before this one. */
const rankIn = ({ jobs }: Lane, place: QueuedJob): number => {
  let low = 0;
  let high = jobs.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (byQueueOrder(jobs[middle]!, place) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
};
