import type { GraphJob } from "../../src/pipeline/graph/graph.ts";
import { isLeasedJob, type JobView } from "../../src/queue/jobs/rules.ts";
import type { Change } from "../../src/queue/state/facts.ts";
import { RULES } from "../../src/queue/state/rules.ts";
import type { PoolState } from "../../src/queue/state/state.ts";
import type { Invariant } from "./invariants.ts";
import { planted, withoutAudit } from "./planted.ts";
import type { WrongRules } from "./pool.ts";

/** One wrong rule of builds and their jobs, and the invariant that it breaks. */
export type JobMutant = readonly [breaks: Invariant, name: string, rules: Partial<WrongRules>];

/** Reports whether its first lease ended without a result. */
const wasLost = ({ status, message }: JobView): boolean => status === "queued" && message !== null;

const isAlways = ({ condition }: GraphJob): boolean => condition?.includes("always()") ?? false;

/** When a job is ready, and how its needs affect it. */
const NEEDS: readonly JobMutant[] = [
  [
    22,
    "a running need counts as ended",
    { isReady: (needs) => needs.every(({ view }) => view.status !== "waiting" && view.status !== "queued") },
  ],
  [
    22,
    "one need of several is enough",
    { isReady: (needs) => needs.length === 0 || needs.some(({ view }) => view.end) },
  ],
  [
    22,
    "only the first need counts",
    planted("queue/jobs/in-progress.ts", "const needs = job.needs.", "const needs = job.needs.slice(0, 1)."),
  ],
  [
    22,
    "a matrix is over with its first job",
    {
      isReady: (needs) =>
        needs.every(({ view: { job } }) =>
          needs.some(({ view }) => view.end !== null && view.job.definition === job.definition),
        ),
    },
  ],
  [22, "always() does not wait for its needs", { isReady: (needs, job) => isAlways(job) || RULES.isReady(needs, job) }],
  [
    35,
    "indirect needs count as direct",
    planted(
      "queue/jobs/in-progress.ts",
      "const needs = job.needs.",
      `const found = new Map();
       const add = (one) => {
         for (const need of one.needs) {
           if (found.has(need.definition)) continue;
           found.set(need.definition, need);
           for (const next of this.input.graph.jobs) if (next.definition === need.definition) add(next);
         }
       };
       add(job);
       const needs = [...found.values()].`,
    ),
  ],
  [
    35,
    "a skipped need skips nothing",
    { good: (need, isOptional) => need.status === "skipped" || RULES.good(need, isOptional) },
  ],
  [
    35,
    "an optional need that failed counts as fulfilled",
    { good: (need, isOptional) => (isOptional && need.status === "failed") || RULES.good(need, isOptional) },
  ],
  [
    35,
    "a dropped need counts as fulfilled",
    { good: (need, isOptional) => need.status === "dropped" || RULES.good(need, isOptional) },
  ],
  [
    35,
    "a canceled need counts as fulfilled",
    { good: (need, isOptional) => need.status === "canceled" || RULES.good(need, isOptional) },
  ],
  [
    35,
    "a need that may fail drops the jobs behind it",
    { good: (need, isOptional) => need.status !== "failed" && RULES.good(need, isOptional) },
  ],
  [35, "a skipped optional need skips the job", { good: (need) => RULES.good(need, false) }],
  [
    35,
    "one skipped need turns a drop into a skip",
    { endsAs: (inTheWay) => (inTheWay.some(({ status }) => status === "skipped") ? "skipped" : "dropped") },
  ],
  [35, "jobs behind a skip are dropped", { endsAs: () => "dropped" }],
  [
    35,
    "failure() holds for a canceled need",
    { isFailure: (need) => need.status === "canceled" || RULES.isFailure(need) },
  ],
  [35, "failure() holds for a need that may fail", { isFailure: ({ status }) => status === "failed" }],
  [
    35,
    "failure() ignores failures behind a dropped need",
    { isFailure: (need) => need.status !== "dropped" && RULES.isFailure(need) },
  ],
];

/** Gates, and who may open them. */
const GATES: readonly JobMutant[] = [
  [
    32,
    "a gate asks before the needs of its job have ended",
    { isReady: (needs, job) => job.gate !== null || RULES.isReady(needs, job) },
  ],
  [32, "no gate asks", planted("queue/jobs/settle.ts", "if (job.gate)", "if (false)")],
  [32, "a gate opens by itself", { gateIsOpen: ({ decision }) => decision === null }],
  [32, "a rejection opens a gate", { gateIsOpen: ({ decision }) => decision !== null }],
  [32, "a gate closes by itself", { gateIsOver: ({ decision }) => decision?.approved !== true }],
  [23, "a gate never times out", { gateIsOver: ({ decision }) => decision?.approved === false }],
  [23, "a rejected gate stays", { gateIsOver: ({ decision, until }, now) => decision === null && now >= until }],
  [32, "anybody opens a gate", planted("queue/commands/gates.ts", "!includesRole(role, graphJob.gate.by)", "false")],
  [
    32,
    "only an admin opens a gate",
    planted("queue/commands/gates.ts", "!includesRole(role, graphJob.gate.by)", 'role !== "admin"'),
  ],
  [32, "a gate is decided again", planted("queue/commands/gates.ts", "job.end || gate.decision ||", "job.end ||")],
  [
    32,
    "the opposite decision counts as the same",
    planted("queue/commands/gates.ts", "gate.decision?.approved === approved", "gate.decision"),
  ],
  [
    32,
    "the same decision again is rejected",
    planted("queue/commands/gates.ts", "gate.decision?.approved === approved", "false"),
  ],
  [23, "the consequences of a decision are forgotten", { sabotage: forgetting("decideGate") }],
  [
    23,
    "a gate's deadline is forgotten",
    {
      sabotage: ({ deadlines }) => {
        deadlines.gate.schedule = () => {};
      },
    },
  ],
];

