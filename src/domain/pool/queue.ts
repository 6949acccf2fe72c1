import type { Requires } from "../../protocol/pipeline.ts";
import type { BuildFacts, JobFacts } from "./facts.ts";

/** A build's place in the queue: higher priority first, then the older one. */
export interface Place {
  id: string;
  priority: number;
  seq: number;
}

/** Queued builds that ask for the same, in queue order: whoever may take one of them may take any. */
export interface Lane {
  key: string;
  requires: Requires;
  /** Canonical text of `requires`. */
  needs: string;
  pipelineId: string | null;
  maxParallel: number | null;
  places: Place[];
}

export const inOrder = (left: Place, right: Place): number => right.priority - left.priority || left.seq - right.seq;

/** The same text for the same needs, however they were written. */
export const needsOf = ({ platform, ios, android, web, labels }: Requires): string =>
  [platform ?? "", ios ? "ios" : "", android ? "android" : "", web ? "web" : "", ...[...(labels ?? [])].sort()].join(
    " ",
  );

/** The waiting builds by what they ask for, so that a search looks at kinds of builds, not at each of them. */
export class Queue {
  readonly lanes = new Map<string, Lane>();
  size = 0;

  add(build: BuildFacts, job: JobFacts): Lane {
    const needs = needsOf(job.requires);
    const key = `${build.pipelineId}|${job.maxParallel}|${needs}`;
    let lane = this.lanes.get(key);
    if (!lane) {
      const { requires, maxParallel } = job;
      lane = { key, requires, needs, pipelineId: build.pipelineId, maxParallel, places: [] };
      this.lanes.set(key, lane);
    }
    const place = { id: build.id, priority: build.priority, seq: build.seq };
    lane.places.splice(this.#find(lane, place), 0, place);
    this.size++;
    return lane;
  }

  remove(lane: Lane, build: BuildFacts): void {
    lane.places.splice(this.#find(lane, build), 1);
    if (lane.places.length === 0) this.lanes.delete(lane.key);
    this.size--;
  }

  /** How many queued builds come before this one. */
  ahead(build: BuildFacts): number {
    let count = 0;
    for (const lane of this.lanes.values()) count += this.#find(lane, build);
    return count;
  }

  #find({ places }: Lane, place: Place): number {
    let low = 0;
    let high = places.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (inOrder(places[middle]!, place) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
