import type { BuildReason, Trust } from "../../protocol/build.ts";
import type { JobStatus } from "../../protocol/build-job.ts";
import { isEnded } from "../../protocol/build-states.ts";
import { PERIODS } from "../../protocol/limits.ts";
import type { Requires } from "../../protocol/pipeline.ts";
import { includesRole, type Role } from "../../protocol/token.ts";
import type { HostReport, ToldState } from "../githost/host-report.ts";
import { JOB_RULES, type JobRules } from "../jobs/rules.ts";
import { unmetRequirements } from "../requires.ts";
import type { ArtifactFacts } from "./artifact-facts.ts";
import type { NewBuild } from "./commands.ts";
import { confined, isReserved, trustOf } from "./confine.ts";
import type {
  AgentFacts,
  BuildFacts,
  Change,
  Channel,
  HeldJob,
  JobFacts,
  KeptLease,
  Lease,
  Outcome,
  Records,
  Waiter,
} from "./facts.ts";
import { HEAD_MS, type Head, olderThanNewest, type Place, place } from "./heads.ts";
import { APPROVER } from "./held.ts";
import { hostReportOf, isHeard, isHostDue } from "./host-state.ts";
import { PAUSE_RULES, type PauseRules } from "./pause-rules.ts";
import { byQueueOrder, type Lane, type QueuedJob } from "./queue.ts";
import { TRY_RULES, type TryRules } from "./try-rules.ts";

/** Limits that only the pool knows; `protocol/limits.ts` has those that a client meets. */
export const POOL_LIMITS = {
  unstarted: 20,
  releases: 20,
  pastBoots: 8,
} as const;

/** Milliseconds for which a build is offered to one waiting agent before another agent gets the offer. */
export const OFFER_MS = 2_000;
/** Milliseconds for which the pool keeps idempotency keys and ended builds. */
export const REMEMBER_MS = PERIODS.idempotencyHours * 60 * 60 * 1000;
/** Milliseconds for which the pool keeps revocations: D1 can be restored to any of the last 30 days. */
export const REVOKED_MS = 31 * 24 * 60 * 60 * 1000;
/** Milliseconds for which heartbeats still renew the lease of a build that has to stop. */
const STOP_GRACE_MS = 5 * 60 * 1000;
/** A deadline overdue by more milliseconds than this was missed by this service, not by the agent. */
export const OUTAGE_MS = 5_000;
/** Milliseconds after which an agent that was told to stop its build, and did not answer, is told again. */
export const STOP_AGAIN_MS = 15_000;
/** Milliseconds after which an ephemeral agent that is away, and never had a build, is removed. */
export const EPHEMERAL_MS = 60 * 60 * 1000;
/**
 * Milliseconds by which a stored deadline may be older than the one that a socket keeps: the socket remembers it, and a
 * lease that lost its socket gets its time once more.
 */
export const STORED_FOR_MS = 5 * 60 * 1000;
/** Milliseconds after which an agent that ignored offers gets offers again, even without a heartbeat. */
export const UNRESPONSIVE_MS = 10 * 60 * 1000;
/** Offers, or claimed builds, in a row that an agent may ignore before it gets no more. */
export const IGNORED_LIMIT = 2;

/**
 * The rules of the pool, each with a name and in one line. The simulation replaces one at a time by a wrong one, which
 * proves that each rule matters and that the checks find its absence.
 */