/** Cancels, failures that end others, and the build's own time. */
const STOPS: readonly JobMutant[] = [
  [26, "cleanup is never stopped", { stops: (isSpared) => !isSpared }],
  [26, "a cancel spares nothing", { stops: () => true }],
  [26, "a cancel reaches nothing", { stops: () => false }],
  [
    38,
    "the time for cleanup is forgotten",
    {
      sabotage: ({ deadlines }) => {
        deadlines.build.schedule = () => {};
      },
    },
  ],
  [
    38,
    "a build's deadline ends nothing",
    { stops: (isSpared, cancel, now) => !cancel.isTimeout && RULES.stops(isSpared, cancel, now) },
  ],
  [27, "a job that may fail ends its circle", { tripsFailFast: ({ status }) => status === "failed" }],
  [27, "a failure ends nothing", { tripsFailFast: () => false }],
  [
    27,
    "a failure ends other matrices too",
    {
      isInCircle: (job, failed, ofFile, isSpared) =>
        failed.job.failFast || RULES.isInCircle(job, failed, ofFile, isSpared),
    },
  ],
  [
    27,
    "a failure spares assigned jobs",
    {
      isInCircle: (job, failed, ofFile, isSpared) =>
        job.status !== "assigned" && RULES.isInCircle(job, failed, ofFile, isSpared),
    },
  ],
  [
    27,
    "a failure of the file spares nothing",
    { isInCircle: (job, failed, ofFile) => RULES.isInCircle(job, failed, ofFile, false) },
  ],
  [27, "a failure spares its own matrix", { isInCircle: (_job, _failed, ofFile, isSpared) => ofFile && !isSpared }],
];

/** The end of a build. */
const ENDS: readonly JobMutant[] = [
  [36, "settling stops after one pass", planted("queue/jobs/settle.ts", "  hasChanged = true;\n", "")],
  [23, "the consequences of a result are forgotten", { sabotage: forgetting("finish") }],
  [23, "the consequences of a lost lease are forgotten", { sabotage: forgetting("sweep") }],
  [25, "the consequences of a hand-out are forgotten", { sabotage: forgetting("claim") }],
  [25, "the consequences of a start are forgotten", { sabotage: forgetting("start") }],
  [25, "the consequences of a release are forgotten", { sabotage: forgetting("release") }],
  [
    24,
    "the end of its only job does not end a build",
    { buildIsOver: (jobs) => jobs.length > 1 && RULES.buildIsOver(jobs) },
  ],
  [
    24,
    "a build ends with its first failure",
    { buildIsOver: (jobs) => jobs.some(({ status }) => status === "failed") || RULES.buildIsOver(jobs) },
  ],
  [24, "a build ends when none of its jobs is leased", { buildIsOver: (jobs) => !jobs.some(isLeasedJob) }],
  [24, "a build never ends", { buildIsOver: () => false }],
  [
    25,
    "a build succeeds although its only job failed",
    {
      buildOutcome: (jobs, cancel) => (jobs.length === 1 && !cancel ? "succeeded" : RULES.buildOutcome(jobs, cancel)),
    },
  ],
  [
    25,
    "a canceled job beats a failed one",
    {
      buildOutcome: (jobs, cancel) =>
        jobs.some(({ status }) => status === "canceled") && !cancel ? "canceled" : RULES.buildOutcome(jobs, cancel),
    },
  ],
  [
    25,
    "a job that may fail fails its build",
    {
      buildOutcome: (jobs, cancel) =>
        jobs.some(({ status }) => status === "failed") && !cancel ? "failed" : RULES.buildOutcome(jobs, cancel),
    },
  ],
  [25, "a canceled build ends as its jobs do", { buildOutcome: (jobs) => RULES.buildOutcome(jobs, null) }],
  [
    25,
    "a canceled job does not affect its build",
    {
      buildOutcome: (jobs, cancel) =>
        RULES.buildOutcome(
          jobs.filter(({ status }) => status !== "canceled"),
          cancel,
        ),
    },
  ],
  [
    25,
    "a build past its deadline is canceled",
    { buildOutcome: (jobs, cancel) => (cancel ? "canceled" : RULES.buildOutcome(jobs, cancel)) },
  ],
];

