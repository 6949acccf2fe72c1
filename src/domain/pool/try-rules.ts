import type { JobEndStatus } from "../jobs/job-end.ts";
import type { JobFacts, Outcome } from "./facts.ts";

/** How one try of a job ended. */
type Tried = Pick<Outcome, "reason"> & { status: JobEndStatus };

/** The rules of jobs that are tried again after their steps failed. The simulation replaces one at a time. */
export interface TryRules {
  /** Whether another try follows one that ended so. */
  triesAgain(job: Pick<JobFacts, "status" | "retry" | "retries">, outcome: Tried): boolean;
  /** What is counted once a try has failed and another follows. */
  afterFailedTry(job: JobFacts): Pick<JobFacts, "attempt" | "retries">;
}

/** Steps failed, or the time of one try was over. Another try would not mend what else can end a job. */
const mayBeMended = ({ status, reason }: Tried): boolean =>
  status === "failed" && (reason === null || reason === "timeout");

export const TRY_RULES: TryRules = {
  triesAgain: ({ status, retry = 0, retries = 0 }, outcome) =>
    status === "running" && mayBeMended(outcome) && retries < retry,
  afterFailedTry: ({ attempt, retries = 0 }) => ({ attempt, retries: retries + 1 }),
};
