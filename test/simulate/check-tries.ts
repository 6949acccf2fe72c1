import type { GraphJob } from "../../src/domain/jobs/graph.ts";
import type { BuildFacts, Change, JobFacts } from "../../src/domain/pool/facts.ts";
import { heldCurrentLease, isOvertime, isReportedAgain, reportedOutcome } from "./call-of-lease.ts";
import type { Call, CheckContext, ObservedBuild } from "./observations.ts";
import { LEASE_GRID } from "./specification.ts";
import { must } from "./violation.ts";

/** What the file says of the job; undefined for a build of one job. */
const graphJobOf = ({ observed, storage }: CheckContext, id: string): GraphJob | undefined =>
  storage.rows.graphs.get(observed.builds.get(id)?.jobOf ?? "")?.graph.jobs.find((job) => job.id === id);

const triesLeft = (context: CheckContext, id: string): number =>
  (graphJobOf(context, id)?.retry ?? 0) - context.observed.builds.get(id)!.failedTries;

/** A result that another try may mend: that steps failed, and nothing else. */
const isOfSteps = ({ input }: Call): boolean => input.status === "failed" && reportedOutcome(input).reason === null;

/** The build as these changes leave it. */
const buildIn = (changes: readonly Change[], id: string): BuildFacts | undefined => {
  const last = changes.findLast((change) => change.kind === "build" && change.build.id === id);
  return last?.kind === "build" ? last.build : undefined;
};

/** Looks at jobs that go back to the queue after a failed try, before this is stored. */
export const checkTries = (context: CheckContext, changes: readonly Change[]): void => {
  for (const change of changes) {
    if (change.kind !== "job") continue;
    const { job } = change;
    const before = context.storage.rows.jobs.get(job.id);
    const build = before?.lease && !job.lease ? buildIn(changes, job.id) : undefined;
    if (build?.status === "queued" && endsTry(context, before!, job))
      checkNextTry(context, build, before!, job, changes);
    const failed = context.observed.builds.get(job.id)?.failedTries ?? 0;
    must(41, (job.retries ?? 0) === failed, "the retries of a job are not its failed tries");
  }
};

/**
 * By its agent's result, or because its time is over: not by a lease that was lost, or a release. A pool that looks
 * after a lease late may still take the result.
 */
const endsTry = ({ call: { command, input, now } }: CheckContext, before: JobFacts, next: JobFacts): boolean => {
  const { buildId, lease } = before;
  const isTold = command === "finish" && input.buildId === buildId && input.fence === lease!.fence;
  const isCounted = (next.retries ?? 0) > (before.retries ?? 0);
  const isInTime = now < lease!.expiresAt || (isCounted && now < lease!.expiresAt + LEASE_GRID);
  return (isTold && isInTime) || isOvertime(before, now);
};

const checkNextTry = (
  context: CheckContext,
  build: BuildFacts,
  before: JobFacts,
  job: JobFacts,
  changes: readonly Change[],
): void => {
  const { call, storage, observed } = context;
  const { id } = job;
  const seen = observed.builds.get(id)!;
  const stored = storage.rows.builds.get(id)!;
  must(41, triesLeft(context, id) > 0, "a job is tried again more often than its file says");
  must(41, !seen.isCanceled && stored.status === "running", `a job that is ${stored.status} is tried again`);
  must(41, isOvertime(before, call.now) || isOfSteps(call), `a job is tried again after ${call.input?.status}`);
  must(42, build.seq === stored.seq && build.queuedAt === stored.queuedAt, "a failed try cost the job its place");
  for (const change of changes) {
    must(42, change.kind !== "node" || change.node.id !== id, "a failed try changed what is known of its job");
    must(30, change.kind !== "outputs" || change.jobId !== id, "outputs of a failed try are kept");
  }
  seen.failedTries++;
  seen.lastTry = { fence: before.lease!.fence, agentId: before.lease!.agentId };
};

/** Whether the call names the lease of the last try that failed, which no other lease followed. */
const namesLastTry = ({ input, job }: Call, { lastTry }: ObservedBuild): boolean =>
  job?.lease === null &&
  job.fence === input.fence &&
  lastTry?.fence === input.fence &&
  lastTry?.agentId === input.agentId;

/** @returns whether the result was that of a try, now or before, that another one follows */
export const checkFinishOfTry = (context: CheckContext, call: Call): boolean => {
  const { input, build, job, now } = call;
  const seen = context.observed.builds.get(input.buildId)!;
  if (build?.status === "queued" && namesLastTry(call, seen)) {
    must(9, isReportedAgain(call, seen), "a second, different result of a try was accepted");
    return true;
  }
  const isTried = seen.lastTry?.fence === input.fence;
  const { status } = context.storage.rows.builds.get(input.buildId)!;
  const hadMore = triesLeft(context, input.buildId) + (isTried ? 1 : 0) > 0;
  const mayRun = build?.status === "running" && status !== "canceled" && heldCurrentLease(call);
  const wants = mayRun && hadMore && (isOvertime(job!, now) || isOfSteps(call));
  must(41, isTried === wants, isTried ? "a job goes on that has ended" : "a job ended that has another try");
  if (isTried) Object.assign(seen, { reported: reportedOutcome(input), reportedUnder: input.fence });
  return isTried;
};

/** The same result of the last try has the same answer, until another agent has the job. */
export const checkRefusedTry = ({ observed }: CheckContext, call: Call): void => {
  const seen = observed.builds.get(call.input.buildId);
  if (call.build?.status !== "queued" || !seen || !namesLastTry(call, seen)) return;
  must(9, !isReportedAgain(call, seen), "the same result of a try again was refused");
};
