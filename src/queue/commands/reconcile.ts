import type { BuildPart } from "../../protocol/build.ts";
import { isEnded } from "../../protocol/build-states.ts";
import type { AgentFacts } from "../state/agent-facts.ts";
import {
  type Decision,
  type DecisionContext,
  decided,
  findLeasedEntry,
  isInQueue,
  later,
  patchBuild,
} from "../state/decision.ts";
import type { BuildFacts, Change, Deletion, JobFacts, Outcome } from "../state/facts.ts";
import { jobsOf, type PoolState } from "../state/state.ts";
import { voidUnapproved } from "./gates.ts";
import { endJob, loseLease } from "./lease.ts";
import { deleteAgain, type HeardSequence, type Reconciled } from "./sequence.ts";

/** A build as D1 has it. */
export interface StoredBuild
  extends BuildPart<"request" | "facts">,
    Pick<BuildFacts, "origin" | "message" | "queuedAt" | "startedAt" | "finishedAt" | "version"> {
  agentId: string | null;
  attempt: number;
}

/** D1's facts that a restored pool may have forgotten. */
export interface Stored {
  /** D1's sequences; null if the pool read only some builds. */
  heard: HeardSequence | null;
  /** Builds that are active in D1, and builds that the pool requested from D1. */
  builds: StoredBuild[];
  numbers: { repoId: string; number: number }[];
  removedAgents: string[];
  revoked: string[];
  /** The deletions that people made. */
  deleted: Pick<Deletion, "buildId" | "deleted">[];
}

const LOST = { status: "failed", exitCode: null, reason: "agent-lost" } as const;
const FORGOTTEN = { status: "canceled", exitCode: null, reason: "agent-lost" } as const;
const LOST_MESSAGE = "The service was restored to a time before this build: retry it.";

/** Returns deletions that a restored pool forgot, for builds that it knows again. These builds may be active again. */
const forgottenDeletions = (state: PoolState, database: Stored, context: DecisionContext): Change[] =>
  database.deleted.flatMap(({ buildId, deleted }): Change[] => {
    const { now } = context;
    const row = database.builds.find(({ id }) => id === buildId);
    const activeBuild = state.builds.get(buildId);
    const endedBuild = state.records.ended(buildId) ?? row;
    const finishedAt = activeBuild || endedBuild ? (endedBuild?.finishedAt ?? now) : null;
    if (!finishedAt || state.records.deletion(buildId) || (activeBuild && deleted === "log")) return [];
    const lostEnd = { ...LOST, message: LOST_MESSAGE, finishedAt: now };
    const ending = activeBuild
      ? [...endJobs(state, activeBuild, LOST, context), ...patchBuild(activeBuild, lostEnd, context)]
      : [];
    return [...ending, { kind: "deleted", deletion: { buildId, deleted, finishedAt, at: later(state, now) } }];
  });

/** Adopts facts that D1 has and the pool lacks, after a restore of the pool or for builds that are active in D1. */
export const reconcile = (state: PoolState, database: Stored, context: DecisionContext): Decision<Reconciled> => {
  const counts: Reconciled = { ended: 0, lost: 0, told: 0, agentsRemoved: 0 };
  const deletedBuilds = new Set(
    database.deleted.filter((one) => one.deleted === "build").map(({ buildId }) => buildId),
  );
  const builds = database.builds.filter(({ id }) => !deletedBuilds.has(id));
  const changes = builds.flatMap((build) => reconcileBuild(state, build, counts, context));
  for (const { repoId, number } of database.numbers) {
    if (number > state.records.lastNumber(repoId)) changes.push({ kind: "number", repoId, number });
  }
  const changedBuilds = new Map(
    changes.flatMap((change) => (change.kind === "build" ? [[change.build.id, change.build]] : [])),
  );
  for (const agentId of database.removedAgents) {
    const agent = state.agents.get(agentId);
    if (agent) changes.push(...removeAgain(state, agent, changedBuilds, context));
    if (agent) counts.agentsRemoved++;
  }
  for (const tokenId of database.revoked) {
    if (!state.revoked.has(tokenId)) changes.push({ kind: "revoked", tokenId, at: context.now });
  }
  if (database.heard) {
    const { sequence, complete } = database.heard;
    const { now } = context;
    changes.push({ kind: "told", sequence: complete }, { kind: "compared" });
    changes.push(...voidUnapproved(state, new Set(changedBuilds.keys()), context));
    // D1 may also have been restored, and the pool may have forgotten that it was resending everything.
    const at = Math.max(sequence + 1, later(state, now));
    changes.push({ kind: "tell-again", after: 0, at }, ...forgottenDeletions(state, database, context));
    changes.push(...deleteAgain(state, state.records.rememberedDeletions(), context));
    changes.push({ kind: "attempt", channel: "lists", at: now, failures: 0 });
  }
  return decided(counts, changes);
};

