import type { AgentFacts, BuildFacts, Change, JobFacts, Lease } from "../../src/domain/pool/facts.ts";
import type { PoolState } from "../../src/domain/pool/state.ts";
import { firstEligible, meetsRequirements } from "./check-state.ts";
import type { Checker } from "./checker.ts";
import {
  AGENT_MS,
  FORGET_TOLERANCE,
  isOver,
  MAX_UNSTARTED,
  ONLINE_MS,
  START_MS,
  TRANSITIONS,
  UNRESPONSIVE_MS,
} from "./specification.ts";
import { must } from "./violation.ts";

/** Judges what is about to be stored; `state` and disk are still as before it. */
export const checkCommit = (checker: Checker, state: PoolState, changes: readonly Change[]): void => {
  const builds = new Map<string, BuildFacts>();
  const jobs = new Map<string, JobFacts>();
  const audits: string[] = [];
  for (const change of changes) {
    if (change.kind === "audit") audits.push(`${change.entry.action} ${change.entry.subject}`);
    if (change.kind === "build") builds.set(change.build.id, change.build);
    if (change.kind === "job") jobs.set(change.job.buildId, change.job);
    if (change.kind === "agent-removed") checkAgentRemoved(checker, state, change.agentId);
  }
  checker.call.audits.push(...audits);
  for (const [id, build] of builds) checkBuildChange(checker, id, build, changes, audits);
  for (const [id, job] of jobs) checkJobChange(checker, state, id, job, builds.get(id));
};

/** By a person, by its token's end, when its one build is over, or after months of silence; never while it is there. */
const checkAgentRemoved = (checker: Checker, state: PoolState, id: string): void => {
  const { command, input, now } = checker.call;
  const seen = checker.observed.agents.get(id)!;
  const isOrdered =
    (command === "removeAgent" && input.agentId === id) ||
    (command === "removeAgentsOf" && input.tokenId === seen.tokenId);
  const isSpent = state.agents.get(id)!.spentAt !== null;
  seen.isRemoved = true;
  if (isOrdered || isSpent) return;
  must(15, !state.index.holding.has(id), "an agent was forgotten that has a build");
  must(15, !state.waiting.has(id), "an agent was forgotten that waits for builds");
  must(15, now - seen.seenAt >= AGENT_MS * FORGET_TOLERANCE, "an agent was forgotten that was heard of");
};

const checkBuildChange = (
  checker: Checker,
  id: string,
  next: BuildFacts,
  changes: readonly Change[],
  audits: string[],
): void => {
  const before = checker.storage.rows.builds.get(id);
  must(
    16,
    changes.some((change) => change.kind === "dirty" && change.buildId === id),
    "a change left the outbox empty",
  );
  if (!before) {
    checkNewBuild(checker, id, next);
    return;
  }
  must(16, next.version > before.version, "a version did not grow");
  if (isOver(before.status))
    must(
      4,
      JSON.stringify({ ...before, version: 0, leak: true }) === JSON.stringify({ ...next, version: 0, leak: true }),
      "an ended build changed",
    );
  if (before.status === next.status) return;
  must(4, (TRANSITIONS[before.status] ?? []).includes(next.status), `${before.status} became ${next.status}`);
  if (isOver(next.status)) must(16, audits.includes(`build.finish ${id}`), "an end without audit");
  const seen = checker.observed.builds.get(id)!;
  if (seen.isCanceled)
    must(10, next.status === "canceled" || next.status === "canceling", `a canceled build became ${next.status}`);
};

const checkNewBuild = (checker: Checker, id: string, build: BuildFacts): void => {
  must(7, checker.call.command === "enqueue" && build.status === "queued", "a build from nowhere");
  const last = checker.observed.numbers.get(build.repoId) ?? 0;
  must(7, build.number === last + 1, `number ${build.number} after ${last}`);
  checker.observed.numbers.set(build.repoId, build.number);
  checker.observed.builds.set(id, {
    starts: 0,
    unstarted: 0,
    promisedUntil: 0,
    unaskedExtensions: 0,
    givenElsewhere: 0,
    isCanceled: false,
    reported: null,
  });
};

const checkJobChange = (
  checker: Checker,
  state: PoolState,
  id: string,
  next: JobFacts,
  build: BuildFacts | undefined,
): void => {
  const before = checker.storage.rows.jobs.get(id);
  if (!before) return;
  if (next.passedOver?.until && next.passedOver.until !== before.passedOver?.until)
    checkPassedOver(checker, state, next);
  if (!before.lease && next.lease) checkGrant(checker, state, id, next, next.lease);
  if (before.lease && !next.lease) checkLeaseEnd(checker, id, before, next, before.lease, build);
  if (before.lease && next.lease) {
    must(1, before.lease.fence === next.lease.fence, "a lease changed its fence");
    must(5, next.lease.expiresAt >= before.lease.expiresAt, "a deadline moved closer");
    const { command, input } = checker.call;
    const isHeard = (command === "start" || command === "heartbeat") && input.agentId === next.lease.agentId;
    const seen = checker.observed.builds.get(id)!;
    if (isHeard) seen.unaskedExtensions = 0;
    else if (next.lease.expiresAt > before.lease.expiresAt) seen.unaskedExtensions++;
    must(5, seen.unaskedExtensions <= 1, "a lease was extended again for nothing");
    if (before.lease.startedAt === null && next.lease.startedAt !== null) checkFirstStart(checker, id, next);
  }
  const seen = checker.observed.builds.get(id)!;
  must(6, next.attempt === seen.starts, `attempt ${next.attempt} after ${seen.starts} starts`);
  must(6, next.attempt <= next.maxAttempts, "more starts than attempts");
  must(
    6,
    next.unstarted === seen.unstarted && seen.unstarted <= MAX_UNSTARTED,
    `${next.unstarted} for ${seen.unstarted} unstarted leases`,
  );
};

