import { mergeRequires } from "../../domain/requires.ts";
import type { Heartbeat } from "../../protocol/jobs.ts";
import { byteSize, LIMITS } from "../../protocol/limits.ts";
import {
  type Decision,
  type DecisionContext,
  decided,
  findEntry,
  isRemembered,
  leaseLost,
  refused,
  unknownId,
  unknownToken,
  verifiedAgent,
} from "../state/decision.ts";
import type { Change, JobEntry, JobFacts, JobLease, Outcome, Report } from "../state/facts.ts";
import { isAllowed, POOL_LIMITS } from "../state/rules.ts";
import { jobsOf, type PoolState } from "../state/state.ts";
import type { FinishReport, HeartbeatRequest, LeaseHolder, ProgressReport, ReleaseRequest } from "./commands.ts";
import {
  anotherTry,
  commitChanges,
  endCanceled,
  endJob,
  endOvertime,
  loseLease,
  overtimeMessage,
  requeue,
  retireEphemeral,
} from "./lease.ts";
import { reassign } from "./reassign.ts";
import { testChanges } from "./tests.ts";

/** Returns the job on which the caller holds a lease, or the refusal. */
export const jobOfCaller = (
  state: PoolState,
  holder: LeaseHolder,
  context: DecisionContext,
): JobEntry | Decision<never> => {
  if (!verifiedAgent(state, holder)) return unknownToken();
  const { jobId, agentId, fence } = holder;
  const entry = findEntry(state, jobId);
  if (entry && context.rules.holdsLease(entry.job, agentId, fence)) return entry;
  return entry || isRemembered(state, jobId) ? leaseLost() : unknownId();
};

export const isRefused = (entry: JobEntry | Decision<never>): entry is Decision<never> => "answer" in entry;

/** Confirms that the agent received the job. The attempt counts from now on, and heartbeats renew the lease. */
export const start = (state: PoolState, holder: LeaseHolder, context: DecisionContext): Decision<string> => {
  const entry = jobOfCaller(state, holder, context);
  if (isRefused(entry)) return entry;
  const { job } = entry;
  const lease = job.lease!;
  if (job.status === "running") return decided(job.id);
  if (!isAllowed("start", job)) return refused("conflict", "The build was canceled: drop it and poll again.");
  const { now, leaseMs } = context;
  const expiresAt = Math.max(lease.expiresAt, now + leaseMs);
  // An agent with a socket sends its heartbeats there. The first heartbeat then has nothing to store.
  const keptBy = state.waiters.get(holder.agentId)?.until === null ? "socket" : null;
  const times = { startedAt: now, expiresAt, writtenUntil: expiresAt };
  const startedLease: JobLease = { ...lease, ...times, graced: false, keptBy };
  const attempt = job.attempt + 1;
  const changes: Change[] = [
    { kind: "job", job: { ...job, status: "running", startedAt: now, attempt, lease: startedLease, pause: undefined } },
  ];
  const agent = state.agents.get(holder.agentId)!;
  if (agent.ignored > 0) changes.push({ kind: "agent", agent: { ...agent, ignored: 0 } });
  changes.push({ kind: "report", jobId: job.id, report: { steps: [], summary: null }, at: now });
  return decided(job.id, changes);
};

/** Renews the lease. Stores the renewal unless the heartbeat came over the socket and the stored deadline is recent. */
const renewal = (job: JobFacts, { bySocket }: HeartbeatRequest, context: DecisionContext): Change[] => {
  const { now, leaseMs, storedForMs, rules } = context;
  const lease = job.lease!;
  if (lease.startedAt === null) return [];
  const expiresAt = rules.extended(lease, now, leaseMs);
  const keptBy = bySocket ? "socket" : null;
  const isKept = !lease.graced && (lease.keptBy ?? null) === keptBy;
  if (isKept && expiresAt === lease.expiresAt) return [];
  if (isKept && bySocket && expiresAt <= (lease.writtenUntil ?? lease.expiresAt) + storedForMs)
    return [{ kind: "renewal", jobId: job.id, expiresAt }];
  const renewedLease = { ...lease, expiresAt, writtenUntil: expiresAt, graced: false, keptBy } as const;
  return [{ kind: "job", job: { ...job, lease: renewedLease } }];
};

