import type { Stored } from "../../src/queue/commands/reconcile.ts";
import type { AgentFacts } from "../../src/queue/state/agent-facts.ts";
import type { BuildFacts, Change, JobFacts, JobLease, Outcome } from "../../src/queue/state/facts.ts";
import type { PoolState } from "../../src/queue/state/state.ts";
import { checkDecisions } from "./check-gates.ts";
import { checkPlanned, checkQueuedJob } from "./check-plans.ts";
import { canRun, firstEligible, isPlanned } from "./check-state.ts";
import { checkTries } from "./check-tries.ts";
import { BUILD_TRANSITIONS } from "./job-specification.ts";
import { type CheckContext, newBuild, type ObservedJob } from "./observations.ts";
import {
  AGENT_MS,
  EPHEMERAL_AWAY_MS,
  FORGET_TOLERANCE,
  isEnded,
  MAX_UNSTARTED,
  ONLINE_MS,
  START_MS,
  TRANSITIONS,
  UNRESPONSIVE_MS,
} from "./specification.ts";
import { must } from "./violation.ts";

/** Checks changes before they are stored: `state` and storage are still the old ones. */
export const checkCommit = (context: CheckContext, state: PoolState, changes: readonly Change[]): void => {
  const builds = new Map<string, BuildFacts>();
  const jobs = new Map<string, JobFacts>();
  checkPlanned(context, changes);
  checkTries(context, changes);
  checkDecisions(context, changes);
  for (const change of changes) {
    if (change.kind === "due")
      must(39, isBuild(context, changes, change.buildId), "D1 gets a job as if it were a build");
    if (change.kind === "audit") context.call.audits.push(`${change.entry.action} ${change.entry.subject}`);
    if (change.kind === "build") builds.set(change.build.id, change.build);
    if (change.kind === "build" && isEnded(change.build.status)) context.call.ended.add(change.build.id);
    if (change.kind === "job") jobs.set(change.job.id, change.job);
    if (change.kind === "agent-removed") checkAgentRemoved(context, state, change.agentId);
  }
  for (const id of builds.keys()) context.call.touched.add(id);
  for (const { buildId } of jobs.values()) context.call.touched.add(buildId);
  for (const [id, build] of builds) checkBuildChange(context, id, build, changes);
  for (const [id, job] of jobs) checkJobChange(context, state, id, job);
};

const isBuild = ({ storage }: CheckContext, changes: readonly Change[], id: string): boolean =>
  storage.rows.builds.has(id) || changes.some((change) => change.kind === "build" && change.build.id === id);

/** Allowed: by a person, with its token, after the single build of an ephemeral agent, or after months of silence. */
const checkAgentRemoved = (context: CheckContext, state: PoolState, id: string): void => {
  const { command, input, now } = context.call;
  const seen = context.observed.agents.get(id)!;
  const isRequested =
    (command === "reconcile" && input.removedAgents.includes(id)) ||
    (command === "removeAgent" && input.agentId === id) ||
    (command === "removeAgentsOf" && input.tokenId === seen.tokenId);
  const isSpent = state.agents.get(id)!.spentAt !== null;
  seen.isRemoved = true;
  if (isRequested || isSpent) return;
  must(15, !state.index.holding.has(id), "an agent with a build was forgotten");
  must(15, !state.waiters.has(id), "a waiting agent was forgotten");
  const period = state.agents.get(id)!.isEphemeral ? EPHEMERAL_AWAY_MS : AGENT_MS * FORGET_TOLERANCE;
  must(15, now - seen.seenAt >= period, "an agent was forgotten soon after its last contact");
};

const checkBuildChange = (context: CheckContext, id: string, next: BuildFacts, changes: readonly Change[]): void => {
  const before = context.storage.rows.builds.get(id);
  if (isTakenOver(context, next, before)) {
    checkReconciled(context, next, before);
    return;
  }
  const isTold = changes.some((one) => one.kind === "due" && one.channel === "lists" && one.buildId === id);
  must(16, (before && !isEnded(next.status)) || isTold, "a change for D1 is not in the outbox");
  if (!before) {
    checkNewBuild(context, id, next);
    return;
  }
  must(16, next.version > before.version, "the version did not grow");
  const besides = { version: 0, leak: true, isTold: undefined };
  if (isEnded(before.status))
    must(
      4,
      JSON.stringify({ ...before, ...besides }) === JSON.stringify({ ...next, ...besides }),
      "an ended build changed",
    );
  if (before.status === next.status) return;
  must(4, (BUILD_TRANSITIONS[before.status] ?? []).includes(next.status), `${before.status} became ${next.status}`);
};

