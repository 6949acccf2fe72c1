import type { Requires } from "../../protocol/pipeline.ts";
import type { BuildFacts, JobFacts } from "./facts.ts";

/** A build in the queue, with what decides its place: the higher priority first, then the older build. */
export interface QueuedBuild {
  id: string;
  priority: number;
  seq: number;
}

/** Queued builds of one pipeline with equal requirements, in queue order: an agent that may take one may take any. */
export interface Lane {
  requirementClass: RequirementClass;
  pipelineId: string | null;
  maxParallel: number | null;
  builds: QueuedBuild[];
}

/** Lanes with equal requirements. */
export interface RequirementClass {
  key: string;
  requires: Requires;
  lanes: Map<string, Lane>;
}

export const byQueueOrder = (left: QueuedBuild, right: QueuedBuild): number =>
  right.priority - left.priority || left.seq - right.seq;

/** The same text for equal requirements, however they were written. */
export const requirementKey = ({ platform, ios, android, web, labels }: Requires): string =>
  [platform ?? "", ios ? "ios" : "", android ? "android" : "", web ? "web" : "", ...[...(labels ?? [])].sort()].join(
    " ",
  );

/** The queued builds by requirements, so that a search visits classes of builds rather than each build. */
export class Queue {
  readonly classes = new Map<string, RequirementClass>();
  readonly #byPipeline = new Map<string, Set<Lane>>();
  size = 0;

  add(build: BuildFacts, job: JobFacts): Lane {
    const lane = this.#laneFor(build, job);
    const queued = { id: build.id, priority: build.priority, seq: build.seq };
    lane.builds.splice(rankIn(lane, queued), 0, queued);
    this.size++;
    return lane;
  }

  remove(lane: Lane, build: BuildFacts): void {
    lane.builds.splice(rankIn(lane, build), 1);
    this.size--;
    if (lane.builds.length > 0) return;
    lane.requirementClass.lanes.delete(keyOf(lane));
    if (lane.requirementClass.lanes.size === 0) this.classes.delete(lane.requirementClass.key);
    if (lane.pipelineId !== null) this.#byPipeline.get(lane.pipelineId)?.delete(lane);
  }

  /** The lanes of a pipeline. */
  lanesOf(pipelineId: string): Iterable<Lane> {
    return this.#byPipeline.get(pipelineId) ?? [];
  }

  /** How many queued builds are before this one. */
  countAhead(build: BuildFacts): number {
    let count = 0;
    for (const { lanes } of this.classes.values()) for (const lane of lanes.values()) count += rankIn(lane, build);
    return count;
  }

  #laneFor({ pipelineId }: BuildFacts, { requires, maxParallel }: JobFacts): Lane {
    const key = requirementKey(requires);
    const requirementClass = this.classes.get(key) ?? { key, requires, lanes: new Map<string, Lane>() };
    this.classes.set(key, requirementClass);
    const laneKey = keyOf({ pipelineId, maxParallel });
    const existing = requirementClass.lanes.get(laneKey);
    if (existing) return existing;
    const lane: Lane = { requirementClass, pipelineId, maxParallel, builds: [] };
    requirementClass.lanes.set(laneKey, lane);
    if (pipelineId !== null) {
      const lanes = this.#byPipeline.get(pipelineId) ?? new Set();
      this.#byPipeline.set(pipelineId, lanes.add(lane));
    }
    return lane;
  }
}

const keyOf = ({ pipelineId, maxParallel }: Pick<Lane, "pipelineId" | "maxParallel">) => `${pipelineId} ${maxParallel}`;

/** How many builds of the lane are before this one. */
const rankIn = ({ builds }: Lane, build: QueuedBuild): number => {
  let low = 0;
  let high = builds.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (byQueueOrder(builds[middle]!, build) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
};
