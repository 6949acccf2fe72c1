import type { GraphJob, JobGraph } from "../../../src/pipeline/graph/graph.ts";
import { isLeasedJob, JOB_RULES, type JobView } from "../../../src/queue/jobs/rules.ts";
import { plannedSemaphores } from "../../../src/queue/state/semaphores.ts";
import type { Law } from "./laws.ts";
import type { WrongRules } from "./test-build.ts";

/** The rules with one wrong rule. The laws must see that it breaks a law in `breaks`, or they prove nothing. */
export interface JobMutant {
  name: string;
  breaks: Law[];
  rules: WrongRules;
}

const mutant = (name: string, breaks: Law | Law[], rules: Partial<WrongRules>): JobMutant => ({
  name,
  breaks: [breaks].flat(),
  rules: { ...JOB_RULES, ...rules },
});

const { good, isFailure, isInCircle, isReady, gateIsOver, holdsPlace, buildOutcome, runsAnew, endsAs } = JOB_RULES;

/** Returns a job's needs, and their needs in turn. */
const ancestors = (job: { needs: JobGraph["jobs"][number]["needs"] }, graph: JobGraph): typeof job.needs =>
  job.needs.flatMap((need) => [
    need,
    ...graph.jobs.filter(({ definition }) => definition === need.definition).flatMap((one) => ancestors(one, graph)),
  ]);

/** Returns the graph with each job changed by `read`. */
const reading =
  (read: (job: GraphJob, graph: JobGraph) => Partial<GraphJob>) =>
  (graph: JobGraph): JobGraph => ({ ...graph, jobs: graph.jobs.map((job) => ({ ...job, ...read(job, graph) })) });

const waitsForTry = ({ status, retries }: JobView): boolean => status === "queued" && retries > 0;

