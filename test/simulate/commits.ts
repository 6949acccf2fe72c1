import type { AgentFacts, BuildFacts, Change, JobFacts, Lease } from "../../src/domain/pool/facts.ts";
import type { PoolState } from "../../src/domain/pool/state.ts";
import { firstEligible, suits } from "./inspect.ts";
import { AGENT_MS, EDGES, isEnded, ONLINE_MS, START_MS, SURE_PART, UNRESPONSIVE_MS, UNSTARTED } from "./laws.ts";
import { must } from "./violation.ts";
import type { Witness } from "./witness.ts";

/** Judges what is about to be stored; `state` and disk are still as before it. */
export const judgeCommit = (witness: Witness, state: PoolState, changes: readonly Change[]): void => {
  const builds = new Map<string, BuildFacts>();
  const jobs = new Map<string, JobFacts>();
  const audits: string[] = [];
  for (const change of changes) {
    if (change.kind === "audit") audits.push(`${change.entry.action} ${change.entry.subject}`);
    if (change.kind === "build") builds.set(change.build.id, change.build);
    if (change.kind === "job") jobs.set(change.job.buildId, change.job);
    if (change.kind === "agent-removed") agentGone(witness, state, change.agentId);
  }
  witness.call.audits.push(...audits);
  for (const [id, build] of builds) buildChanged(witness, id, build, changes, audits);
  for (const [id, job] of jobs) jobChanged(witness, state, id, job, builds.get(id));
};

/** By a person, by its token's end, when its one build is over, or after months of silence; never while it is there. */
const agentGone = (witness: Witness, state: PoolState, id: string): void => {
  const { verb, input, now } = witness.call;
  const seen = witness.memory.agents.get(id)!;
  const isOrdered =
    (verb === "removeAgent" && input.agentId === id) || (verb === "removeAgentsOf" && input.tokenId === seen.tokenId);
  const isSpent = state.agents.get(id)!.spentAt !== null;
  seen.isRemoved = true;
  if (isOrdered || isSpent) return;
  must(15, !state.index.holding.has(id), "an agent was forgotten that has a build");
  must(15, !state.waiting.has(id), "an agent was forgotten that waits for builds");
  must(15, now - seen.seenAt >= AGENT_MS * SURE_PART, "an agent was forgotten that was heard of");
};

const buildChanged = (
  witness: Witness,
  id: string,
  next: BuildFacts,
  changes: readonly Change[],
  audits: string[],
): void => {
  const before = witness.disk.rows.builds.get(id);
  must(
    16,
    changes.some((change) => change.kind === "dirty" && change.buildId === id),
    "a change left the outbox empty",
  );
  if (!before) {
    born(witness, id, next);
    return;
  }
  must(16, next.version > before.version, "a version did not grow");
  if (isEnded(before.status))
    must(
      4,
      JSON.stringify({ ...before, version: 0, leak: true }) === JSON.stringify({ ...next, version: 0, leak: true }),
      "an ended build changed",
    );
  if (before.status === next.status) return;
  must(4, (EDGES[before.status] ?? []).includes(next.status), `${before.status} became ${next.status}`);
  if (isEnded(next.status)) must(16, audits.includes(`build.finish ${id}`), "an end without audit");
  const seen = witness.memory.builds.get(id)!;
  if (seen.isCanceled)
    must(10, next.status === "canceled" || next.status === "canceling", `a canceled build became ${next.status}`);
};

const born = (witness: Witness, id: string, build: BuildFacts): void => {
  must(7, witness.call.verb === "enqueue" && build.status === "queued", "a build from nowhere");
  const last = witness.memory.numbers.get(build.repoId) ?? 0;
  must(7, build.number === last + 1, `number ${build.number} after ${last}`);
  witness.memory.numbers.set(build.repoId, build.number);
  witness.memory.builds.set(id, {
    starts: 0,
    unstarted: 0,
    promised: 0,
    graces: 0,
    givenElsewhere: 0,
    isCanceled: false,
    reported: null,
  });
};

