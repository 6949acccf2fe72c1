import type { Feature } from "../../protocol/jobs.ts";
import type { Requires } from "../../protocol/pipeline.ts";
import type { BuildFacts, JobFacts } from "./facts.ts";
import type { Room } from "./rooms.ts";

/** A build in the queue, with what decides its place: the higher priority first, then the older build. */
export interface QueuedBuild {
  id: string;
  priority: number;
  seq: number;
}

/** A room that each build of a lane needs. */
export interface LaneRoom {
  key: string;
  limit: number | null;
  /** Who holds it for all of the lane: the build of several that they are jobs of. Null: each build for itself. */
  holder: string | null;
}

/** Queued builds with equal requirements that need the same rooms, in queue order: an agent that may take one may take any. */
export interface Lane {
  key: string;
  requirementClass: RequirementClass;
  rooms: readonly LaneRoom[];
  /** Jobs of builds of several, which not every agent can run. */
  isOfJobs: boolean;
  /** What else an agent's program must be able to do for them. */
  features: readonly Feature[];
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
export const requirementKey = ({ platform, ios, android, web, labels, xcode }: Requires): string =>
  [
    ...[platform ?? "", ios ? "ios" : "", android ? "android" : "", web ? "web" : "", ...[...(labels ?? [])].sort()],
    // No label has a line break.
    ...(xcode ? [`\nxcode ${xcode}`] : []),
  ].join(" ");

/** The queued builds by requirements, so that a search visits classes of builds rather than each build. */
export class Queue {
  readonly classes = new Map<string, RequirementClass>();
  readonly #byRoom = new Map<string, Set<Lane>>();
  /** Queued builds and jobs, and how many of them are jobs of builds of several. */
  size = 0;
  jobs = 0;

  add(build: BuildFacts, job: JobFacts, rooms: readonly Room[]): Lane {
    const lane = this.#laneFor(build, job, rooms);
    const queued = { id: build.id, priority: build.priority, seq: build.seq };
    lane.builds.splice(rankIn(lane, queued), 0, queued);
    this.size++;
    if (lane.isOfJobs) this.jobs++;
    return lane;
  }

  remove(lane: Lane, build: BuildFacts): void {
    lane.builds.splice(rankIn(lane, build), 1);
    this.size--;
    if (lane.isOfJobs) this.jobs--;
    if (lane.builds.length > 0) return;
    lane.requirementClass.lanes.delete(lane.key);
    if (lane.requirementClass.lanes.size === 0) this.classes.delete(lane.requirementClass.key);
    for (const { key } of lane.rooms) {
      const lanes = this.#byRoom.get(key);
      if (lanes?.delete(lane) && lanes.size === 0) this.#byRoom.delete(key);
    }
  }

  /** The lanes whose builds need this room. */
  lanesIn(room: string): Iterable<Lane> {
    return this.#byRoom.get(room) ?? [];
  }

  /** How many queued builds are before this one. */
  countAhead(build: BuildFacts): number {
    let count = 0;
    for (const { lanes } of this.classes.values()) for (const lane of lanes.values()) count += rankIn(lane, build);
    return count;
  }

  #laneFor(build: BuildFacts, { requires, features = [] }: JobFacts, needed: readonly Room[]): Lane {
    const classKey = requirementKey(requires);
    const requirementClass = this.classes.get(classKey) ?? { key: classKey, requires, lanes: new Map<string, Lane>() };
    this.classes.set(classKey, requirementClass);
    const rooms = needed.map((room) => laneRoomOf(build, room));
    const isOfJobs = build.jobOf !== undefined;
    const key = JSON.stringify([isOfJobs, features, ...rooms.map((room) => [room.key, room.limit, room.holder])]);
    const existing = requirementClass.lanes.get(key);
    if (existing) return existing;
    const lane: Lane = { key, requirementClass, rooms, isOfJobs, features, builds: [] };
    requirementClass.lanes.set(key, lane);
    for (const room of rooms) this.#byRoom.set(room.key, (this.#byRoom.get(room.key) ?? new Set()).add(lane));
    return lane;
  }
}

const laneRoomOf = ({ id }: BuildFacts, { key, limit, holder }: Room): LaneRoom => ({
  key,
  limit,
  holder: holder === id || limit === null ? null : holder,
});

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
