import type { JobGraph } from "../../pipeline/graph/graph.ts";
import { isEnded } from "../../protocol/build-states.ts";
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
import { parseBuildRow, readAgent } from "./rows.ts";
import { REVOKED } from "./tables.ts";

/** The state after the last committed transaction. Read row by row: all rows at once do not fit into memory. */
export const loadState = (records: Records, rows: ReadableRows, now: number): PoolState => {
  const state = emptyState(records);
  for (const { name, value } of rows.all("SELECT name, value FROM meta")) apply(state, metaToChanges(name!, value!));
  rows.each("agent", "SELECT id, facts FROM agent ORDER BY id", ({ facts }) => {
    apply(state, [{ kind: "agent", agent: readAgent(facts!) }]);
  });
  loadBuilds(state, rows, now);
  loadJobs(state, rows);
  apply(state, [{ kind: "loaded" }]);
  for (const channel of BUILD_CHANNELS)
    if (records.pending(channel) > 0) apply(state, [{ kind: "attempt", channel, at: now, failures: 0 }]);
  return state;
};

const metaToChanges = (name: string, value: string): Change[] => {
  const [, tokenId] = name.split(REVOKED);
  if (tokenId) return [{ kind: "revoked", tokenId, at: Number(value) }];
  switch (name) {
    case "org":
      return [{ kind: "org", orgId: value }];
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

/** What a stored build that is active, or of whose end somebody has to hear, means for the state. All may hear twice. */
const toChanges = ({ build, first }: { build: BuildFacts; first: JobFacts | undefined }, now: number): Change[] => {
  const { id, finishedAt } = build;
  const untold = build.isTold ? [] : [due("lists", id, Math.min(now, finishedAt ?? now))];
  const dueChanges = isHostDue(build) ? [...untold, due("hosts", id, now)] : untold;
  if (isEnded(build.status))
    return [{ kind: "sequence", sequence: build.version }, ...dueChanges, due("logs", id, now)];
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
    if (graph) apply(state, [{ kind: "job", job: asPlanned(parseJobRow(facts!), state.builds.get(buildId!)!, graph) }]);
  });
};

/** A row of an earlier release says nothing of a job that the queue never had but what became of it. */
const asPlanned = (job: JobFacts, build: BuildFacts, graph: JobGraph): JobFacts => {
  const planned = graph.jobs[job.index];
  if (job.maxAttempts > 0 || !planned) return job;
  const { requires, timeoutSeconds, maxAttempts, features, retry } = confined(
    plannedJob(build, planned, job.index, graph),
    build,
  );
  return { ...job, requires, timeoutSeconds, maxAttempts, features, ...(retry && { retry }) };
};
