import { type BuildQuery, matches, type QueriedBuild } from "../../domain/build-list.ts";
import { refOf } from "../../domain/git-ref.ts";
import type { AgentRun } from "../../protocol/agent.ts";
import { type Phase, phaseOf } from "../../protocol/build-states.ts";
import type { PoolNow } from "../../protocol/metrics.ts";
import { includesRole, type Role } from "../../protocol/token.ts";
import { gatesThatAsk } from "../commands/gates.ts";
import { findEntry } from "../state/decision.ts";
import { BUILD_CHANNELS, type BuildFacts, type JobFacts } from "../state/facts.ts";
import type { PoolState } from "../state/state.ts";
import { APPROVER, awaitsApproval } from "../state/trust.ts";
import { latestAgent } from "./record.ts";

const COUNTED_AS: Record<Phase, "waiting" | "running" | null> = { queued: "waiting", leased: "running", ended: null };

/** Counts active builds, each build once. Reads neither agents nor the queue. */
export const countNow = (state: PoolState, role: Role): PoolNow => {
  const now: PoolNow = { running: 0, waiting: 0, forRole: 0 };
  for (const build of state.builds.values()) {
    const approvers: Role[] = gatesThatAsk(state, build.id).map(({ by }) => by);
    if (awaitsApproval(build)) approvers.push(APPROVER);
    const isForRole = approvers.some((by) => includesRole(role, by));
    const counter = isForRole ? "forRole" : COUNTED_AS[phaseOf(build.status)];
    if (counter) now[counter]++;
  }
  return now;
};

/** The builds that a page of a list requests from the pool. */
export interface LiveQuery extends BuildQuery {
  /** The maximum number of builds that may match, the newest first. */
  limit: number;
  /** Builds to include even if they do not match, because D1 does not show these builds of the page as ended. */
  ids: string[];
}

const listed = (state: PoolState, build: BuildFacts): QueriedBuild => ({
  ...build,
  ref: refOf(build.branch),
  event: build.origin?.event ?? "api",
  author: build.origin?.commit?.author ?? null,
  pull: build.origin?.pull?.number ?? null,
  agentId: latestAgent(build, state.jobs.get(build.id) ?? state.records.endedJob(build.id)?.job),
});

/**
 * Returns the ids of builds that are active, or that D1 does not show as ended. D1's list would miss them or show them
 * late.
 */
const listedIds = (state: PoolState): Set<string> =>
  new Set([...state.builds.keys(), ...state.outbox.lists.due.keys()]);

export const liveIds = (state: PoolState, { limit, ids, ...query }: LiveQuery): string[] => {
  const matchingIds: string[] = [];
  for (const id of listedIds(state)) {
    const build = state.builds.get(id) ?? state.records.ended(id);
    if (build && matches(listed(state, build), query)) matchingIds.push(id);
  }
  const newest = matchingIds.sort().reverse().slice(0, limit);
  return [...new Set([...newest, ...ids])];
};

/** Identifies a job and its build. A first job has the id of its build. */
const toIds = ({ graphs }: PoolState, { id, buildId, index }: JobFacts) => ({
  buildId,
  jobId: id === buildId ? null : id,
  jobKey: graphs.get(buildId)?.jobs[index]?.key ?? null,
});

/** Returns the jobs that these agents run now. */
export const runsUnderWay = (state: PoolState, agentIds: readonly string[]): AgentRun[] =>
  agentIds.flatMap((agentId): AgentRun[] => {
    const entry = findEntry(state, state.index.holding.get(agentId) ?? "");
    const startedAt = entry?.job.lease?.startedAt;
    if (!entry || typeof startedAt !== "number") return [];
    const { build, job } = entry;
    const { number, pipelineId } = build;
    const status = job.status as AgentRun["status"];
    return [{ agentId, ...toIds(state, job), number, pipelineId, status, startedAt, finishedAt: null }];
  });

/** Returns these agents' jobs that ended after `since` in active builds. */
export const runsOfActiveBuilds = (state: PoolState, agentIds: readonly string[], since: number): AgentRun[] => {
  const wantedAgents = new Set<string | null>(agentIds);
  return [...state.jobs.values()].flatMap((job): AgentRun[] => {
    const { end } = job;
    const build = state.builds.get(job.buildId);
    if (!build || !end?.agentId || end.startedAt === null || end.adopted) return [];
    const { agentId, status, startedAt, finishedAt } = end;
    if (finishedAt <= since || !wantedAgents.has(agentId)) return [];
    const { number, pipelineId } = build;
    return [{ agentId, ...toIds(state, job), number, pipelineId, status, startedAt, finishedAt }];
  });
};

/**
 * Returns ended builds that some channel has not delivered yet. The columns of the builds' rows do not show which
 * builds these are.
 */
export const endedUndelivered = ({ outbox, builds }: PoolState): string[] => {
  const due = new Set(BUILD_CHANNELS.flatMap((channel) => [...outbox[channel].due.keys()]));
  return [...due].filter((id) => !builds.has(id));
};
