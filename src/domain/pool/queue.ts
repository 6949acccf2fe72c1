import type { Requires } from "../../protocol/pipeline.ts";
import type { BuildFacts, JobFacts } from "./facts.ts";

/** A build's place in the queue: higher priority first, then the older one. */
export interface QueuedBuild {
  id: string;
  priority: number;
  seq: number;
}

/** Queued builds of one pipeline that ask for the same, in queue order: who may take one of them may take any. */
export interface Lane {
  requirementClass: RequirementClass;
  pipelineId: string | null;
  maxParallel: number | null;
  builds: QueuedBuild[];
}

/** Lanes that ask for the same. */
export interface RequirementClass {
  key: string;
  requires: Requires;
  lanes: Map<string, Lane>;
}

export const byQueueOrder = (left: QueuedBuild, right: QueuedBuild): number =>
  right.priority - left.priority || left.seq - right.seq;

/** The same text for the same needs, however they were written. */
export const requirementKey = ({ platform, ios, android, web, labels }: Requires): string =>
  [platform ?? "", ios ? "ios" : "", android ? "android" : "", web ? "web" : "", ...[...(labels ?? [])].sort()].join(
    " ",
  );

/** The waiting builds by what they ask for, so that a search looks at kinds of builds, not at each of them. */
export class Queue {
  readonly classes = new Map<string, RequirementClass>();
  readonly #byPipeline = new Map<string, Set<Lane>>();
  size = 0;

  add(build: BuildFacts, job: JobFacts): Lane {
    const lane = this.#laneFor(build, job);
    const place = { id: build.id, priority: build.priority, seq: build.seq };
    lane.builds.splice(rankIn(lane, place), 0, place);
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

  /** The waiting lanes of a pipeline. */
  lanesOf(pipelineId: string): Iterable<Lane> {
    return this.#byPipeline.get(pipelineId) ?? [];
  }

  /** How many queued builds come before this one. */
  countAhead(build: BuildFacts): number {
    let count = 0;
    for (const { lanes } of this.classes.values()) for (const lane of lanes.values()) count += rankIn(lane, build);
    return count;
  }

  #laneFor({ pipelineId }: BuildFacts, { requires, maxParallel }: JobFacts): Lane {
    const key = requirementKey(requires);
    const requirementClass = this.classes.get(key) ?? { key, requires, lanes: new Map<string, Lane>() };
    this.classes.set(key, requirementClass);
    const fresh: Lane = { requirementClass, pipelineId, maxParallel, builds: [] };
    const known = requirementClass.lanes.get(keyOf(fresh));
    if (known) return known;
    requirementClass.lanes.set(keyOf(fresh), fresh);
    if (pipelineId !== null) {
      const lanes = this.#byPipeline.get(pipelineId) ?? new Set();
      this.#byPipeline.set(pipelineId, lanes.add(fresh));
    }
    return fresh;
  }
}

const keyOf = ({ pipelineId, maxParallel }: Pick<Lane, "pipelineId" | "maxParallel">) => `${pipelineId} ${maxParallel}`;

/** How many builds of the lane come before this place. */
const rankIn = ({ builds }: Lane, place: QueuedBuild): number => {
  let low = 0;
  let high = builds.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (byQueueOrder(builds[middle]!, place) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
};