/** An agent is passed over only for another one that suits, and that is there. */
const checkPassedOver = (checker: Checker, state: PoolState, { passedOver, ...job }: JobFacts): void => {
  const { now } = checker.call;
  const others = [...state.agents.values()].filter(({ id }) => id !== passedOver!.agentId);
  const isThere = ({ id }: AgentFacts) => state.waiting.has(id) || now - lastContact(state, id) < ONLINE_MS;
  must(
    12,
    others.some((agent) => isThere(agent) && !agent.isDraining && meetsRequirements(agent, job)),
    "passed over for nobody",
  );
};

const lastContact = (state: PoolState, id: string): number =>
  Math.max(state.agents.get(id)!.heardAt, state.heard.get(id) ?? 0);

const checkGrant = (checker: Checker, state: PoolState, id: string, job: JobFacts, lease: Lease): void => {
  const { command, input, now } = checker.call;
  must(2, lease.fence > checker.maxFence, `fence ${lease.fence} after ${checker.maxFence}`);
  checker.maxFence = lease.fence;
  checker.observed.builds.get(id)!.unaskedExtensions = 0;
  must(12, command === "claim" && lease.agentId === input.agentId, "a grant nobody asked for");
  must(5, lease.expiresAt >= now + START_MS, "a lease shorter than promised");
  const agent = checker.observed.agents.get(lease.agentId);
  must(15, !!agent && !agent.isRemoved, "a grant to an agent that is gone");
  const facts = state.agents.get(lease.agentId)!;
  const isFresh = !!input.bootId && !agent.boots.includes(input.bootId);
  must(12, !facts.isDraining, "a grant to a draining agent");
  must(
    12,
    isFresh || agent.ignored < 2 || now >= agent.ignoredAt + UNRESPONSIVE_MS,
    "a third offer to an agent that ignored two",
  );
  must(1, !state.index.holding.has(lease.agentId), "a second lease for one agent");
  must(10, !checker.observed.builds.get(id)!.isCanceled, "a grant of a canceled build");
  must(12, job.notBefore <= now, "a grant of a build that rests");
  must(12, firstEligible(state, facts, now)?.id === id, "not the first eligible build");
};

const checkFirstStart = (checker: Checker, id: string, job: JobFacts): void => {
  const { command, input } = checker.call;
  must(3, command === "start" && input.buildId === id && input.agentId === job.agentId, "a start without a word");
  checker.observed.builds.get(id)!.starts++;
};

const checkLeaseEnd = (
  checker: Checker,
  id: string,
  before: JobFacts,
  next: JobFacts,
  lease: Lease,
  build: BuildFacts | undefined,
): void => {
  const { command, input, now } = checker.call;
  const seen = checker.observed.builds.get(id)!;
  const isAbout = input?.buildId === id && input.fence === lease.fence;
  const isOwn = input?.agentId === lease.agentId;
  const isLate = now >= seen.promisedUntil;
  const isBoot = isOwn && !!input.bootId && !checker.observed.agents.get(lease.agentId)!.boots.includes(input.bootId);
  const isIdle = isOwn && command === "claim" && lease.startedAt === null && seen.isCanceled;
  const byAgent = isAbout && isOwn && (command === "finish" || command === "release");
  const byService = isAbout && (command === "unclaim" || command === "failClaim") && lease.startedAt === null;
  const isOfToken = input?.tokenId === checker.observed.agents.get(lease.agentId)?.tokenId;
  const isRemoval = (command === "removeAgent" && isOwn) || (command === "removeAgentsOf" && isOfToken);
  must(5, isLate || isBoot || isIdle || byAgent || byService || isRemoval, `a lease ended early at ${command}`);
  const isRelease = byAgent && command === "release";
  const isForAnother = isRelease && !input.interrupted;
  if (isForAnother && build?.status === "queued" && lease.startedAt !== null) seen.starts--;
  if (lease.startedAt === null && next.unstarted !== before.unstarted) {
    must(6, !byService || isLate, "a hand-out taken back was counted");
    seen.unstarted++;
  } else if (lease.startedAt === null && build?.status === "queued")
    must(6, byService || isRelease, "a lease was not counted");
  const hasOtherCause = byAgent || byService || isIdle || isBoot || isRemoval || seen.isCanceled;
  const agent = checker.observed.agents.get(lease.agentId);
  if (lease.startedAt !== null || !isLate || hasOtherCause || !agent) return;
  agent.ignored++;
  agent.ignoredAt = now;
};
