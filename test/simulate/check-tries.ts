import type { GraphJob } from "../../src/pipeline/graph/graph.ts";
import type { Change, JobFacts } from "../../src/queue/state/facts.ts";
import { heldCurrentLease, isOvertime, isReportedAgain, reportedOutcome } from "./call-of-lease.ts";
import type { Call, CheckContext, ObservedJob } from "./observations.ts";
import { LEASE_GRID } from "./specification.ts";
import { must } from "./violation.ts";

/** Returns the job in the file; undefined if no plan has it. */
const graphJobOf = ({ observed, storage }: CheckContext, id: string): GraphJob | undefined =>
  storage.rows.graphs.get(observed.jobs.get(id)?.buildId ?? "")?.graph.jobs.find((job) => job.id === id);

const triesLeft = (context: CheckContext, id: string): number =>
  (graphJobOf(context, id)?.retry ?? 0) - context.observed.jobs.get(id)!.failedTries;

/** Only a result of failed steps allows another try. */
const isOfSteps = ({ input }: Call): boolean => input.status === "failed" && reportedOutcome(input).reason === null;

/** Checks jobs that go back to the queue after a failed try, before this is stored. */
export const checkTries = (context: CheckContext, changes: readonly Change[]): void => {
  for (const change of changes) {
    if (change.kind !== "job") continue;
    const { job } = change;
    const before = context.storage.rows.jobs.get(job.id);
    const isBack = before?.lease && job.status === "queued";
    if (isBack && endsTry(context, before, job)) checkNextTry(context, before, job, changes);
    const failed = context.observed.jobs.get(job.id)?.failedTries ?? 0;
    must(41, (job.retries ?? 0) === failed, "a job's retries differ from its failed tries");
  }
};

/**
 * By its agent's result, or because its time is over: not by a lost lease, or a release. A pool that checks a lease
 * late may still accept the result.
 */
const endsTry = ({ call: { command, input, now } }: CheckContext, before: JobFacts, next: JobFacts): boolean => {
  const { id, lease } = before;
  const isTold = command === "finish" && input.jobId === id && input.fence === lease!.fence;
  const isCounted = (next.retries ?? 0) > (before.retries ?? 0);
  const isInTime = now < lease!.expiresAt || (isCounted && now < lease!.expiresAt + LEASE_GRID);
  return (isTold && isInTime) || isOvertime(before, now);
};

const checkNextTry = (context: CheckContext, before: JobFacts, job: JobFacts, changes: readonly Change[]): void => {
  const { call, observed } = context;
  const { id } = job;
  const seen = observed.jobs.get(id)!;
  must(41, triesLeft(context, id) > 0, "a job is retried more often than its file says");
  must(41, !seen.isCanceled && before.status === "running", `a job that is ${before.status} was retried`);
  must(41, isOvertime(before, call.now) || isOfSteps(call), `a job is tried again after ${call.input?.status}`);
  must(42, job.seq === before.seq && job.queuedAt === before.queuedAt, "a failed try cost the job its place");
  must(42, JSON.stringify(job.gate) === JSON.stringify(before.gate), "a failed try changed its job's facts");
  for (const change of changes) {
    must(30, change.kind !== "outputs" || change.jobId !== id, "outputs of a failed try are kept");
  }
  seen.failedTries++;
  seen.lastTry = { fence: before.lease!.fence, agentId: before.lease!.agentId };
};

/** Reports whether the call names the lease of the last failed try, which no other lease followed. */
const namesLastTry = ({ input, job }: Call, { lastTry }: ObservedJob): boolean =>
  job?.lease === null &&
  job.fence === input.fence &&
  lastTry?.fence === input.fence &&
  lastTry?.agentId === input.agentId;

/** @returns whether the result belongs to a try, current or earlier, that another one follows */
export const checkFinishOfTry = (context: CheckContext, call: Call): boolean => {
  const { input, job, now } = call;
  const seen = context.observed.jobs.get(input.jobId)!;
  if (job?.status === "queued" && namesLastTry(call, seen)) {
    must(9, isReportedAgain(call, seen), "a second, different result of a try was accepted");
    return true;
  }
  const isTried = seen.lastTry?.fence === input.fence;
  const { status } = context.storage.rows.jobs.get(input.jobId)!;
  const hadMore = triesLeft(context, input.jobId) + (isTried ? 1 : 0) > 0;
  const mayRun = job?.status === "running" && status !== "canceled" && heldCurrentLease(call);
  const wants = mayRun && hadMore && (isOvertime(job!, now) || isOfSteps(call));
  must(41, isTried === wants, isTried ? "an ended job continues" : "a job ended that has another try");
  if (isTried) Object.assign(seen, { reported: reportedOutcome(input), reportedUnder: input.fence });
  return isTried;
};

/** The same result of the last try has the same answer, until another agent has the job. */
export const checkRefusedTry = ({ observed }: CheckContext, call: Call): void => {
  const seen = observed.jobs.get(call.input.jobId);
  if (call.job?.status !== "queued" || !seen || !namesLastTry(call, seen)) return;
  must(9, !isReportedAgain(call, seen), "a repeated result of a try was rejected");
};
