import { type ActiveStatus, isActive } from "../../protocol/build-states.ts";
import { PERIODS } from "../../protocol/limits.ts";
import type { Requires } from "../../protocol/pipeline.ts";
import { lacking } from "../requires.ts";
import type { AgentFacts, BuildFacts, Change, JobFacts, Lease, Outcome, Records, Waiter } from "./facts.ts";
import { inOrder, type Place } from "./queue.ts";

/** Bounds within the machine; those that a client meets are in `protocol/limits.ts`. */
export const POOL_LIMITS = {
  unstarted: 20,
  releases: 20,
  pastBoots: 8,
} as const;

/** Milliseconds a woken waiter has before another is woken for the same build. */
export const OFFER_MS = 2_000;
/** Milliseconds for which an idempotency key stands, and for which a build that ended is remembered. */
export const REMEMBER_MS = PERIODS.idempotencyHours * 60 * 60 * 1000;
/** Milliseconds a build that was asked to stop may go on being heard from before its lease ends all the same. */
export const STOP_GRACE_MS = 5 * 60 * 1000;
/** A deadline found overdue by more milliseconds than this was missed by us, not by the agent. */
export const OUTAGE_MS = 5_000;
/** An agent that ignores offers is tried again after so many milliseconds, should it never send a heartbeat. */
export const UNRESPONSIVE_MS = 10 * 60 * 1000;
/** Offers in a row that an agent may ignore before it gets no more. */
export const IGNORED_LIMIT = 2;

/**
 * The judgements on which the machine rests, each in one line and by name. The simulation replaces them one at a
 * time by wrong ones, to prove that every one of them matters and that its checks would see it go.
 */
export interface Rules {
  /** The fence of a new lease: it grows even when the disk or the clock went back. */
  nextFence(last: number, now: number): number;
  /** The version of a build that changed: as with the fence, later ones win even after a restore. */
  nextVersion(last: number, now: number): number;
  /** Whether these are the words of the agent that holds the build now. */
  holdsLease(job: JobFacts, agentId: string, fence: number): boolean;
  leaseIsOver(lease: Lease, now: number): boolean;
  /** Whether a lease may be extended for an outage of ours. */
  mayGrace(lease: Lease): boolean;
  hasAttemptLeft(job: JobFacts): boolean;
  hasUnstartedLeft(job: JobFacts): boolean;
  /** Leases that ended unstarted, after this one has: one taken back for a dependency does not count. */
  unstartedAfter(job: JobFacts, cause: "lost" | "unclaimed"): number;
  attemptAfterRelease(job: JobFacts): number;
  meets(agent: AgentFacts, requires: Requires): boolean;
  comesFirst(left: Place, right: Place): boolean;
  /** Whether another build of a pipeline may be live. */
  hasRoom(live: number, maxParallel: number | null): boolean;
  isDue(job: JobFacts, now: number): boolean;
  /** Whether an agent may be given anything at all. */
  takesBuilds(agent: AgentFacts, now: number): boolean;
  isAlert(waiter: Waiter, now: number): boolean;
  /** A hint is given up, so that another waiter is woken. */
  offerIsOver(at: number, now: number): boolean;
  /** Whether an agent that asks again while it holds a build gets the same one, under the same lease. */
  handsOutAgain(build: BuildFacts): boolean;
  /** Whether a boot is a restart; a late message of an earlier one is not. */
  isRestart(agent: AgentFacts, bootId: string | null): boolean;
  isStale(agent: AgentFacts, bootId: string | null): boolean;
  tokenFits(agent: AgentFacts, tokenHash: string): boolean;
  mayDeliver(build: BuildFacts): boolean;
  mayStart(build: BuildFacts): boolean;
  mayFinish(build: BuildFacts): boolean;
  /** How a build ends when its agent says it is over. */
  ending(build: BuildFacts, job: JobFacts, reported: Outcome): Outcome;
  isSameResult(known: Outcome, reported: Outcome): boolean;
  mayCancel(build: BuildFacts): boolean;
  extended(lease: Lease, now: number, leaseMs: number): number;
  overtime(job: JobFacts, now: number): boolean;
  /** What is left to be written to D1 after a build changed. */
  outbox(build: BuildFacts, at: number): Change[];
  audited(change: Change & { kind: "audit" }): Change[];
  /** Whether an agent may not have the build that it gave back. */
  isNotFor(job: JobFacts, agentId: string): boolean;
  /** Whether a build may be given back for another agent to try: once. */
  mayGoElsewhere(job: JobFacts): boolean;
  /** Whether a build waits for another agent than the one that gave it back. */
  isWaitedFor(isAnotherThere: boolean): boolean;
  /** Whether nothing was heard of an agent for too long. */
  isForgotten(signOfLifeAt: number, now: number, agentMs: number): boolean;
  /** The last sign of life: who waits for a hint, or has a build in its hands, gives one now. */
  signOfLife(heardAt: number, isHere: boolean, now: number): number;
  /** Whether an agent may still come from this token. */
  mayRegister(revoked: ReadonlyMap<string, number>, tokenId: string): boolean;
  /** What the removal of an agent frees. */
  freedByRemoval(buildId: string | undefined): string | undefined;
  nextNumber(records: Records, repoId: string): number;
  keyStands(at: number, now: number): boolean;
}