const isDeleted = ({ deleted }: Stored, id: string): boolean =>
  deleted.some((deletion) => deletion.buildId === id && deletion.deleted === "build");

/**
 * Reports whether a restored pool ends the build because D1 says so. One whose agent is removed again ends as at any
 * removal.
 */
const isTakenOver = ({ call }: CheckContext, next: BuildFacts, before: BuildFacts | undefined): boolean => {
  if (call.command !== "reconcile" || !isEnded(next.status)) return false;
  const stored = (call.input as Stored).builds.find(({ id }) => id === next.id);
  return !before || (!!stored && isEnded(stored.status)) || isDeleted(call.input, next.id);
};

/** A restored pool may only end a build: as D1 says, or because only its row is left. */
const checkReconciled = ({ call, observed }: CheckContext, next: BuildFacts, before: BuildFacts | undefined): void => {
  if (isDeleted(call.input, next.id)) return;
  const stored = (call.input as Stored).builds.find(({ id }) => id === next.id);
  must(16, stored !== undefined, "a restore ended a build that D1 does not know");
  const isAsStored = isEnded(stored.status) && stored.status === next.status && stored.version === next.version;
  const isLost = !before && !isEnded(stored.status) && next.reason === "agent-lost" && next.version > stored.version;
  must(16, isAsStored || isLost, `D1 says ${stored.status}, and the restored pool ${next.status}`);
  observed.builds.set(next.id, { ...(observed.builds.get(next.id) ?? newBuild()), hasEnded: true });
  const seen = observed.jobs.get(next.id) ?? newJob(next.id);
  const reported = { status: stored.status, exitCode: stored.exitCode, reason: stored.reason } as Outcome;
  observed.jobs.set(next.id, {
    ...seen,
    starts: stored.attempt,
    ...(isAsStored ? { reported, reportedUnder: null } : {}),
  });
};

const newJob = (buildId: string): ObservedJob => ({
  starts: 0,
  unstarted: 0,
  failedTries: 0,
  lastTry: null,
  promisedUntil: 0,
  unaskedExtensions: 0,
  unfetchedReleases: 0,
  isCanceled: false,
  toldToStop: null,
  reported: null,
  reportedUnder: null,
  buildId,
  wasQueued: false,
});

const checkNewBuild = (context: CheckContext, id: string, build: BuildFacts): void => {
  const isAsked = context.call.command === "enqueue" || context.call.command === "arrive";
  must(7, isAsked && build.status === "queued", "a build appeared without being enqueued");
  const last = context.observed.numbers.get(build.repoId) ?? 0;
  must(7, build.number === last + 1, `build number ${build.number} follows ${last}`);
  context.observed.numbers.set(build.repoId, build.number);
  if (!context.observed.builds.has(id)) context.observed.builds.set(id, newBuild());
  // A trigger that is repeated long after a restore forgot it is another build.
  context.observed.ended.delete(id);
};

