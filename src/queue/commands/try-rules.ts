import type { JobEndStatus } from "../../pipeline/graph/job-end.ts";
import type { JobFacts, Outcome } from "../state/facts.ts";

/** How one try of a job ended. */
type Tried = Pick<Outcome, "reason"> & { status: JobEndStatus };

/** Steps failed, or the time of one try was over. Another try would not mend what else can end a job. */
const mayBeMended = ({ status, reason }: Tried): boolean =>
  status === "failed" && (reason === null || reason === "timeout");

/** Whether another try follows one that ended so. */
export const triesAgain = (
  { status, retry = 0, retries = 0 }: Pick<JobFacts, "status" | "retry" | "retries">,
  outcome: Tried,
): boolean => status === "running" && mayBeMended(outcome) && retries < retry;