const jobChanged = (
  witness: Witness,
  state: PoolState,
  id: string,
  next: JobFacts,
  build: BuildFacts | undefined,
): void => {
  const before = witness.disk.rows.jobs.get(id);
  if (!before) return;
  if (next.passedOver?.until && next.passedOver.until !== before.passedOver?.until) passedOver(witness, state, next);
  if (!before.lease && next.lease) granted(witness, state, id, next, next.lease);
  if (before.lease && !next.lease) leaseEnded(witness, id, before, next, before.lease, build);
  if (before.lease && next.lease) {
    must(1, before.lease.fence === next.lease.fence, "a lease changed its fence");
    must(5, next.lease.expiresAt >= before.lease.expiresAt, "a deadline moved closer");
    const { verb, input } = witness.call;
    const isHeard = (verb === "start" || verb === "heartbeat") && input.agentId === next.lease.agentId;
    const seen = witness.memory.builds.get(id)!;
    if (isHeard) seen.graces = 0;
    else if (next.lease.expiresAt > before.lease.expiresAt) seen.graces++;
    must(5, seen.graces <= 1, "a lease was extended again for nothing");
    if (before.lease.startedAt === null && next.lease.startedAt !== null) started(witness, id, next);
  }
  const seen = witness.memory.builds.get(id)!;
  must(6, next.attempt === seen.starts, `attempt ${next.attempt} after ${seen.starts} starts`);
  must(6, next.attempt <= next.maxAttempts, "more starts than attempts");
  must(
    6,
    next.unstarted === seen.unstarted && seen.unstarted <= UNSTARTED,
    `${next.unstarted} for ${seen.unstarted} unstarted leases`,
  );
};

/** An agent is passed over only for another one that suits, and that is there. */
const passedOver = (witness: Witness, state: PoolState, { passedOver, ...job }: JobFacts): void => {
  const { now } = witness.call;
  const others = [...state.agents.values()].filter(({ id }) => id !== passedOver!.agentId);
  const isThere = ({ id }: AgentFacts) => state.waiting.has(id) || now - heardAt(state, id) < ONLINE_MS;
  must(
    12,
    others.some((agent) => isThere(agent) && !agent.isDraining && suits(agent, job)),
    "passed over for nobody",
  );
};

const heardAt = (state: PoolState, id: string): number =>
  Math.max(state.agents.get(id)!.heardAt, state.heard.get(id) ?? 0);

const granted = (witness: Witness, state: PoolState, id: string, job: JobFacts, lease: Lease): void => {
  const { verb, input, now } = witness.call;
  must(2, lease.fence > witness.maxFence, `fence ${lease.fence} after ${witness.maxFence}`);
  witness.maxFence = lease.fence;
  witness.memory.builds.get(id)!.graces = 0;
  must(12, verb === "claim" && lease.agentId === input.agentId, "a grant nobody asked for");
  must(5, lease.expiresAt >= now + START_MS, "a lease shorter than promised");
  const agent = witness.memory.agents.get(lease.agentId);
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
  must(10, !witness.memory.builds.get(id)!.isCanceled, "a grant of a canceled build");
  must(12, job.notBefore <= now, "a grant of a build that rests");
  must(12, firstEligible(state, facts, now)?.id === id, "not the first eligible build");
};

const started = (witness: Witness, id: string, job: JobFacts): void => {
  const { verb, input } = witness.call;
  must(3, verb === "start" && input.buildId === id && input.agentId === job.agentId, "a start without a word");
  witness.memory.builds.get(id)!.starts++;
};

const leaseEnded = (
  witness: Witness,
  id: string,
  before: JobFacts,
  next: JobFacts,
  lease: Lease,
  build: BuildFacts | undefined,
): void => {
  const { verb, input, now } = witness.call;
  const seen = witness.memory.builds.get(id)!;
  const isAbout = input?.buildId === id && input.fence === lease.fence;
  const isOwn = input?.agentId === lease.agentId;
  const isLate = now >= seen.promised;
  const isBoot = isOwn && !!input.bootId && !witness.memory.agents.get(lease.agentId)!.boots.includes(input.bootId);
  const isIdle = isOwn && verb === "claim" && lease.startedAt === null && seen.isCanceled;
  const byAgent = isAbout && isOwn && (verb === "finish" || verb === "release");
  const byService = isAbout && (verb === "unclaim" || verb === "failClaim") && lease.startedAt === null;
  const isOfToken = input?.tokenId === witness.memory.agents.get(lease.agentId)?.tokenId;
  const isRemoval = (verb === "removeAgent" && isOwn) || (verb === "removeAgentsOf" && isOfToken);
  must(5, isLate || isBoot || isIdle || byAgent || byService || isRemoval, `a lease ended early at ${verb}`);
  const isRelease = byAgent && verb === "release";
  const isForAnother = isRelease && !input.interrupted;
  if (isForAnother && build?.status === "queued" && lease.startedAt !== null) seen.starts--;
  if (lease.startedAt === null && next.unstarted !== before.unstarted) {
    must(6, !byService || isLate, "a hand-out taken back was counted");
    seen.unstarted++;
  } else if (lease.startedAt === null && build?.status === "queued")
    must(6, byService || isRelease, "a lease was not counted");
  const hasOtherCause = byAgent || byService || isIdle || isBoot || isRemoval || seen.isCanceled;
  const agent = witness.memory.agents.get(lease.agentId);
  if (lease.startedAt !== null || !isLate || hasOtherCause || !agent) return;
  agent.ignored++;
  agent.ignoredAt = now;
};