/** What may be done to a build: the agent that holds it gets it, starts it and finishes it; a person cancels it. */
const ALLOWED: Record<ActiveStatus, readonly ("hand-out" | "start" | "finish" | "cancel")[]> = {
  queued: ["cancel"],
  assigned: ["hand-out", "start", "cancel"],
  running: ["finish", "cancel"],
  canceling: ["finish"],
};

const isAllowed = (action: (typeof ALLOWED)[ActiveStatus][number], { status }: BuildFacts): boolean =>
  isActive(status) && ALLOWED[status].includes(action);

export const RULES: Rules = {
  nextFence: (last, now) => Math.max(last + 1, now),
  nextVersion: (last, now) => Math.max(last + 1, now),
  holdsLease: ({ lease }, agentId, fence) => lease?.fence === fence && lease.agentId === agentId,
  leaseIsOver: (lease, now) => now >= lease.expiresAt,
  mayGrace: (lease) => !lease.graced,
  hasAttemptLeft: (job) => job.attempt < job.maxAttempts,
  hasUnstartedLeft: (job) => job.unstarted < POOL_LIMITS.unstarted,
  unstartedAfter: (job, cause) => job.unstarted + (cause === "lost" ? 1 : 0),
  attemptAfterRelease: (job) => job.attempt - 1,
  meets: (agent, requires) => lacking(agent, requires).length === 0,
  comesFirst: (left, right) => inOrder(left, right) < 0,
  hasRoom: (live, maxParallel) => maxParallel === null || live < maxParallel,
  isDue: (job, now) => job.notBefore <= now,
  takesBuilds: (agent, now) =>
    !agent.isDraining &&
    agent.spentAt === null &&
    (agent.ignored < IGNORED_LIMIT || now >= agent.ignoredAt + UNRESPONSIVE_MS),
  isAlert: ({ until, ignored, ignoredAt }, now) =>
    (until === null || until > now) && (ignored < IGNORED_LIMIT || now >= ignoredAt + UNRESPONSIVE_MS),
  offerIsOver: (at, now) => now >= at + OFFER_MS,
  handsOutAgain: (build) => isAllowed("hand-out", build),
  isRestart: (agent, bootId) => bootId !== null && bootId !== agent.bootId && !agent.pastBoots.includes(bootId),
  isStale: (agent, bootId) => bootId !== null && agent.pastBoots.includes(bootId),
  tokenFits: (agent, tokenHash) => agent.tokenHash === tokenHash,
  mayDeliver: (build) => isAllowed("hand-out", build),
  mayStart: (build) => isAllowed("start", build),
  mayFinish: (build) => isAllowed("finish", build),
  ending: (build, { lease }, reported) => {
    if (build.status === "canceling") return { ...reported, status: "canceled", reason: "canceled" };
    if (lease?.stop?.reason === "timeout") return { ...reported, status: "failed", reason: "timeout" };
    if (reported.status === "canceled")
      return { ...reported, status: "failed", reason: reported.reason ?? "agent-error" };
    return reported.status === "succeeded" ? { ...reported, reason: null } : reported;
  },
  isSameResult: (known, reported) =>
    known.status === reported.status && known.exitCode === reported.exitCode && known.reason === reported.reason,
  mayCancel: (build) => isAllowed("cancel", build),
  extended: ({ expiresAt, stop }, now, leaseMs) =>
    Math.max(expiresAt, stop ? Math.min(now + leaseMs, stop.at + STOP_GRACE_MS) : now + leaseMs),
  overtime: ({ lease, timeoutSeconds }, now) =>
    !!lease && lease.startedAt !== null && !lease.stop && now >= lease.startedAt + timeoutSeconds * 1000,
  outbox: (build, at) => [{ kind: "dirty", buildId: build.id, at }],
  audited: (change) => [change],
  isNotFor: ({ releasedBy, passedOver }, agentId) =>
    releasedBy.includes(agentId) || (passedOver?.agentId === agentId && passedOver.until !== null),
  mayGoElsewhere: ({ passedOver }) => !passedOver,
  isWaitedFor: (isAnotherThere) => isAnotherThere,
  isForgotten: (signOfLifeAt, now, agentMs) => now - signOfLifeAt >= agentMs,
  signOfLife: (heardAt, isHere, now) => (isHere ? now : heardAt),
  mayRegister: (revoked, tokenId) => !revoked.has(tokenId),
  freedByRemoval: (buildId) => buildId,
  nextNumber: (records, repoId) => records.lastNumber(repoId) + 1,
  keyStands: (at, now) => now < at + REMEMBER_MS,
};
