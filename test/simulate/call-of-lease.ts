import type { JobFacts, Outcome } from "../../src/queue/state/facts.ts";
import type { AnyInput, Call, ObservedJob } from "./observations.ts";
import { isLeased } from "./specification.ts";

/** Whether the time of its lease is over. */
export const isOvertime = ({ lease, timeoutSeconds }: JobFacts, now: number) =>
  lease?.stop?.reason === "timeout" || now >= (lease?.startedAt ?? Infinity) + timeoutSeconds * 1000;

/** The result as an agent told it. */
export const reportedOutcome = ({ status, exitCode, reason }: AnyInput): Outcome => ({
  status,
  exitCode: exitCode ?? null,
  reason: reason ?? null,
});

/** Whether the call tells what was told under the same lease before. */
export const isReportedAgain = ({ input }: Call, { reported, reportedUnder }: ObservedJob): boolean =>
  (reportedUnder === null || reportedUnder === input.fence) &&
  JSON.stringify(reported) === JSON.stringify(reportedOutcome(input));

/** Whether the caller held the lease that it names, before this call. */
export const heldCurrentLease = ({ job, input }: Call): boolean =>
  !!job && isLeased(job.status) && job.lease?.fence === input.fence && job.lease?.agentId === input.agentId;
