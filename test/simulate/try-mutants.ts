import type { FinishReport } from "../../src/queue/commands/commands.ts";
import type { JobView } from "../../src/queue/jobs/rules.ts";
import type { Change, JobFacts, Outcome } from "../../src/queue/state/facts.ts";
import { RULES } from "../../src/queue/state/rules.ts";
import type { PoolState } from "../../src/queue/state/state.ts";
import type { JobMutant } from "./job-mutants.ts";
import { planted } from "./planted.ts";
import type { WrongRules } from "./pool.ts";

const FAILED: Outcome = { status: "failed", exitCode: 1, reason: null };

/** Reports whether it waits for another try. */
const isBetweenTries = ({ status, retries }: JobView): boolean => status === "queued" && retries > 0;

/** Machines with wrong tries of jobs. */
export const TRY_MUTANTS: readonly JobMutant[] = [
  [
    41,
    "a successful job is retried",
    {
      triesAgain: (job, outcome) => RULES.triesAgain(job, outcome.status === "succeeded" ? FAILED : outcome),
    },
  ],
  [
    41,
    "a canceled job is retried",
    {
      triesAgain: (job, outcome) =>
        job.status === "canceling"
          ? RULES.triesAgain({ ...job, status: "running" }, FAILED)
          : RULES.triesAgain(job, outcome),
    },
  ],
  [
    41,
    "there is one try too many",
    { triesAgain: (job, outcome) => RULES.triesAgain({ ...job, retry: (job.retry ?? 0) + 1 }, outcome) },
  ],
  [41, "no job is retried", { triesAgain: () => false }],
  [
    41,
    "a job is retried whatever failed",
    { triesAgain: (job, outcome) => RULES.triesAgain(job, { ...outcome, reason: null }) },
  ],
  [
    41,
    "a try that timed out ends its job",
    { triesAgain: (job, outcome) => outcome.reason === null && RULES.triesAgain(job, outcome) },
  ],
  [41, "failed tries are not counted", planted("queue/commands/lease.ts", "{ retries: (job.retries ?? 0) + 1 }", "{}")],
  [
    6,
    "a failed try counts as a lost lease",
    planted("queue/commands/lease.ts", "attempt - retries < maxAttempts", "attempt < maxAttempts"),
  ],
  [
    6,
    "a try repeats the previous number",
    planted(
      "queue/commands/lease.ts",
      "{ retries: (job.retries ?? 0) + 1 }",
      "{ attempt: job.attempt - 1, retries: (job.retries ?? 0) + 1 }",
    ),
  ],
  [
    22,
    "a failed try is the end of a need",
    { isReady: (needs) => needs.every(({ view }) => view.end !== null || isBetweenTries(view)) },
  ],
  [
    27,
    "a failed try ends its circle",
    { tripsFailFast: (view) => RULES.tripsFailFast(view) || (isBetweenTries(view) && !view.job.mayFail) },
  ],
  [
    24,
    "a build ends while a job waits for its next try",
    { buildIsOver: (jobs) => jobs.every((view) => view.end !== null || isBetweenTries(view)) },
  ],
  [
    36,
    "a place is lost between two tries",
    {
      holdsPlace: (holds, jobs) =>
        RULES.holdsPlace(
          holds,
          jobs.filter((view) => !isBetweenTries(view)),
        ),
    },
  ],
  [29, "a semaphore is not free while its job waits for its next try", { sabotage: keepingSemaphoresOfTries() }],
  [30, "outputs of a failed try are kept", { besides: afterTry(outputsOf) }],
  [42, "a gate asks again before the next try", { besides: afterTry(askAgain) }],
  [42, "a failed try goes to the end of the queue", { besides: afterTry(becomeYounger) }],
];

interface FailedTry {
  state: PoolState;
  job: JobFacts;
  input: unknown;
}

/** Adds changes to a step after which a job waits for its next try. */
function afterTry(add: (failed: FailedTry) => Change[]): WrongRules["besides"] {
  return (state, changes, input) =>
    changes.flatMap((change) => {
      if (change.kind !== "job") return [];
      const { job } = change;
      const before = state.jobs.get(job.id);
      const isFailed = before !== undefined && (job.retries ?? 0) > (before.retries ?? 0);
      return isFailed ? add({ state, job, input }) : [];
    });
}

function outputsOf({ job, input }: FailedTry): Change[] {
  const outputs = ((input ?? {}) as Partial<FinishReport>).outputs ?? {};
  return [{ kind: "outputs", buildId: job.buildId, jobId: job.id, outputs }];
}

function askAgain({ job }: FailedTry): Change[] {
  return job.gate ? [{ kind: "job", job: { ...job, gate: { ...job.gate, decision: null } } }] : [];
}

function becomeYounger({ state, job }: FailedTry): Change[] {
  return [{ kind: "job", job: { ...job, seq: state.seq + 1 } }];
}

/** Semaphores that stay with their holder after a failed try. */
function keepingSemaphoresOfTries(): WrongRules["sabotage"] {
  return ({ index: { semaphores }, jobs }) => {
    const { countLease } = Object.getPrototypeOf(semaphores);
    const waits = ({ lease, retries = 0 }: JobFacts): boolean => lease === null && retries > 0;
    const before = new Set([...jobs.values()].filter(waits).map(({ id }) => id));
    semaphores.countLease = (semaphore, by) => {
      const isAfterTry = by < 0 && [...jobs.values()].some((job) => waits(job) && !before.has(job.id));
      if (!isAfterTry) countLease.call(semaphores, semaphore, by);
    };
  };
}
