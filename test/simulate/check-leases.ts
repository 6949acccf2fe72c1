import type { PoolState } from "../../src/queue/state/state.ts";
import { heldCurrentLease, isOvertime, isReportedAgain, reportedOutcome } from "./call-of-lease.ts";
import { isPaused } from "./check-pause.ts";
import { firstEligible, isPlanned } from "./check-state.ts";
import { checkFinishOfTry } from "./check-tries.ts";
import type { AnyInput, Call, CheckContext } from "./observations.ts";
import { GRACE_AFTER_STOP_MS, isEnded, LEASE_MS, OUTAGE_MS, STORED_FOR_MS } from "./specification.ts";
import { must } from "./violation.ts";

export const mustHoldLease = (state: PoolState, call: Call): void => {
  must(3, heldCurrentLease(call), `${call.command} under a stale lease was accepted`);
  must(5, state.jobs.get(call.input.jobId)?.lease?.fence === call.input.fence, "a lease that had ended was revived");
};

const recordPromise = (context: CheckContext, jobId: string, until: number): void => {
  context.observed.jobs.get(jobId)!.promisedUntil = until;
};

export const checkStart = (context: CheckContext, state: PoolState, call: Call): void => {
  mustHoldLease(state, call);
  const { agentId, jobId } = call.input;
  const seen = context.observed.jobs.get(jobId)!;
  context.observed.agents.get(agentId)!.ignored = 0;
  must(10, !seen.isCanceled, "a canceled build was started");
  if (call.job!.status === "assigned") recordPromise(context, jobId, Math.max(seen.promisedUntil, call.now + LEASE_MS));
};

export const checkDelivery = (context: CheckContext, state: PoolState, call: Call): void => {
  mustHoldLease(state, call);
  const { jobId } = call.input;
  must(10, !context.observed.jobs.get(jobId)!.isCanceled, "a canceled job was delivered");
  must(13, call.audits.includes(`build.deliver ${jobId}`), "secrets were delivered without an audit entry");
};

/** A build is released at most once because its agent could not fetch it; a canceled one ends instead. */
export const checkRelease = (context: CheckContext, call: Call): void => {
  must(3, heldCurrentLease(call), "a release without the lease was accepted");
  const { jobId, elsewhere } = call.input;
  const seen = context.observed.jobs.get(jobId)!;
  if (seen.lastTry?.fence === call.input.fence) return;
  if (!elsewhere || context.storage.rows.jobs.get(jobId)!.status !== "queued") return;
  must(12, ++seen.unfetchedReleases === 1, "a build was released twice without a fetch");
};

export const checkClaim = (
  context: CheckContext,
  state: PoolState,
  value: AnyInput,
  { input, now, heldJob }: Call,
): void => {
  const agent = state.agents.get(input.agentId)!;
  const boots = context.observed.agents.get(input.agentId)!.boots;
  const isNewBoot = !!input.bootId && !boots.includes(input.bootId);
  const isOldBoot = !!input.bootId && !isNewBoot && boots.at(-1) !== input.bootId;
  if (isOldBoot) {
    must(8, value === null, "the agent's earlier boot got a build");
    return;
  }
  const held = heldJob === undefined ? undefined : context.storage.rows.jobs.get(heldJob);
  const lease = held?.lease;
  if (
    lease &&
    lease.agentId === input.agentId &&
    lease.startedAt === null &&
    !isNewBoot &&
    held?.status === "assigned" &&
    now < lease.expiresAt
  ) {
    must(8, value?.jobId === heldJob && value.fence === lease.fence, "an unstarted lease was not handed out again");
  }
  if (value) {
    const job = state.jobs.get(value.jobId);
    must(
      8,
      job?.lease?.fence === value.fence && job?.lease?.agentId === input.agentId,
      "the answer names a lease that does not exist",
    );
    must(5, value.expiresAt <= (job?.lease?.expiresAt ?? 0), "the answer promises more time than the lease has");
    must(10, !context.observed.jobs.get(value.jobId)!.isCanceled, "a canceled build was handed out");
    must(8, job?.status === "assigned", "a started build was handed out again");
    recordPromise(context, value.jobId, value.expiresAt);
    return;
  }
  const isAble =
    !state.index.holding.has(input.agentId) && !agent.isDraining && agent.spentAt === null && agent.ignored < 2;
  if (!isAble || isPaused(context.observed.pause, now)) return;
  const withheld = firstEligible(state, context.storage, agent, now);
  must(29, !withheld || !isPlanned(withheld), "a ready job was withheld");
  must(12, withheld === undefined, "an eligible build was withheld");
};

