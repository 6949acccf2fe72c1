import { unmetRequirements } from "../../domain/requires.ts";
import type { ToldState } from "../../githosts/core/host-report.ts";
import type { BuildReason } from "../../protocol/build.ts";
import type { JobStatus } from "../../protocol/build-job.ts";
import { isEnded } from "../../protocol/build-states.ts";
import { PERIODS } from "../../protocol/limits.ts";
import type { Requires } from "../../protocol/pipeline.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../protocol/units.ts";
import { JOB_RULES, triesAgain } from "../jobs/rules.ts";
import type { AgentFacts, Waiter } from "./agent-facts.ts";
import type { ArtifactFacts, BuildFacts, Change, Channel, JobEntry, JobFacts, JobLease, Outcome } from "./facts.ts";
import { isHeard, isHostDue } from "./host-state.ts";
import type { Lane } from "./queue.ts";
import { isReserved } from "./trust.ts";

/** Limits that only the pool knows; `protocol/limits.ts` has those that a client meets. */
export const POOL_LIMITS = {
  unstarted: 20,
  releases: 20,
  pastBoots: 8,
} as const;

/** Milliseconds for which a job is offered to one waiting agent before another agent gets the offer. */
export const OFFER_MS = 2 * SECOND_MS;
/** Milliseconds for which the pool keeps idempotency keys and ended builds. */
export const REMEMBER_MS = PERIODS.idempotencyHours * HOUR_MS;
/** Milliseconds for which the pool keeps revocations: D1 can be restored to any of the last 30 days. */
export const REVOKED_MS = 31 * DAY_MS;
/** Milliseconds for which heartbeats still renew the lease of a job that has to stop. */
const STOP_GRACE_MS = 5 * MINUTE_MS;
/** A deadline overdue by more milliseconds than this was missed by this service, not by the agent. */
export const OUTAGE_MS = 5 * SECOND_MS;
/** Milliseconds after which an agent that was told to stop its job, and did not answer, is told again. */
export const STOP_AGAIN_MS = 15 * SECOND_MS;
/** Milliseconds after which an ephemeral agent that is away, and never had a job, is removed. */
export const EPHEMERAL_MS = HOUR_MS;
/**
 * Milliseconds by which a stored deadline may be older than the one that a socket keeps: the socket remembers it, and a
 * lease that lost its socket gets its time once more.
 */
export const STORED_FOR_MS = 10 * MINUTE_MS;
/** Milliseconds after which an agent that ignored offers gets offers again, even without a heartbeat. */
export const UNRESPONSIVE_MS = 10 * MINUTE_MS;
/** Offers, or claimed jobs, in a row that an agent may ignore before it gets no more. */
export const IGNORED_LIMIT = 2;

/** What the agent that holds a job may do: get it, start it and finish it. */
const ALLOWED: { [Status in JobStatus]?: readonly ("hand-out" | "deliver" | "start" | "finish")[] } = {
  assigned: ["hand-out", "deliver", "start"],
  running: ["deliver", "finish"],
  canceling: ["finish"],
};

export const isAllowed = (action: "hand-out" | "deliver" | "start" | "finish", { status }: JobFacts): boolean =>
  ALLOWED[status]?.includes(action) ?? false;

/** Why the job has to stop, or was canceled. */
export const stopReason = ({ reason }: JobFacts): BuildReason => reason ?? "canceled";

/** Whether the agent decides if there is anything to do: never in a build that a person asked for, or of a planned job. */
const mayBeSkipped = ({ build: { origin }, job }: JobEntry): boolean =>
  job.id === job.buildId && (origin?.purpose === "read-file" || (origin?.paths ?? null) !== null);

/**
 * The rules of the pool that stand in several places or take more than a line. The simulation replaces one at a time by
 * a wrong one, which proves that each rule matters and that the checks find its absence.
 */