const reconcileBuild = (state: PoolState, row: StoredBuild, counts: Reconciled, context: DecisionContext): Change[] => {
  const { id } = row;
  const build = state.builds.get(id);
  if (build) {
    if (!isEnded(row.status)) return row.version > build.version ? tellNewer(build, row, context) : [];
    counts.ended++;
    return endAsStored(state, build, row, context);
  }
  const endedBuild = state.records.ended(id);
  if (endedBuild && isEnded(row.status)) {
    const isLater = state.outbox.lists.due.has(id) && row.version > (state.unchecked ?? row.version);
    return isLater && !context.rules.isSameResult(endedBuild, row) ? endAsStored(state, endedBuild, row, context) : [];
  }
  if (endedBuild) {
    counts.told++;
    return [{ kind: "untold", buildId: id, at: context.now }];
  }
  const deletion = state.records.deletion(id);
  if (deletion?.deleted === "build") return deleteAgain(state, [deletion], context);
  if (isEnded(row.status)) return [];
  counts.lost++;
  return endLost(state, row, counts.lost, context);
};

/** Creates a version above D1's version, which the pool forgot. */
const tellNewer = (build: BuildFacts, { version }: StoredBuild, context: DecisionContext): Change[] =>
  patchBuild({ ...build, version }, {}, context);

/**
 * Ends the build as it ended before the restore. The pool has forgotten how its planned jobs ended, so jobs without an
 * end now end now. D1 does not know the fence; the agent's id and result have to suffice. D1 and the archive already
 * know the end. The pool knows less, and does not report the end to them.
 */
const endAsStored = (state: PoolState, build: BuildFacts, row: StoredBuild, context: DecisionContext): Change[] => {
  const { agentId, attempt, ...fields } = row;
  const { status, exitCode, reason } = fields;
  const { now, rules } = context;
  const ownFields = { origin: build.origin ?? null, seq: build.seq, holdsPlace: false, isTold: true };
  const endedBuild: BuildFacts = { ...build, ...fields, ...ownFields };
  const result = isEnded(status) ? { status, exitCode, reason } : FORGOTTEN;
  const first = state.jobs.get(build.id) ?? state.records.endedJob(build.id)?.job;
  const end = first && { ...forgottenEnd(context), ...result, message: endedBuild.message ?? null, agentId, attempt };
  const asStored: Change[] = first
    ? [{ kind: "job", job: { ...first, status: result.status, lease: null, fence: 0, agentId, attempt, result, end } }]
    : [];
  return [
    ...endJobs(state, build, FORGOTTEN, context),
    { kind: "build", build: endedBuild },
    ...asStored,
    ...(first?.fence ? [{ kind: "close" as const, jobId: first.id, fence: first.fence, at: now, endedAt: now }] : []),
    { kind: "due", channel: "logs", buildId: build.id, at: now },
    ...rules.hostOutbox(endedBuild, now),
    { kind: "delivered", channel: "lists", buildId: build.id, known: {} },
  ];
};

const forgottenEnd = ({ now }: DecisionContext) => ({
  cause: null,
  startedAt: null,
  agentId: null,
  attempt: 0,
  fence: 0,
  message: LOST_MESSAGE,
  finishedAt: now,
});

/** Ends a build's jobs that have not ended, and their leases. */
const endJobs = (state: PoolState, { id }: BuildFacts, outcome: Outcome, context: DecisionContext): Change[] =>
  jobsOf(state, id).flatMap((job): Change[] => {
    if (job.end) return [];
    if (isInQueue(job)) return endJob({ job }, outcome, LOST_MESSAGE, context);
    return [{ kind: "job", job: { ...job, status: outcome.status, end: { ...forgottenEnd(context), ...outcome } } }];
  });

/** Ends a build whose row in D1 is its only remains. Its values and its lease are lost, so it can only end. */
const endLost = (state: PoolState, row: StoredBuild, nth: number, context: DecisionContext): Change[] => {
  const { agentId, attempt, createdBy = null, ...fields } = row;
  const nothing = { requires: {}, maxParallel: null, maxAttempts: attempt, inputBytes: 0 };
  const build: BuildFacts = {
    ...fields,
    ...nothing,
    createdBy,
    pipelineVersion: null,
    seq: state.seq + nth,
    until: null,
    holdsPlace: false,
    cancel: null,
  };
  const job: JobFacts = {
    id: row.id,
    buildId: row.id,
    index: 0,
    seq: build.seq,
    status: "queued",
    queuedAt: row.queuedAt,
    startedAt: row.startedAt,
    requires: {},
    timeoutSeconds: 0,
    maxAttempts: attempt,
    attempt,
    unstarted: 0,
    releasedBy: [],
    notBefore: 0,
    lease: null,
    fence: 0,
    agentId,
    result: null,
  };
  const lostEnd = { ...LOST, message: LOST_MESSAGE, finishedAt: context.now };
  return [...patchBuild(build, lostEnd, context), ...endJob({ job }, LOST, LOST_MESSAGE, context)];
};

/** Removes an agent without an audit entry, because the audit already has the removal. */
const removeAgain = (
  state: PoolState,
  { id }: AgentFacts,
  changedBuilds: ReadonlyMap<string, BuildFacts>,
  context: DecisionContext,
): Change[] => {
  const entry = findLeasedEntry(state, id);
  const build = entry && changedBuilds.get(entry.build.id);
  const leaseChanges =
    entry && !(build && isEnded(build.status)) ? loseLease(entry, undefined, "removed", context) : [];
  return [...leaseChanges, { kind: "agent-removed", agentId: id }];
};
