import type { JobGraph } from "../../pipeline/graph/graph.ts";
import { isEnded } from "../../protocol/build-states.ts";
import { MINUTE_MS } from "../../protocol/units.ts";
import { plannedJob } from "../../queue/commands/plan.ts";
import { apply } from "../../queue/state/apply.ts";
import {
  BUILD_CHANNELS,
  type BuildChannel,
  type BuildFacts,
  type Change,
  type JobFacts,
} from "../../queue/state/facts.ts";
import { isHostDue } from "../../queue/state/host-state.ts";
import { emptyState, type PoolState, type Records } from "../../queue/state/state.ts";
import { confined } from "../../queue/state/trust.ts";
import type { ReadableRows } from "./dead-letters.ts";
import { ACTIVE_JOBS, ACTIVE_PLANS, parseJobRow, parsePlanRow } from "./job-rows.ts";
import { lastFence, parseBuildRow, readAgent } from "./rows.ts";
import { COUNTERS, type Counters, EARLIER_COUNTERS, REVOKED } from "./tables.ts";

interface Loading {
  now: number;
  /** The time when the alarm fires next. */
  alarmAt: number | null;
  /** The number of audit entries in the rows of builds and jobs. */
  rowAudits: number;
}

/** Milliseconds for which audit entries in rows wait at most for the next alarm. This is longer than a lease. */
const ALARM_SOON_MS = 2 * MINUTE_MS;

/**
 * Loads the state after the last committed transaction. Reads row by row, because all rows at once do not fit into
 * memory.
 */
export const loadState = (records: Records, rows: ReadableRows, loading: Loading): PoolState => {
  const { now } = loading;
  const state = emptyState(records);
  const meta = rows.all("SELECT name, value FROM meta");
  const hasCounters = meta.some(({ name }) => name === COUNTERS);
  for (const { name, value } of meta)
    if (!hasCounters || !EARLIER_COUNTERS.includes(name!)) apply(state, metaToChanges(name!, value!));
  rows.each("agent", "SELECT id, facts FROM agent ORDER BY id", ({ facts }) => {
    apply(state, [{ kind: "agent", agent: readAgent(facts!) }]);
  });
  loadBuilds(state, rows, now);
  loadJobs(state, rows);
  apply(state, [{ kind: "loaded" }]);
  for (const channel of BUILD_CHANNELS) {
    const at = attemptAt(state, channel, records.pending(channel), loading);
    if (at !== null) apply(state, [{ kind: "attempt", channel, at, failures: 0 }]);
  }
  return state;
};

/**
 * Returns when to deliver waiting items; null if no item waits. D1 usually has the entries in rows already. A pool that
 * hibernates between heartbeats therefore sends these entries with its next alarm, and sets no alarm for them.
 */
const attemptAt = (
  state: PoolState,
  channel: BuildChannel,
  pending: number,
  { now, alarmAt, rowAudits }: Loading,
): number | null => {
  if (pending === 0) return null;
  if (channel !== "lists" || pending > rowAudits || alarmAt === null || alarmAt > now + ALARM_SOON_MS) return now;
  return Math.min(state.outbox.lists.at ?? alarmAt, Math.max(now, alarmAt));
};

const metaToChanges = (name: string, value: string): Change[] => {
  const [, tokenId] = name.split(REVOKED);
  if (tokenId) return [{ kind: "revoked", tokenId, at: Number(value) }];
  switch (name) {
    case "org":
      return [{ kind: "org", orgId: value }];
    case COUNTERS: {
      const { fence, told } = JSON.parse(value) as Counters;
      return [
        { kind: "fence", fence },
        { kind: "told", sequence: told },
      ];
    }
    case "fence":
      return [{ kind: "fence", fence: Number(value) }];
    case "told":
      return [{ kind: "told", sequence: Number(value) }];
    case "unchecked":
      return [{ kind: "unchecked", sequence: Number(value) }];
    case "day-count":
      return [{ kind: "day-count", count: JSON.parse(value) }];
    case "tell-again":
      return [{ kind: "tell-again", ...JSON.parse(value) }];
    default:
      return [];
  }
};

const loadBuilds = (state: PoolState, rows: ReadableRows, now: number): void => {
  const unheard = "SELECT * FROM build WHERE ended_at IS NULL ORDER BY seq";
  rows.each("build", unheard, ({ facts }) => apply(state, toChanges(parseBuildRow(facts!), now)));
};

export const due = (channel: BuildChannel, buildId: string, at: number): Change => ({
  kind: "due",
  channel,
  buildId,
  at,
});

/** Returns the changes for a stored build that is active or has an unreported end. Receivers may get a report twice. */
const toChanges = ({ build, first }: { build: BuildFacts; first: JobFacts | undefined }, now: number): Change[] => {
  const { id, finishedAt } = build;
  const untold = build.isTold ? [] : [due("lists", id, Math.min(now, finishedAt ?? now))];
  const dueChanges = isHostDue(build) ? [...untold, due("hosts", id, now)] : untold;
  if (isEnded(build.status))
    return [
      { kind: "sequence", sequence: build.version },
      { kind: "granted", fence: lastFence({ build, first }) },
      ...dueChanges,
      due("logs", id, now),
    ];
  const job: Change[] = first ? [{ kind: "job", job: first }] : [];
  return [{ kind: "build", build }, ...job, ...dueChanges];
};

const loadJobs = (state: PoolState, rows: ReadableRows): void => {
  rows.each("plan", ACTIVE_PLANS, ({ build_id: buildId, facts }) => {
    if (state.builds.get(buildId!)?.until == null) return;
    apply(state, [{ kind: "graph", buildId: buildId!, graph: parsePlanRow(facts!).graph, text: "" }]);
  });
  rows.each("build_job", ACTIVE_JOBS, ({ build_id: buildId, facts }) => {
    const graph = state.graphs.get(buildId!);
    const job = parseJobRow(facts!);
    apply(state, [
      { kind: "granted", fence: job.fence },
      ...(graph ? [{ kind: "job", job: asPlanned(job, state.builds.get(buildId!)!, graph) } as const] : []),
    ]);
  });
};

/**
 * Completes a job from its plan. If the queue never had the job, a row of an earlier release has only the job's state.
 */
const asPlanned = (job: JobFacts, build: BuildFacts, graph: JobGraph): JobFacts => {
  const planned = graph.jobs[job.index];
  if (job.maxAttempts > 0 || !planned) return job;
  const { requires, timeoutSeconds, maxAttempts, features, retry } = confined(
    plannedJob(build, planned, job.index, graph),
    build,
  );
  return { ...job, requires, timeoutSeconds, maxAttempts, features, ...(retry && { retry }) };
};