export const RULES = {
  ...JOB_RULES,
  triesAgain,
  /** The version of a changed build. Like the fence, it grows even after a restore. */
  nextVersion: (last: number, now: number): number => Math.max(last + 1, now),
  /** Whether this agent and fence are those of the current lease. */
  holdsLease: ({ lease }: JobFacts, agentId: string, fence: number): boolean =>
    lease?.fence === fence && lease.agentId === agentId,
  leaseIsOver: (lease: JobLease, now: number): boolean => now >= lease.expiresAt,
  attemptAfterRelease: (job: JobFacts): number => job.attempt - 1,
  meets: (agent: AgentFacts, requires: Requires): boolean =>
    unmetRequirements(agent, requires).length === 0 && !isReserved(agent.labels, requires.labels),
  /** Whether so many holders leave a place for one more. */
  hasRoom: (leased: number, maxParallel: number | null): boolean => maxParallel === null || leased < maxParallel,
  /** Whether the agent's program can run what is in the lane. */
  runsLane: ({ features = [] }: AgentFacts, lane: Pick<Lane, "features">): boolean =>
    lane.features.every((feature) => features.includes(feature)),
  /** Whether the agent may get any job. */
  takesBuilds: (agent: AgentFacts, now: number): boolean =>
    !agent.isDraining &&
    agent.spentAt === null &&
    (agent.ignored < IGNORED_LIMIT || now >= agent.ignoredAt + UNRESPONSIVE_MS),
  /** Whether the waiting agent follows offers. */
  isAlert: ({ until, ignored, ignoredAt }: Waiter, now: number): boolean =>
    (until === null || until > now) && (ignored < IGNORED_LIMIT || now >= ignoredAt + UNRESPONSIVE_MS),
  /** Whether the boot id means a restart; that of an earlier boot does not. */
  isRestart: (agent: AgentFacts, bootId: string | null): boolean =>
    bootId !== null && bootId !== agent.bootId && !agent.pastBoots.includes(bootId),
  isStale: (agent: AgentFacts, bootId: string | null): boolean => bootId !== null && agent.pastBoots.includes(bootId),
  /** The outcome of a job whose agent reported a result. */
  ending: (entry: JobEntry, reported: Outcome): Outcome => {
    const { job } = entry;
    if (job.status === "canceling") return { ...reported, status: "canceled", reason: stopReason(job) };
    if (job.lease?.stop?.reason === "timeout") return { ...reported, status: "failed", reason: "timeout" };
    if (reported.status === "canceled" && reported.reason === "skipped" && mayBeSkipped(entry)) return reported;
    if (reported.status === "canceled")
      return { ...reported, status: "failed", reason: reported.reason ?? "agent-error" };
    return reported.status === "succeeded" ? { ...reported, reason: null } : reported;
  },
  isSameResult: (recorded: Pick<BuildFacts, keyof Outcome>, reported: Pick<BuildFacts, keyof Outcome>): boolean =>
    recorded.status === reported.status &&
    recorded.exitCode === reported.exitCode &&
    recorded.reason === reported.reason,
  /** Whether a cancel of the build has anything to stop, among these jobs of it. */
  mayCancel: ({ cancel }: BuildFacts, jobs: readonly JobFacts[], now: number): boolean =>
    cancel === null || (now < cancel.until && jobs.some(({ status, end = null }) => !end && status !== "canceling")),
  extended: ({ expiresAt, stop }: JobLease, now: number, leaseMs: number): number =>
    Math.max(expiresAt, stop ? Math.min(now + leaseMs, stop.at + STOP_GRACE_MS) : now + leaseMs),
  overtime: ({ lease, timeoutSeconds }: JobFacts, now: number): boolean =>
    !!lease && lease.startedAt !== null && !lease.stop && now >= lease.startedAt + timeoutSeconds * 1000,
  /** Whether D1 may be told of a build: of one that has ended only when the archive has its record. */
  mayTell: (build: BuildFacts, isRecorded: boolean): boolean => !isEnded(build.status) || isRecorded,
  /** Whether D1 knows enough of a build of which it has this version. */
  isHeard: (build: BuildFacts, version: number): boolean => !isEnded(build.status) || build.version === version,
  /** Makes the build due at its git host, once its commit is known and while the host was told something else. */
  hostOutbox: (build: BuildFacts, at: number): Change[] =>
    isHostDue(build) ? [{ kind: "due", channel: "hosts", buildId: build.id, at }] : [],
  /**
   * Whether the git host knows enough of a build of which it was told this. Its end may have the state of its wait at a
   * gate: only the version tells them apart.
   */
  isHostTold: (build: BuildFacts, hostState: ToldState, version?: number): boolean =>
    isHeard(build, hostState) && (!isEnded(build.status) || version === undefined || version === build.version),
  /** Whether there is another attempt on a channel, where so much is left. */
  deliversAgain: (remaining: number, failed: boolean, _channel: Channel): boolean => remaining > 0 || failed,
  /** Whether the agent may not have the job, which it released before. */
  isNotFor: ({ releasedBy, passedOver }: JobFacts, agentId: string): boolean =>
    releasedBy.includes(agentId) || (passedOver?.agentId === agentId && passedOver.until !== null),
  /** Whether people and other jobs see it: it is whole, and the job's result came under the same lease. */
  showsArtifact: ({ isKept, fence }: ArtifactFacts, { result, fence: last, status }: JobFacts): boolean =>
    isKept === true && result !== null && last === fence && (status === "succeeded" || status === "failed"),
};

export type Rules = typeof RULES;