export const checkHeartbeat = (context: CheckContext, state: PoolState, value: AnyInput, call: Call): void => {
  const { input, now } = call;
  context.observed.agents.get(input.agentId)!.ignored = 0;
  if (input.fence == null || value.reason === "lease-lost") return;
  mustHoldLease(state, call);
  const seen = context.observed.jobs.get(input.jobId)!;
  const until = Date.parse(value.leaseExpiresAt);
  must(
    5,
    state.jobs.get(input.jobId)!.lease!.expiresAt === until,
    "the heartbeat names another deadline than the lease",
  );
  const lease = state.jobs.get(input.jobId)!.lease!;
  if (lease.startedAt !== null) seen.unaskedExtensions = 0;
  // The checks of jobs cover everything that the same call canceled.
  const isJobStopped = state.jobs.get(input.jobId)?.status === "canceling";
  if (seen.isCanceled || isJobStopped)
    must(
      10,
      value.cancel && value.reason === lease.stop?.reason,
      "the heartbeat does not say that the build is canceled",
    );
  else if (lease.stop)
    must(10, value.cancel && value.reason === "timeout", "the heartbeat does not say that the build timed out");
  else must(10, !value.cancel, "the heartbeat stops a build without a reason");
  if (lease.startedAt !== null && !lease.stop) {
    must(5, until >= now + LEASE_MS, "the heartbeat did not extend the lease");
    const stored = context.storage.rows.jobs.get(input.jobId)!.lease!.expiresAt;
    must(5, stored >= now + STORED_FOR_MS, "the stored deadline is too old to outlive a missed heartbeat");
  }
  if (lease.stop) {
    const had = call.job!.lease!.expiresAt;
    const graced = now - had > OUTAGE_MS ? now + LEASE_MS : had;
    must(
      17,
      until <= Math.max(lease.stop.at + GRACE_AFTER_STOP_MS, seen.promisedUntil, graced),
      "a stopped build is kept alive",
    );
  }
  recordPromise(context, input.jobId, until);
};

/**
 * The time of the build, or for cleanup after a cancel, is over: the same call may cancel the job before it reads the
 * result.
 */
const isOfOverdueBuild = ({ storage, call }: CheckContext, buildId: string): boolean => {
  const { until, cancel } = storage.rows.builds.get(buildId)!;
  return call.now >= Math.min(until ?? Infinity, cancel?.until ?? Infinity);
};

export const checkFinish = (context: CheckContext, call: Call): void => {
  const { input, job } = call;
  const seen = context.observed.jobs.get(input.jobId)!;
  const reported = reportedOutcome(input);
  const ended = context.storage.rows.jobs.get(input.jobId)!;
  if (!job?.end && checkFinishOfTry(context, call)) return;
  must(9, isEnded(ended.status), "an accepted finish did not end the job");
  if (job?.end) {
    must(9, isReportedAgain(call, seen), "a second, different result was accepted");
    // A restored pool knows from D1 who ended the build, but not under which fence.
    const isItsLease = job.fence === 0 || job.fence === input.fence;
    must(3, isItsLease && job.agentId === input.agentId, "the finish of another lease was accepted");
    return;
  }
  must(3, heldCurrentLease(call), "a finish under a stale lease was accepted");
  const isCanceledNow = ended.status === "canceled" && isOfOverdueBuild(context, seen.buildId);
  must(4, job?.status !== "assigned" || isCanceledNow, "a job ended before it started");
  Object.assign(seen, { reported, reportedUnder: input.fence });
  context.observed.posted.set(input.jobId, { fence: input.fence, outputs: input.outputs ?? {} });
  const expected = input.status === "succeeded" ? "succeeded" : "failed";
  if (seen.isCanceled) must(10, ended.status === "canceled", `a canceled job ended ${ended.status}`);
  else if (isCanceledNow) return;
  else if (ended.end?.reason === "timeout") must(17, isOvertime(job!, call.now), "a job timed out before its time");
  else must(9, ended.status === expected, `${input.status} became ${ended.status}`);
};