export const JOB_MUTANTS: readonly JobMutant[] = [
  mutant("a need that was started is enough", ["J1", "J14"], {
    isReady: (needs) => needs.every(({ view }) => view.end !== null || isLeasedJob(view)),
  }),
  mutant("only the first need is waited for", "J1", { isReady: (needs, job) => isReady(needs.slice(0, 1), job) }),
  mutant("one need that has ended is enough", "J1", {
    isReady: (needs) => needs.length === 0 || needs.some(({ view }) => view.end !== null),
  }),
  mutant("always() does not wait for its needs", ["J1", "J2", "J11"], {
    isReady: (needs, job) => job.condition === "always()" || isReady(needs, job),
  }),
  mutant("a gate is asked before its needs ended", ["J1", "J11"], {
    isReady: (needs, job) => job.gate !== null || isReady(needs, job),
  }),
  mutant("only the first need is looked at", ["J1", "J14"], {
    reads: reading(({ needs }) => ({ needs: needs.slice(0, 1) })),
  }),
  mutant("ancestors are looked at", ["J2", "J14"], {
    reads: reading((job, graph) => ({ needs: ancestors(job, graph) })),
  }),
  mutant("skipped does not cascade", "J14", {
    good: (need, optional) => need.status === "skipped" || good(need, optional),
  }),
  mutant("an optional need that was skipped stands in the way", ["J14", "J2"], { good: (need) => good(need, false) }),
  mutant("an optional need that failed is fulfilled", "J14", {
    good: (need, optional) => (optional && need.status === "failed") || good(need, optional),
  }),
  mutant("an optional need that was dropped is fulfilled", "J14", {
    good: (need, optional) => (optional && need.status === "dropped") || good(need, optional),
  }),
  mutant("dropped is fulfilled", "J14", {
    good: (need, optional) => need.status === "dropped" || good(need, optional),
  }),
  mutant("canceled is fulfilled", "J14", {
    good: (need, optional) => need.status === "canceled" || good(need, optional),
  }),
  mutant("a need that may fail stands in the way", ["J14", "J2"], {
    good: (need, optional) => need.status !== "failed" && good(need, optional),
  }),
  mutant("dropped does not cascade as dropped", "J14", {
    endsAs: (inTheWay) => (inTheWay.some(({ status }) => status === "dropped") ? "skipped" : endsAs(inTheWay)),
  }),
  mutant("skipped cascades as dropped", "J14", { endsAs: () => "dropped" }),
  mutant("one that was skipped hides one that failed", "J14", {
    endsAs: (inTheWay) => (inTheWay.some(({ status }) => status === "skipped") ? "skipped" : "dropped"),
  }),
  mutant("failure() holds for a canceled need", "J14", {
    isFailure: (need) => need.status === "canceled" || isFailure(need),
  }),
  mutant("failure() holds for what may fail", "J14", {
    isFailure: (need) => need.status === "failed" || isFailure(need),
  }),
  mutant("failure() forgets what was dropped", "J14", {
    isFailure: (need) => need.status === "failed" && isFailure(need),
  }),
  mutant("nobody is asked at a gate", ["J11", "J2"], { reads: reading(() => ({ gate: null })) }),
  mutant("a gate opens by its time", "J11", {
    gateIsOpen: ({ decision, until }, now) => decision?.approved ?? now >= until,
  }),
  mutant("any decision opens a gate", "J11", { gateIsOpen: ({ decision }) => decision !== null }),
  mutant("a gate that asks is open", "J11", { gateIsOpen: ({ decision }) => decision === null || decision.approved }),
  mutant("a gate has no end", ["J2", "J17"], { gateIsOver: ({ decision }) => decision?.approved === false }),
  mutant("a rejected gate asks on", ["J2", "J17"], {
    gateIsOver: (gate, now) => gate.decision === null && gateIsOver(gate, now),
  }),
  mutant("a gate ends an hour early", ["J2", "J11"], { gateIsOver: (gate, now) => gateIsOver(gate, now + 3_600_000) }),
  mutant("always() survives a cancel without end", "J5", { stops: (isSpared) => !isSpared }),
  mutant("a cancel spares nobody", ["J5", "J14", "J2"], { stops: () => true }),
  mutant("a cancel reaches nobody", "J5", { stops: () => false }),
  mutant("a cancel waits for its five minutes", "J5", { stops: (_, cancel, now) => now >= cancel.until }),
  mutant("what may fail trips fail-fast", ["J5", "J6"], { tripsFailFast: ({ status }) => status === "failed" }),
  mutant("a canceled job trips fail-fast", ["J5", "J6"], {
    tripsFailFast: (job) => job.status === "canceled" || JOB_RULES.tripsFailFast(job),
  }),
  mutant("fail-fast trips nobody", "J6", { tripsFailFast: () => false }),
  mutant("fail-fast of a matrix reaches others", ["J5", "J6"], {
    isInCircle: (job, failed, ofFile, isSpared) => failed.job.failFast || isInCircle(job, failed, ofFile, isSpared),
  }),
  mutant("fail-fast spares assigned jobs", "J6", {
    isInCircle: (job, ...rest) => job.status !== "assigned" && isInCircle(job, ...rest),
  }),
  mutant("fail-fast spares running jobs", "J6", {
    isInCircle: (job, ...rest) => job.status !== "running" && isInCircle(job, ...rest),
  }),
  mutant("fail-fast spares waiting jobs", "J6", {
    isInCircle: (job, ...rest) => job.status !== "waiting" && isInCircle(job, ...rest),
  }),
  mutant("fail-fast of the file ends what cleans up", ["J5", "J6"], {
    isInCircle: (job, failed, ofFile) => isInCircle(job, failed, ofFile, false),
  }),
  mutant("a failed try trips fail-fast", ["J5", "J6"], {
    tripsFailFast: (view) => JOB_RULES.tripsFailFast(view) || (waitsForTry(view) && !view.job.mayFail),
  }),
  mutant("a failed try is the end of a need", "J1", {
    isReady: (needs) => needs.every(({ view }) => view.end !== null || waitsForTry(view)),
  }),
  mutant("the build ends while a job waits for its next try", "J3", {
    buildIsOver: (jobs) => jobs.every((view) => view.end !== null || waitsForTry(view)),
  }),
  mutant("a place is lost between two tries", "J15", {
    holdsPlace: (holds, jobs) => holdsPlace(holds, jobs) && !jobs.some(waitsForTry),
  }),
  mutant("one order is carried out", "J2", { obeys: (orders) => orders.slice(0, 1) }),
  mutant("the build ends when the first job fails", "J3", {
    buildIsOver: (jobs) => JOB_RULES.buildIsOver(jobs) || jobs.some(JOB_RULES.tripsFailFast),
  }),
  mutant("the build ends when no job is leased", "J3", {
    buildIsOver: (jobs) => jobs.some(({ end }) => end !== null) && !jobs.some(isLeasedJob),
  }),
  mutant("the build goes on when all is over", "J3", { buildIsOver: () => false }),
  mutant("canceled beats failed", "J4", {
    buildOutcome: (jobs, cancel) =>
      jobs.some(({ status }) => status === "canceled") && !cancel ? "canceled" : buildOutcome(jobs, cancel),
  }),
  mutant("failed beats a cancel of the build", "J4", {
    buildOutcome: (jobs, cancel) => (buildOutcome(jobs, null) === "failed" ? "failed" : buildOutcome(jobs, cancel)),
  }),
  mutant("what may fail fails the build", "J4", {
    buildOutcome: (jobs, cancel) =>
      !cancel && jobs.some(({ status }) => status === "failed") ? "failed" : buildOutcome(jobs, cancel),
  }),
  mutant("a job that was canceled counts for nothing", "J4", {
    buildOutcome: (jobs, cancel) =>
      buildOutcome(
        jobs.filter(({ status }) => status !== "canceled"),
        cancel,
      ),
  }),
  mutant("a dropped job fails the build", "J4", {
    buildOutcome: (jobs, cancel) =>
      !cancel && jobs.some(({ status }) => status === "dropped") ? "failed" : buildOutcome(jobs, cancel),
  }),
  mutant("a build that took too long was canceled", "J4", {
    buildOutcome: (jobs, cancel) => (cancel ? "canceled" : buildOutcome(jobs, cancel)),
  }),
  mutant("a build at its gates holds its place", "J15", {
    holdsPlace: (holds, jobs) => holds || holdsPlace(holds, jobs),
  }),
  mutant("a place is given up between two leases", "J15", {
    holdsPlace: (_, jobs) => jobs.some(({ status }) => status === "running"),
  }),
  mutant("a place is never taken", "J15", { holdsPlace: () => false }),
  mutant("a job that has to stop holds no semaphore", "J15", {
    holdsPlace: (holds, jobs) =>
      holdsPlace(
        holds,
        jobs.filter(({ status }) => status !== "canceling"),
      ),
  }),
  mutant("the limit is that of the job, not of its group", ["J7", "J15"], { limitOf: (limits) => limits[0]! }),
  mutant("the limit is the largest of the group", "J7", { limitOf: (limits) => Math.max(...limits) }),
  mutant("letter case makes another group", "J7", {
    semaphoresOf: (job, build) =>
      plannedSemaphores(job, build).map((semaphore) =>
        semaphore.key.startsWith("group") ? { ...semaphore, key: `group ${job.concurrency!.group}` } : semaphore,
      ),
  }),
  mutant("jobs share their places in a matrix", "J7", {
    semaphoresOf: (job, build) =>
      plannedSemaphores(job, build).map((semaphore) => ({ ...semaphore, holder: build.id })),
  }),
  mutant("the place of the pipeline is not asked for", "J15", {
    semaphoresOf: (job, build) => [
      { key: "none", limit: Number.POSITIVE_INFINITY, holder: build.id },
      ...plannedSemaphores(job, { ...build, maxParallel: null }),
    ],
  }),
  mutant("a retry runs what succeeded", "J10", { runsAnew: () => true }),
  mutant("a retry keeps what depends on it", "J10", { runsAnew: (end) => runsAnew(end, false) }),
  mutant("a retry keeps what succeeded all the same", "J10", {
    runsAnew: (end, needsRunAnew) => end?.status !== "succeeded" && runsAnew(end, needsRunAnew),
  }),
  mutant("a retry leaves out what was dropped", "J10", {
    runsAnew: (end, needsRunAnew) => end?.status !== "dropped" && runsAnew(end, needsRunAnew),
  }),
  mutant("a retry leaves out what was canceled", "J10", {
    runsAnew: (end, needsRunAnew) => end?.status !== "canceled" && runsAnew(end, needsRunAnew),
  }),
];