/** Renews the lease, and answers whether the agent must stop the job. */
export const heartbeat = (state: PoolState, beat: HeartbeatRequest, context: DecisionContext): Decision<Heartbeat> => {
  const { now, leaseMs, rules } = context;
  const { agentId, bootId, fence = null } = beat;
  const agent = verifiedAgent(state, beat);
  if (!agent) return unknownToken();
  if (fence === null) return decided({ cancel: false });
  const jobId = beat.jobId ?? state.index.holding.get(agentId);
  const entry = jobId === undefined ? undefined : findEntry(state, jobId);
  const isHolder = entry && rules.holdsLease(entry.job, agentId, fence) && !rules.isStale(agent, bootId);
  if (!isHolder) return decided({ cancel: true, reason: "lease-lost" });
  const lease = entry.job.lease!;
  const expiresAt = lease.startedAt === null ? lease.expiresAt : rules.extended(lease, now, leaseMs);
  const leaseExpiresAt = new Date(expiresAt).toISOString();
  const changes = renewal(entry.job, beat, context);
  if (!lease.stop) return decided({ cancel: false, leaseExpiresAt }, changes);
  const stopNotice: Change = { kind: "stop-told", jobId: entry.job.id, at: null };
  return decided({ cancel: true, reason: lease.stop.reason, leaseExpiresAt }, [...changes, stopNotice]);
};

/**
 * Stores the agent's findings: steps, summary, the commit of a branch or tag, and the commit with which it was
 * compared.
 */
export const progress = (
  state: PoolState,
  progressReport: ProgressReport,
  context: DecisionContext,
): Decision<null> => {
  const entry = jobOfCaller(state, progressReport, context);
  if (isRefused(entry)) return entry;
  const { job } = entry;
  if (!isAllowed("finish", job)) return refused("conflict", "The build was not started.");
  const report: Partial<Report> = {};
  if (progressReport.steps) report.steps = progressReport.steps;
  else if (progressReport.masksCame) report.masksCame = true;
  if (progressReport.summary !== undefined) report.summary = progressReport.summary;
  const findings = [...commitChanges(entry, progressReport, context), ...testChanges(entry, progressReport)];
  if (Object.keys(report).length === 0) return decided(null, findings);
  return decided(null, [{ kind: "report", jobId: job.id, report, at: context.now }, ...findings]);
};

/**
 * Releases the job for its agent. The agent may name the pipeline file's requirements, or report that another agent can
 * fetch files that it cannot fetch itself. Neither report uses an attempt. An agent that somebody stops (`interrupted`)
 * loses its attempt.
 */
export const release = (state: PoolState, request: ReleaseRequest, context: DecisionContext): Decision<string> => {
  const entry = jobOfCaller(state, request, context);
  if (isRefused(entry)) return entry;
  const { job } = entry;
  const { agentId, reason } = request;
  if (request.interrupted) return decided(job.id, loseLease(entry, state.agents.get(agentId), "stopped", context));
  if (job.status === "canceling") return decided(job.id, endCanceled(entry, context));
  if (job.lease?.stop) return decided(job.id, endOvertime(entry, context));
  if (request.elsewhere) return reassign(state, entry, agentId, reason, context);
  const requires = mergeRequires(job.requires, request.requires ?? {});
  if (!requires || job.releasedBy.length >= POOL_LIMITS.releases) {
    return decided(job.id, endJob(entry, UNMET, reason, context));
  }
  const attempt = job.lease!.startedAt === null ? job.attempt : context.rules.attemptAfterRelease(job);
  const releasedBy = [...job.releasedBy, agentId];
  return decided(job.id, requeue(entry, { requires, attempt, releasedBy }, context, reason));
};

const UNMET: Outcome = { status: "failed", exitCode: null, reason: "requirements-unmet" };

