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

/** Limits that only the pool knows. `protocol/limits.ts` has the limits that clients know. */
export const POOL_LIMITS = {
  unstarted: 20,
  releases: 20,
  pastBoots: 8,
} as const;

/** Milliseconds for which one waiting agent has an offer before another agent gets it. */
export const OFFER_MS = 2 * SECOND_MS;
/** Milliseconds for which the pool keeps idempotency keys and ended builds. */
export const REMEMBER_MS = PERIODS.idempotencyHours * HOUR_MS;
/** Milliseconds for which the pool keeps revocations. An operator can restore D1 to any of the last 30 days. */
export const REVOKED_MS = 31 * DAY_MS;
/** Milliseconds for which heartbeats still renew the lease of a job that must stop. */
const STOP_GRACE_MS = 5 * MINUTE_MS;
/** If a deadline is overdue by more milliseconds than this, the service missed it instead of the agent. */
export const OUTAGE_MS = 5 * SECOND_MS;
/** Milliseconds after which the pool notifies an agent again that did not react to a stop. */
export const STOP_AGAIN_MS = 15 * SECOND_MS;
/** Milliseconds after which the pool removes an absent ephemeral agent that never had a job. */
export const EPHEMERAL_MS = HOUR_MS;
/**
 * Milliseconds by which a stored deadline may be older than the deadline that a socket keeps. The socket remembers its
 * deadline, and a lease that lost its socket gets its time again.
 */
export const STORED_FOR_MS = 10 * MINUTE_MS;
/** Milliseconds after which an agent that ignored offers gets offers again, even without a heartbeat. */
export const UNRESPONSIVE_MS = 10 * MINUTE_MS;
/** The number of consecutive offers, or claimed jobs, after which an agent that ignores them gets no more. */
export const IGNORED_LIMIT = 2;

/** The actions that the agent of a job may take in each status: get the job, start it and finish it. */
const ALLOWED: { [Status in JobStatus]?: readonly ("hand-out" | "deliver" | "start" | "finish")[] } = {
  assigned: ["hand-out", "deliver", "start"],
  running: ["deliver", "finish"],
  canceling: ["finish"],
};

export const isAllowed = (action: "hand-out" | "deliver" | "start" | "finish", { status }: JobFacts): boolean =>
  ALLOWED[status]?.includes(action) ?? false;

/** Returns why the job must stop, or was canceled. */
export const stopReason = ({ reason }: JobFacts): BuildReason => reason ?? "canceled";

/** Reports whether the agent may skip the job. A job must run if it is planned, or if a person requested its build. */
const mayBeSkipped = ({ build: { origin }, job }: JobEntry): boolean =>
  job.id === job.buildId && (origin?.purpose === "read-file" || (origin?.paths ?? null) !== null);

/**
 * The pool's rules that apply in several places or need more than a line. The simulation replaces one rule at a time
 * with a wrong one. This proves that each rule matters, and that the checks notice its absence.
 */