/** Semaphores, places and who gets a job. */
const SEMAPHORES: readonly JobMutant[] = [
  [
    28,
    "a group has the limit of the next job",
    planted("queue/commands/match.ts", "Math.min(limit, ...limits.filter((other) => other !== null))", "limit"),
  ],
  [
    28,
    "a group has the largest limit",
    planted("queue/commands/match.ts", "return Math.min(limit,", "return Math.max(limit,"),
  ],
  [
    28,
    "a group has no limit",
    planted("queue/commands/match.ts", "Math.min(limit, ...limits.filter((other) => other !== null))", "Infinity"),
  ],
  [
    28,
    "hints do not count",
    {
      sabotage: ({ index }) => {
        index.semaphores.take = () => {};
      },
    },
  ],
  [29, "a semaphore is never free again", { sabotage: keepingSemaphores(() => true) }],
  [29, "a semaphore is not free after a release", { sabotage: keepingSemaphores((command) => command === "release") }],
  [29, "a semaphore is not free after a lost lease", { sabotage: keepingSemaphores((command) => command === "sweep") }],
  [
    29,
    "a semaphore is not free after its agent was removed",
    { sabotage: keepingSemaphores((command) => command === "removeAgent") },
  ],
  [29, "an agent of the previous release gets jobs", { runsLane: () => true }],
  [
    29,
    "an agent without includes gets jobs with includes",
    { runsLane: ({ features = [] }, lane) => !lane.features.includes("jobs") || features.includes("jobs") },
  ],
  [29, "no agent gets jobs", { runsLane: (_agent, { features }) => !features.includes("jobs") }],
  [36, "a place is held while gates ask", { holdsPlace: (holds, jobs) => holds || jobs.some(isLeasedJob) }],
  [36, "a place is lost between two leases", { holdsPlace: (_holds, jobs) => jobs.some(isLeasedJob) }],
  [
    36,
    "a build keeps its place while its only job is in the queue again",
    { holdsPlace: (holds, jobs) => RULES.holdsPlace(holds || jobs.some(wasLost), jobs) },
  ],
  [
    36,
    "a ready job has a place",
    { holdsPlace: (_holds, jobs) => jobs.some((job) => isLeasedJob(job) || job.status === "queued") },
  ],
];

/** Plans, retries, outputs and reports to others. */
const RECORDS: readonly JobMutant[] = [
  [33, "another plan counts as the first", planted("queue/commands/plan.ts", "graph.hash === sent.hash", "true")],
  [33, "the same plan again is rejected", planted("queue/commands/plan.ts", "graph.hash === sent.hash", "false")],
  [31, "a retry reruns successful jobs", { runsAnew: () => true }],
  [31, "a retry keeps jobs behind a failure", { runsAnew: (end) => RULES.runsAnew(end, false) }],
  [
    31,
    "a retry keeps dropped jobs",
    { runsAnew: (end, needsRunAnew) => end?.status !== "dropped" && RULES.runsAnew(end, needsRunAnew) },
  ],
  [
    31,
    "a retry keeps canceled jobs",
    { runsAnew: (end, needsRunAnew) => end?.status !== "canceled" && RULES.runsAnew(end, needsRunAnew) },
  ],
  [
    30,
    "outputs of a failed job are kept",
    planted("queue/commands/work.ts", 'status === "succeeded" && fence === last', "true"),
  ],
  [30, "no outputs are kept", planted("queue/commands/work.ts", 'status === "succeeded" && fence === last', "false")],
  [39, "D1 gets jobs as if they were builds", { besides: tellingOfJobs }],
  [39, "outputs come after D1 got the build", { besides: withLateOutputs }],
  [40, "plans leave no audit entry", withoutAudit("build.plan")],
  [40, "decisions leave no audit entry", withoutAudit("job.approve")],
];

/** Forgets a command's effect on builds: the set of builds to settle ignores them. */
function forgetting(name: string): WrongRules["sabotage"] {
  return ({ unsettled }, command) => {
    unsettled.add = command === name ? () => unsettled : Set.prototype.add;
  };
}

function tellingOfJobs(_state: PoolState, changes: readonly Change[]): Change[] {
  return changes.flatMap((change): Change[] =>
    change.kind === "job"
      ? [{ kind: "due", channel: "lists", buildId: change.job.id, at: change.job.queuedAt ?? 0 }]
      : [],
  );
}

function withLateOutputs(_state: PoolState, changes: readonly Change[]): Change[] {
  return changes.flatMap((change): Change[] => {
    if (change.kind !== "heard") return [];
    const { buildId } = change;
    return [{ kind: "outputs", buildId, jobId: buildId, outputs: { word: "late" } }];
  });
}

/** Semaphores that stay with their holder. */
function keepingSemaphores(isKept: (command: string) => boolean): WrongRules["sabotage"] {
  return ({ index: { semaphores } }, command) => {
    const { countLease } = Object.getPrototypeOf(semaphores);
    semaphores.countLease = (semaphore, by) =>
      by < 0 && isKept(command) ? undefined : countLease.call(semaphores, semaphore, by);
  };
}

/** Each must violate its invariant within 2,000 histories. */
export const JOB_MUTANTS: readonly JobMutant[] = [...NEEDS, ...GATES, ...STOPS, ...ENDS, ...SEMAPHORES, ...RECORDS];