const checkJobChange = (context: CheckContext, state: PoolState, id: string, next: JobFacts): void => {
  const before = context.storage.rows.jobs.get(id);
  const { jobs } = context.observed;
  const isOver = isOfRestore(context, next);
  if (!jobs.has(id)) jobs.set(id, newJob(next.buildId));
  if (next.status === "queued" && !jobs.get(id)!.wasQueued) {
    if (isPlanned(next)) checkQueuedJob(context, next);
    jobs.get(id)!.wasQueued = true;
  }
  if (!before) return;
  if (!isOver) checkStatus(context, id, before, next);
  if (next.passedOver?.until && next.passedOver.until !== before.passedOver?.until)
    checkPassedOver(context, state, next);
  if (!before.lease && next.lease) checkGrant(context, state, id, next, next.lease);
  if (before.lease && !next.lease && !isOver) checkLeaseEnd(context, state, id, next, before.lease);
  if (before.lease && next.lease) {
    must(1, before.lease.fence === next.lease.fence, "a lease changed its fence");
    must(5, next.lease.expiresAt >= before.lease.expiresAt, "a lease's deadline moved closer");
    const { command, input } = context.call;
    const isRequestedByAgent = (command === "start" || command === "heartbeat") && input.agentId === next.lease.agentId;
    const seen = context.observed.jobs.get(id)!;
    if (isRequestedByAgent) seen.unaskedExtensions = 0;
    else if (next.lease.expiresAt > Math.max(before.lease.expiresAt, seen.promisedUntil))
      checkGrace(context, next.lease.agentId, seen);
    must(5, seen.unaskedExtensions <= 1, "a lease was extended twice without a call of its agent");
    if (before.lease.startedAt === null && next.lease.startedAt !== null) checkFirstStart(context, id, next);
  }
  const seen = context.observed.jobs.get(id)!;
  if (isOver) return;
  must(6, next.attempt === seen.starts, "a build's attempt differs from its number of starts");
  must(6, next.attempt <= next.maxAttempts + seen.failedTries, "more starts than attempts");
  must(
    6,
    next.unstarted === seen.unstarted && seen.unstarted <= MAX_UNSTARTED,
    "the count of unstarted leases is wrong or too high",
  );
};

/** A job moves only along its transitions, and ends canceled once somebody canceled it. */
const checkStatus = (context: CheckContext, id: string, before: JobFacts, next: JobFacts): void => {
  if (before.end)
    must(
      4,
      JSON.stringify({ ...before, leak: true, artifacts: [] }) ===
        JSON.stringify({ ...next, leak: true, artifacts: [] }),
      "an ended job changed",
    );
  if (before.status === next.status) return;
  must(4, (TRANSITIONS[before.status] ?? []).includes(next.status), `${before.status} became ${next.status}`);
  const seen = context.observed.jobs.get(id)!;
  const isLost = next.end?.reason === "agent-lost" && context.call.input?.reason !== "agent-lost";
  if (isLost && before.status === "running")
    must(6, seen.starts - seen.failedTries >= before.maxAttempts, "a job failed with an attempt left");
  if (seen.isCanceled)
    must(10, next.status === "canceled" || next.status === "canceling", `a canceled job became ${next.status}`);
};

/** Reports whether a restored pool ends the job with its build, because D1 says so. */
const isOfRestore = (context: CheckContext, { buildId, end }: JobFacts): boolean => {
  const build = context.storage.rows.builds.get(buildId);
  const stored =
    context.call.command === "reconcile" && (context.call.input as Stored).builds.find(({ id }) => id === buildId);
  if (context.call.command !== "reconcile" || !end) return false;
  return !build || (!!stored && isEnded(stored.status)) || isDeleted(context.call.input, buildId);
};

/** Without a call of its agent a lease is extended once: after an outage, or when the pool wakes without its socket. */
const checkGrace = ({ call: { command, input } }: CheckContext, agentId: string, seen: ObservedJob): void => {
  seen.unaskedExtensions++;
  if (command === "wake") must(5, !input.found.has(agentId), "a lease was extended although its socket is open");
};

/** A build may wait for another agent only if one that can run it is online. */
const checkPassedOver = (context: CheckContext, state: PoolState, job: JobFacts): void => {
  const { now } = context.call;
  const others = [...state.agents.values()].filter(({ id }) => id !== job.passedOver!.agentId);
  const isOnline = ({ id }: AgentFacts) => state.waiters.has(id) || now - lastContact(state, id) < ONLINE_MS;
  must(
    12,
    others.some((agent) => isOnline(agent) && !agent.isDraining && canRun(agent, job)),
    "the build waits for another agent, but none is online",
  );
};

const lastContact = (state: PoolState, id: string): number =>
  Math.max(state.agents.get(id)!.heardAt, state.lastContacts.get(id) ?? 0);