/** Ends the job with the agent's result. A repeated result gets the same answer; a different one is rejected. */
export const finish = (state: PoolState, report: FinishReport, context: DecisionContext): Decision<string> => {
  const { agentId, jobId, fence } = report;
  if (!verifiedAgent(state, report)) return unknownToken();
  const reportedOutcome: Outcome = {
    status: report.status,
    exitCode: report.exitCode ?? null,
    reason: report.reason ?? null,
  };
  const entry = findEntry(state, jobId);
  if (!entry) return finishAgain(state, report, reportedOutcome, context);
  const { job } = entry;
  if (!context.rules.holdsLease(job, agentId, fence))
    return job.lease ? leaseLost() : sayAgain(job, report, reportedOutcome, context);
  if (!isAllowed("finish", job)) return refused("conflict", "The build was not started.");
  const refusedOutputs = outputsProblem(state, job, report);
  const outcome = context.rules.ending(entry, refusedOutputs ? OUTPUT_REFUSED : reportedOutcome);
  const outputs = outputChanges(entry, outcome, report);
  const isOwnMessage = outcome.reason !== "timeout" || report.reason === "timeout";
  const message =
    refusedOutputs ??
    (isOwnMessage ? report.message : null) ??
    (outcome.reason === "timeout" ? overtimeMessage(job) : null);
  const finishedEntry = { ...entry, job: { ...job, result: reportedOutcome } };
  const end = () =>
    job.status === "canceling"
      ? endCanceled(finishedEntry, context, message, outcome)
      : endJob(finishedEntry, outcome, message, context);
  return decided(jobId, [
    ...outputs,
    ...(anotherTry(finishedEntry, outcome, message, context) ?? [...whyFailed(report, outcome, context), ...end()]),
    ...retireEphemeral(state.agents.get(agentId), context),
  ]);
};

const whyFailed = ({ jobId, failedLine }: FinishReport, { status }: Outcome, { now }: DecisionContext): Change[] =>
  failedLine && status === "failed" ? [{ kind: "report", jobId, report: { failedLine }, at: now }] : [];

const finishAgain = (
  state: PoolState,
  report: FinishReport,
  reportedOutcome: Outcome,
  context: DecisionContext,
): Decision<string> => {
  const endedEntry = state.records.endedJob(report.jobId);
  if (endedEntry) return sayAgain(endedEntry.job, report, reportedOutcome, context);
  return isRemembered(state, report.jobId) ? leaseLost() : unknownId();
};

/** Repeats an answer that may have been lost, for an ended job or for a try that another try followed. */
const sayAgain = (
  { fence, agentId, result }: JobFacts,
  report: FinishReport,
  reportedOutcome: Outcome,
  { rules }: DecisionContext,
): Decision<string> => {
  const isItsLease = fence === 0 || fence === report.fence;
  if (!result || !isItsLease || agentId !== report.agentId) return leaseLost();
  if (rules.isSameResult(result, reportedOutcome)) return decided(report.jobId);
  return refused("conflict", "The build has already ended with a different result.");
};

const OUTPUT_REFUSED: Outcome = { status: "failed", exitCode: null, reason: "output-refused" };

/** Counts the UTF-8 bytes of names and values. */
const countBytes = (outputs: Record<string, string>): number => {
  const encoder = new TextEncoder();
  return Object.entries(outputs).reduce((sum, texts) => sum + encoder.encode(texts.join("")).length, 0);
};

/** Returns why a succeeded job's outputs are too large, or null if they are small enough. */
const outputsProblem = (state: PoolState, { buildId }: JobFacts, { status, outputs }: FinishReport): string | null => {
  if (!outputs || status !== "succeeded") return null;
  const size = countBytes(outputs);
  if (size === 0) return null;
  if (size > LIMITS.outputBytes) {
    const [largest] = Object.entries(outputs).sort((one, other) => other[1].length - one[1].length);
    return `Its outputs are larger than ${byteSize(LIMITS.outputBytes)}; the largest is ${largest![0].slice(0, 200)}.`;
  }
  let sum = size;
  for (const { id, status: jobStatus } of jobsOf(state, buildId))
    if (jobStatus === "succeeded") sum += countBytes(state.records.outputs(id));
  return sum > LIMITS.buildOutputBytes
    ? `With them, the build's outputs would be larger than ${byteSize(LIMITS.buildOutputBytes)}.`
    : null;
};

/** Stores the job's outputs for the jobs that need it. Only the succeeded attempt has outputs. */
const outputChanges = (
  { job: { id, buildId, fence: last } }: JobEntry,
  { status }: Outcome,
  { outputs, fence }: FinishReport,
): Change[] =>
  outputs && status === "succeeded" && fence === last && Object.keys(outputs).length > 0
    ? [{ kind: "outputs", buildId, jobId: id, outputs }]
    : [];