export interface Rules extends JobRules, TryRules, PauseRules {
  /** The fence of a new lease. It grows even after the disk or the clock was set back. */
  nextFence(last: number, now: number): number;
  /** The version of a changed build. Like the fence, it grows even after a restore. */
  nextVersion(last: number, now: number): number;
  /** Whether this agent and fence are those of the current lease. */
  holdsLease(job: JobFacts, agentId: string, fence: number): boolean;
  leaseIsOver(lease: Lease, now: number): boolean;
  /** Whether the lease may be renewed after an outage of this service or the loss of its socket: once. */
  mayGrace(lease: Lease): boolean;
  /** Whether the pool woke without the socket that keeps the lease, and without having seen it close. */
  hasLostSocket(lease: Lease, hasSocket: boolean): boolean;
  /** The deadline that the agent's socket remembers, where it is later than the stored one. */
  remembered(lease: Lease, kept: KeptLease | null): number;
  /** Whether the new deadline is later than the stored one by more than this. */
  mustStore(lease: Lease, expiresAt: number, storedForMs: number): boolean;
  /** Whether the agent is told once more to stop its build. */
  tellsAgain(dueAt: number | null, now: number): boolean;
  hasAttemptLeft(job: JobFacts): boolean;
  hasUnstartedLeft(job: JobFacts): boolean;
  /** The count of leases that ended unstarted, after this one. A hand-out that was taken back does not count. */
  unstartedAfter(job: JobFacts, cause: "lost" | "unclaimed"): number;
  attemptAfterRelease(job: JobFacts): number;
  meets(agent: AgentFacts, requires: Requires): boolean;
  /** The job as the queue takes it: where its build is untrusted, for no agent but those that are meant for it. */
  confined(job: JobFacts, build: Pick<BuildFacts, "trust">): JobFacts;
  /** Whose code a new build runs; `retried` is the build that it repeats, where the pool knows it. */
  trustOfNew(request: Pick<NewBuild, "trust" | "retryOf">, retried: BuildFacts | undefined): Trust;
  /** Whether a new build of untrusted code waits until its commit is approved. */
  needsApproval(request: NewBuild, known: Iterable<BuildFacts>): boolean;
  mayApproveCommit(role: Role): boolean;
  /** Whether the commit that a person looked at, if they say which, is that of the build. */
  isOfCommit(build: BuildFacts, commitSha: string | null): boolean;
  comesFirst(left: QueuedJob, right: QueuedJob): boolean;
  /** Whether there is room for one more in a room with so many. */
  hasRoom(leased: number, maxParallel: number | null): boolean;
  /** Whether the agent's program can run what is in the lane. */
  runsLane(agent: AgentFacts, lane: Pick<Lane, "features">): boolean;
  isDue(job: JobFacts, now: number): boolean;
  /** Whether the agent may get any build. */
  takesBuilds(agent: AgentFacts, now: number): boolean;
  /** Whether the waiting agent follows offers. */
  isAlert(waiter: Waiter, now: number): boolean;
  /** Whether the offer is withdrawn, so that another agent gets it. */
  offerIsOver(at: number, now: number): boolean;
  /** Whether an agent that claims again while it holds a job gets the same job under the same lease. */
  handsOutAgain(job: JobFacts): boolean;
  /** Whether the boot id means a restart; that of an earlier boot does not. */
  isRestart(agent: AgentFacts, bootId: string | null): boolean;
  isStale(agent: AgentFacts, bootId: string | null): boolean;
  tokenFits(agent: AgentFacts, tokenHash: string): boolean;
  /** Whether the job's environment may leave: as it is handed out, or once its agent has read the file. */
  mayDeliver(job: JobFacts): boolean;
  mayStart(job: JobFacts): boolean;
  mayFinish(job: JobFacts): boolean;
  /** The outcome of a job whose agent reported a result. */
  ending(held: HeldJob, reported: Outcome): Outcome;
  isSameResult(recorded: Pick<BuildFacts, keyof Outcome>, reported: Pick<BuildFacts, keyof Outcome>): boolean;
  /** Whether a cancel of the build has anything to stop, among these jobs of it. */
  mayCancel(build: BuildFacts, jobs: readonly JobFacts[], now: number): boolean;
  extended(lease: Lease, now: number, leaseMs: number): number;
  overtime(job: JobFacts, now: number): boolean;
  /** Whether D1 hears of the change: when a build is created and has ended, and when an ended one changes. */
  outbox(before: BuildFacts | null, build: BuildFacts, at: number): Change[];
  /** Whether D1 may be told of a build: of one that has ended only when the archive has its record. */
  mayTell(build: BuildFacts, isRecorded: boolean): boolean;
  /** Whether D1 knows enough of a build of which it has this version. */
  isHeard(build: BuildFacts, version: number): boolean;
  /** Whether a git host hears of the change: once the commit is known, and when the build has ended. */
  hostOutbox(build: BuildFacts, at: number): Change[];
  /** What a git host is told of a build; null where it hears nothing. */
  hostReport(build: BuildFacts, jobs: readonly JobFacts[]): HostReport | null;
  /** Whether the git host knows enough of a build of which it was told this. */
  isHostTold(build: BuildFacts, told: ToldState, version?: number): boolean;
  /** Whether there is another attempt on a channel, where so much is left. */
  deliversAgain(left: number, failed: boolean, channel: Channel): boolean;
  /** Where an arriving head of a ref belongs. */
  placed(heads: readonly Head[], pushed: Pick<Head, "sha" | "before">): Place;
  /** The newest head that follows this one, and those before it whose builds end. */
  superseded(heads: readonly Head[], head: Pick<Head, "sha">): { newest: Head; older: Head[] } | null;
  /** Whether a delivery is known from now on, of which this many builds were refused. */
  remembersDelivery(refused: number): boolean;
  deliveryStands(at: number, now: number): boolean;
  /** Whether the agent may not have the job, which it released before. */
  isNotFor(job: JobFacts, agentId: string): boolean;
  /** Whether the job may be released for another agent to try: once. */
  mayGoElsewhere(job: JobFacts): boolean;
  /** Whether the agent has been silent for too long. */
  isForgotten(signOfLifeAt: number, now: number, agentMs: number): boolean;
  /** The last sign of life. An agent that waits or holds a build gives one now. */
  signOfLife(heardAt: number, isHere: boolean, now: number): number;
  /** Whether an agent may still be registered with this token. */
  mayRegister(revoked: ReadonlyMap<string, number>, tokenId: string): boolean;
  nextNumber(records: Records, repoId: string): number;
  /** Whether D1 knows less of this pool than it was told. */
  databaseWasRestored(told: number, found: number): boolean;
  /** Whether D1 was told more than the pool remembered when it was loaded. */
  poolWasRestored(loaded: number, found: number): boolean;
  /** Whether builds may be leased: once D1 was compared with the pool since it was loaded. */
  mayGrant(unchecked: number | null): boolean;
  mayNumber(unchecked: number | null): boolean;
  /** The last number of a repository, by the pool and by D1. */
  lastNumber(own: number, stored: number): number;
  /** Revocations of which D1 is told: those since then. */
  replayed(revoked: ReadonlyMap<string, number>, since: number): string[];
  keyStands(at: number, now: number): boolean;
  /** Whether an artifact was sent under this lease: those of an earlier one are as if they had never been. */
  isOfLease(artifact: ArtifactFacts, fence: number): boolean;
  /** Whether people and other jobs see it: it is whole, and the job's result came under the same lease. */
  showsArtifact(artifact: ArtifactFacts, job: JobFacts): boolean;
}

