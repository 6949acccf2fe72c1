import { type BuildQuery, type Listed, matches } from "../../domain/build-filter.ts";
import { refOf } from "../../domain/git-ref.ts";
import type { BuildFacts } from "../state/facts.ts";
import type { PoolState } from "../state/state.ts";
import { agentOf } from "./record.ts";

/** Which builds a page of a list asks the pool for. */
export interface LiveQuery extends BuildQuery {
  /** At most so many that match: the newest. */
  limit: number;
  /** And these, matching or not: builds of the page that D1 does not know as ended. */
  ids: string[];
}

const listed = (state: PoolState, build: BuildFacts): Listed => ({
  ...build,
  ref: refOf(build.branch),
  event: build.origin?.event ?? "api",
  author: build.origin?.commit?.author ?? null,
  pull: build.origin?.pull?.number ?? null,
  agentId: agentOf(build, state.jobs.get(build.id) ?? state.records.endedJob(build.id)?.job),
});

/** Ids of the builds that have not ended, or that D1 does not know as ended: all that a list would miss or show late. */
const untoldIds = (state: PoolState): Set<string> =>
  new Set([...state.builds.keys(), ...state.outbox.lists.due.keys()]);

export const liveIds = (state: PoolState, { limit, ids, ...query }: LiveQuery): string[] => {
  const found: string[] = [];
  for (const id of untoldIds(state)) {
    const known = state.builds.get(id) ?? state.records.ended(id);
    if (known && matches(listed(state, known), query)) found.push(id);
  }
  const newest = found.sort().reverse().slice(0, limit);
  return [...new Set([...newest, ...ids])];
};
