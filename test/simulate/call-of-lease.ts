import type { JobFacts, Outcome } from "../../src/queue/state/facts.ts";
import type { AnyInput, Call, ObservedJob } from "./observations.ts";
import { isLeased } from "./specification.ts";

/** Reports whether the time of its lease is over. */
export const isOvertime = ({ lease, timeoutSeconds }: JobFacts, now: number) =>
  lease?.stop?.reason === "timeout" || now >= (lease?.startedAt ?? Infinity) + timeoutSeconds * 1000;

/** Returns the result that an agent reported. */
export const reportedOutcome = ({ status, exitCode, reason }: AnyInput): Outcome => ({
  status,
  exitCode: exitCode ?? null,
  reason: reason ?? null,
});

/** Reports whether the call repeats an earlier report under the same lease. */
export const isReportedAgain = ({ input }: Call, { reported, reportedUnder }: ObservedJob): boolean =>
  (reportedUnder === null || reportedUnder === input.fence) &&
  JSON.stringify(reported) === JSON.stringify(reportedOutcome(input));

/** Reports whether the caller held the lease that it names, before this call. */
export const heldCurrentLease = ({ job, input }: Call): boolean =>
  !!job && isLeased(job.status) && job.lease?.fence === input.fence && job.lease?.agentId === input.agentId;