export const RULES = {
  ...JOB_RULES,
  triesAgain,
  /** Returns a changed build's version. Like the fence, it increases even after a restore. */
  nextVersion: (last: number, now: number): number => Math.max(last + 1, now),
  /** Reports whether the agent holds the current lease, with this fence. */
  holdsLease: ({ lease }: JobFacts, agentId: string, fence: number): boolean =>
    lease?.fence === fence && lease.agentId === agentId,
  leaseIsOver: (lease: JobLease, now: number): boolean => now >= lease.expiresAt,
  attemptAfterRelease: (job: JobFacts): number => job.attempt - 1,
  meets: (agent: AgentFacts, requires: Requires): boolean =>
    unmetRequirements(agent, requires).length === 0 && !isReserved(agent.labels, requires.labels),
  /** Reports whether this number of holders leaves room for another holder. */
  hasRoom: (leased: number, maxParallel: number | null): boolean => maxParallel === null || leased < maxParallel,
  /** Reports whether the agent's program can run the lane's jobs. */
  runsLane: ({ features = [] }: AgentFacts, lane: Pick<Lane, "features">): boolean =>
    lane.features.every((feature) => features.includes(feature)),
  /** Reports whether the agent may get any job. */
  takesBuilds: (agent: AgentFacts, now: number): boolean =>
    !agent.isDraining &&
    agent.spentAt === null &&
    (agent.ignored < IGNORED_LIMIT || now >= agent.ignoredAt + UNRESPONSIVE_MS),
  /** Reports whether the waiting agent follows offers. */
  isAlert: ({ until, ignored, ignoredAt }: Waiter, now: number): boolean =>
    (until === null || until > now) && (ignored < IGNORED_LIMIT || now >= ignoredAt + UNRESPONSIVE_MS),
  /** Reports whether the boot id means a restart. An earlier boot's id does not. */
  isRestart: (agent: AgentFacts, bootId: string | null): boolean =>
    bootId !== null && bootId !== agent.bootId && !agent.pastBoots.includes(bootId),
  isStale: (agent: AgentFacts, bootId: string | null): boolean => bootId !== null && agent.pastBoots.includes(bootId),
  /** Returns the outcome of a job whose agent reported a result. */
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
  /** Reports whether a cancel of the build has anything to stop among its jobs. */
  mayCancel: ({ cancel }: BuildFacts, jobs: readonly JobFacts[], now: number): boolean =>
    cancel === null || (now < cancel.until && jobs.some(({ status, end = null }) => !end && status !== "canceling")),
  extended: ({ expiresAt, stop }: JobLease, now: number, leaseMs: number): number =>
    Math.max(expiresAt, stop ? Math.min(now + leaseMs, stop.at + STOP_GRACE_MS) : now + leaseMs),
  overtime: ({ lease, timeoutSeconds }: JobFacts, now: number): boolean =>
    !!lease && lease.startedAt !== null && !lease.stop && now >= lease.startedAt + timeoutSeconds * 1000,
  /** Reports whether D1 may get the build. For an ended build, the archive must have its record first. */
  mayTell: (build: BuildFacts, isRecorded: boolean): boolean => !isEnded(build.status) || isRecorded,
  /** Reports whether D1 needs no newer version of the build than this one. */
  isHeard: (build: BuildFacts, version: number): boolean => !isEnded(build.status) || build.version === version,
  /** Makes the build due at its git host, once its commit is known and while the host shows something else. */
  hostOutbox: (build: BuildFacts, at: number): Change[] =>
    isHostDue(build) ? [{ kind: "due", channel: "hosts", buildId: build.id, at }] : [],
  /**
   * Reports whether the git host needs no newer state of the build than this one. The end may have the same state as
   * the wait at a gate. In that case, only the version distinguishes the end from the wait.
   */
  isHostTold: (build: BuildFacts, hostState: ToldState, version?: number): boolean =>
    isHeard(build, hostState) && (!isEnded(build.status) || version === undefined || version === build.version),
  /** Reports whether a channel needs another attempt if this many items are left. */
  deliversAgain: (remaining: number, failed: boolean, _channel: Channel): boolean => remaining > 0 || failed,
  /** Reports whether the agent may not have the job because it released the job earlier. */
  isNotFor: ({ releasedBy, passedOver }: JobFacts, agentId: string): boolean =>
    releasedBy.includes(agentId) || (passedOver?.agentId === agentId && passedOver.until !== null),
  /**
   * Reports whether people and other jobs see the artifact. They see a complete artifact from the lease of the job's
   * result.
   */
  showsArtifact: ({ isKept, fence }: ArtifactFacts, { result, fence: last, status }: JobFacts): boolean =>
    isKept === true && result !== null && last === fence && (status === "succeeded" || status === "failed"),
};

export type Rules = typeof RULES;