const checkGrant = (context: CheckContext, state: PoolState, id: string, job: JobFacts, lease: JobLease): void => {
  const { command, input, now } = context.call;
  must(4, !context.observed.ended.has(job.buildId), "a build that ended before the restore was leased");
  must(2, lease.fence > context.maxFence, `fence ${lease.fence} follows ${context.maxFence}`);
  context.maxFence = lease.fence;
  context.observed.leases.add(`${id} ${lease.fence}`);
  context.observed.jobs.get(id)!.unaskedExtensions = 0;
  must(12, command === "claim" && lease.agentId === input.agentId, "a lease was granted without a poll of its agent");
  must(5, lease.expiresAt >= now + START_MS, "the new lease is too short");
  const agent = context.observed.agents.get(lease.agentId);
  must(15, !!agent && !agent.isRemoved, "a lease was granted to a removed agent");
  const facts = state.agents.get(lease.agentId)!;
  const isRestart = !!input.bootId && !agent.boots.includes(input.bootId);
  must(12, !facts.isDraining, "a lease was granted to a draining agent");
  must(
    12,
    isRestart || agent.ignored < 2 || now >= agent.ignoredAt + UNRESPONSIVE_MS,
    "an agent got a third build after it left two unstarted",
  );
  must(1, !state.index.holding.has(lease.agentId), "an agent got a second lease");
  must(10, !context.observed.jobs.get(id)!.isCanceled, "a canceled build was leased");
  must(12, job.notBefore <= now, "a build was leased before its notBefore");
  const first = firstEligible(state, context.storage, facts, now)?.id;
  if (isPlanned(job)) must(29, first === id, "the leased job is not the first ready job");
  else must(12, first === id, "the leased build is not the first eligible build");
};

const checkFirstStart = (context: CheckContext, id: string, job: JobFacts): void => {
  const { command, input } = context.call;
  must(
    3,
    command === "start" && input.jobId === id && input.agentId === job.agentId,
    "a build started without a call of its agent",
  );
  context.observed.jobs.get(id)!.starts++;
};

const checkLeaseEnd = (context: CheckContext, state: PoolState, id: string, next: JobFacts, lease: JobLease): void => {
  const { command, input, now } = context.call;
  const seen = context.observed.jobs.get(id)!;
  const namesLease = input?.jobId === id && input.fence === lease.fence;
  const isHolder = input?.agentId === lease.agentId;
  const isExpired = now >= seen.promisedUntil;
  const isRestart =
    isHolder && !!input.bootId && !context.observed.agents.get(lease.agentId)!.boots.includes(input.bootId);
  // The build's timeout may cancel a job in the same call.
  const isCanceled = seen.isCanceled || context.storage.rows.jobs.get(id)!.status === "canceling";
  const isIdleAgain = isHolder && command === "claim" && lease.startedAt === null && isCanceled;
  const byAgent = namesLease && isHolder && ["finish", "release", "plan", "refusePlan"].includes(command);
  const byService = namesLease && (command === "unclaim" || command === "failClaim") && lease.startedAt === null;
  const isOfRevokedToken = input?.tokenId === context.observed.agents.get(lease.agentId)?.tokenId;
  const isReconciled = command === "reconcile" && input.removedAgents.includes(lease.agentId);
  const isRemoval =
    isReconciled || (command === "removeAgent" && isHolder) || (command === "removeAgentsOf" && isOfRevokedToken);
  must(
    5,
    isExpired || isRestart || isIdleAgain || byAgent || byService || isRemoval,
    `a lease ended early at ${command}`,
  );
  // An overdue lease ends before its release is read.
  const isRelease = byAgent && command === "release" && state.jobs.get(id)!.lease!.expiresAt > now;
  const isForAnother = isRelease && !input.interrupted && seen.lastTry?.fence !== lease.fence;
  if (isForAnother && next.status === "queued" && lease.startedAt !== null) seen.starts--;
  if (lease.startedAt === null && next.unstarted !== state.jobs.get(id)!.unstarted) {
    must(6, !byService || isExpired, "a withdrawn hand-out was counted as unstarted");
    seen.unstarted++;
  } else if (lease.startedAt === null && next.status === "queued")
    must(6, byService || isRelease, "an unstarted lease was not counted");
  const hasOtherCause = byAgent || byService || isIdleAgain || isRestart || isRemoval || isCanceled;
  const agent = context.observed.agents.get(lease.agentId);
  if (lease.startedAt !== null || !isExpired || hasOtherCause || !agent) return;
  agent.ignored++;
  agent.ignoredAt = now;
};