/** What the agent that holds a job may do: get it, start it and finish it. */
const ALLOWED: { [Status in JobStatus]?: readonly ("hand-out" | "deliver" | "start" | "finish")[] } = {
  assigned: ["hand-out", "deliver", "start"],
  running: ["deliver", "finish"],
  canceling: ["finish"],
};

const isAllowed = (action: "hand-out" | "deliver" | "start" | "finish", { status }: JobFacts): boolean =>
  ALLOWED[status]?.includes(action) ?? false;

/** Why the job has to stop, or was canceled. */
export const stopReason = ({ reason }: JobFacts): BuildReason => reason ?? "canceled";

/** Whether the agent decides if there is anything to do: never in a build that a person asked for, or of a planned job. */
const mayBeSkipped = ({ build: { origin }, job }: HeldJob): boolean =>
  job.id === job.buildId && (origin?.purpose === "read-file" || (origin?.paths ?? null) !== null);

export const RULES: Rules = {
  ...JOB_RULES,
  ...TRY_RULES,
  ...PAUSE_RULES,
  nextFence: (last, now) => Math.max(last + 1, now),
  nextVersion: (last, now) => Math.max(last + 1, now),
  holdsLease: ({ lease }, agentId, fence) => lease?.fence === fence && lease.agentId === agentId,
  leaseIsOver: (lease, now) => now >= lease.expiresAt,
  mayGrace: (lease) => !lease.graced,
  hasLostSocket: ({ keptBy }, hasSocket) => keptBy === "socket" && !hasSocket,
  remembered: (lease, kept) =>
    kept?.fence === lease.fence ? Math.max(lease.expiresAt, kept.expiresAt) : lease.expiresAt,
  mustStore: (lease, expiresAt, storedForMs) => expiresAt > (lease.writtenUntil ?? lease.expiresAt) + storedForMs,
  tellsAgain: (dueAt, now) => dueAt !== null && now >= dueAt,
  hasAttemptLeft: ({ attempt, retries = 0, maxAttempts }) => attempt - retries < maxAttempts,
  hasUnstartedLeft: (job) => job.unstarted < POOL_LIMITS.unstarted,
  unstartedAfter: (job, cause) => job.unstarted + (cause === "lost" ? 1 : 0),
  attemptAfterRelease: (job) => job.attempt - 1,
  meets: (agent, requires) =>
    unmetRequirements(agent, requires).length === 0 && !isReserved(agent.labels, requires.labels),
  confined,
  trustOfNew: (request, retried) => trustOf(request.trust ? request : (retried ?? {})),
  needsApproval: ({ needsApproval = false, retryOf }) => needsApproval || retryOf !== null,
  mayApproveCommit: (role) => includesRole(role, APPROVER),
  isOfCommit: (build, commitSha) => commitSha === null || commitSha === build.commitSha,
  comesFirst: (left, right) => byQueueOrder(left, right) < 0,
  hasRoom: (leased, maxParallel) => maxParallel === null || leased < maxParallel,
  runsLane: ({ features = [] }, lane) => lane.features.every((feature) => features.includes(feature)),
  isDue: (job, now) => job.notBefore <= now,
  takesBuilds: (agent, now) =>
    !agent.isDraining &&
    agent.spentAt === null &&
    (agent.ignored < IGNORED_LIMIT || now >= agent.ignoredAt + UNRESPONSIVE_MS),
  isAlert: ({ until, ignored, ignoredAt }, now) =>
    (until === null || until > now) && (ignored < IGNORED_LIMIT || now >= ignoredAt + UNRESPONSIVE_MS),
  offerIsOver: (at, now) => now >= at + OFFER_MS,
  handsOutAgain: (job) => isAllowed("hand-out", job),
  isRestart: (agent, bootId) => bootId !== null && bootId !== agent.bootId && !agent.pastBoots.includes(bootId),
  isStale: (agent, bootId) => bootId !== null && agent.pastBoots.includes(bootId),
  tokenFits: (agent, tokenHash) => agent.tokenHash === tokenHash,
  mayDeliver: (job) => isAllowed("deliver", job),
  mayStart: (job) => isAllowed("start", job),
  mayFinish: (job) => isAllowed("finish", job),
  ending: (held, reported) => {
    const { job } = held;
    if (job.status === "canceling") return { ...reported, status: "canceled", reason: stopReason(job) };
    if (job.lease?.stop?.reason === "timeout") return { ...reported, status: "failed", reason: "timeout" };
    if (reported.status === "canceled" && reported.reason === "skipped" && mayBeSkipped(held)) return reported;
    if (reported.status === "canceled")
      return { ...reported, status: "failed", reason: reported.reason ?? "agent-error" };
    return reported.status === "succeeded" ? { ...reported, reason: null } : reported;
  },
  isSameResult: (recorded, reported) =>
    recorded.status === reported.status &&
    recorded.exitCode === reported.exitCode &&
    recorded.reason === reported.reason,
  mayCancel: ({ cancel }, jobs, now) =>
    cancel === null || (now < cancel.until && jobs.some(({ status, end = null }) => !end && status !== "canceling")),
  extended: ({ expiresAt, stop }, now, leaseMs) =>
    Math.max(expiresAt, stop ? Math.min(now + leaseMs, stop.at + STOP_GRACE_MS) : now + leaseMs),
  overtime: ({ lease, timeoutSeconds }, now) =>
    !!lease && lease.startedAt !== null && !lease.stop && now >= lease.startedAt + timeoutSeconds * 1000,
  outbox: (before, build, at) =>
    !before || isEnded(build.status) ? [{ kind: "due", channel: "lists", buildId: build.id, at }] : [],
  mayTell: (build, isRecorded) => !isEnded(build.status) || isRecorded,
  isHeard: (build, version) => !isEnded(build.status) || build.version === version,
  hostOutbox: (build, at) => (isHostDue(build) ? [{ kind: "due", channel: "hosts", buildId: build.id, at }] : []),
  hostReport: hostReportOf,
  // Its end may have the state of its wait at a gate: only the version tells them apart.
  isHostTold: (build, told, version) =>
    isHeard(build, told) && (!isEnded(build.status) || version === undefined || version === build.version),
  deliversAgain: (left, failed) => left > 0 || failed,
  placed: (heads, pushed) => place(heads, pushed),
  superseded: (heads, head) => olderThanNewest(heads, head),
  remembersDelivery: (refused) => refused === 0,
  deliveryStands: (at, now) => now < at + HEAD_MS,
  isNotFor: ({ releasedBy, passedOver }, agentId) =>
    releasedBy.includes(agentId) || (passedOver?.agentId === agentId && passedOver.until !== null),
  mayGoElsewhere: ({ passedOver }) => !passedOver,
  isForgotten: (signOfLifeAt, now, agentMs) => now - signOfLifeAt >= agentMs,
  signOfLife: (heardAt, isHere, now) => (isHere ? now : heardAt),
  mayRegister: (revoked, tokenId) => !revoked.has(tokenId),
  nextNumber: (records, repoId) => records.lastNumber(repoId) + 1,
  databaseWasRestored: (told, found) => found < told,
  poolWasRestored: (loaded, found) => found > loaded,
  mayGrant: (unchecked) => unchecked === null,
  mayNumber: (unchecked) => unchecked === null,
  lastNumber: (own, stored) => Math.max(own, stored),
  replayed: (revoked, since) => [...revoked].filter(([, at]) => at > since).map(([tokenId]) => tokenId),
  keyStands: (at, now) => now < at + REMEMBER_MS,
  isOfLease: (artifact, fence) => artifact.fence === fence,
  showsArtifact: ({ isKept, fence }, { result, fence: last, status }) =>
    isKept === true && result !== null && last === fence && (status === "succeeded" || status === "failed"),
};
