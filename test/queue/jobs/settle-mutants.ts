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
  mutant("a started need suffices", ["J1", "J14"], {
    isReady: (needs) => needs.every(({ view }) => view.end !== null || isLeasedJob(view)),
  }),
  mutant("jobs wait only for their first need", "J1", { isReady: (needs, job) => isReady(needs.slice(0, 1), job) }),
  mutant("one ended need suffices", "J1", {
    isReady: (needs) => needs.length === 0 || needs.some(({ view }) => view.end !== null),
  }),
  mutant("always() does not wait for its needs", ["J1", "J2", "J11"], {
    isReady: (needs, job) => job.condition === "always()" || isReady(needs, job),
  }),
  mutant("a gate opens before its needs end", ["J1", "J11"], {
    isReady: (needs, job) => job.gate !== null || isReady(needs, job),
  }),
  mutant("only the first need counts", ["J1", "J14"], {
    reads: reading(({ needs }) => ({ needs: needs.slice(0, 1) })),
  }),
  mutant("ancestors count", ["J2", "J14"], {
    reads: reading((job, graph) => ({ needs: ancestors(job, graph) })),
  }),
  mutant("skipped does not cascade", "J14", {
    good: (need, optional) => need.status === "skipped" || good(need, optional),
  }),
  mutant("a skipped optional need blocks", ["J14", "J2"], { good: (need) => good(need, false) }),
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
  mutant("a need that may fail blocks", ["J14", "J2"], {
    good: (need, optional) => need.status !== "failed" && good(need, optional),
  }),
  mutant("dropped does not cascade as dropped", "J14", {
    endsAs: (inTheWay) => (inTheWay.some(({ status }) => status === "dropped") ? "skipped" : endsAs(inTheWay)),
  }),
  mutant("skipped cascades as dropped", "J14", { endsAs: () => "dropped" }),
  mutant("a skipped need hides a failed one", "J14", {
    endsAs: (inTheWay) => (inTheWay.some(({ status }) => status === "skipped") ? "skipped" : "dropped"),
  }),
  mutant("failure() holds for a canceled need", "J14", {
    isFailure: (need) => need.status === "canceled" || isFailure(need),
  }),
  mutant("failure() holds for jobs that may fail", "J14", {
    isFailure: (need) => need.status === "failed" || isFailure(need),
  }),
  mutant("failure() ignores dropped jobs", "J14", {
    isFailure: (need) => need.status === "failed" && isFailure(need),
  }),
  mutant("a gate does not open", ["J11", "J2"], { reads: reading(() => ({ gate: null })) }),
  mutant("a gate opens by its time", "J11", {
    gateIsOpen: ({ decision, until }, now) => decision?.approved ?? now >= until,
  }),
  mutant("any decision opens a gate", "J11", { gateIsOpen: ({ decision }) => decision !== null }),
  mutant("an undecided gate counts as approved", "J11", {
    gateIsOpen: ({ decision }) => decision === null || decision.approved,
  }),
  mutant("a gate never expires", ["J2", "J17"], { gateIsOver: ({ decision }) => decision?.approved === false }),
  mutant("a rejected gate stays open", ["J2", "J17"], {
    gateIsOver: (gate, now) => gate.decision === null && gateIsOver(gate, now),
  }),
  mutant("a gate ends an hour early", ["J2", "J11"], { gateIsOver: (gate, now) => gateIsOver(gate, now + 3_600_000) }),
  mutant("always() survives a cancel indefinitely", "J5", { stops: (isSpared) => !isSpared }),
  mutant("a cancel spares no job", ["J5", "J14", "J2"], { stops: () => true }),
  mutant("a cancel reaches no job", "J5", { stops: () => false }),
  mutant("a cancel waits for its five minutes", "J5", { stops: (_, cancel, now) => now >= cancel.until }),
  mutant("a job that may fail trips fail-fast", ["J5", "J6"], { tripsFailFast: ({ status }) => status === "failed" }),
  mutant("a canceled job trips fail-fast", ["J5", "J6"], {
    tripsFailFast: (job) => job.status === "canceled" || JOB_RULES.tripsFailFast(job),
  }),
  mutant("nothing trips fail-fast", "J6", { tripsFailFast: () => false }),
  mutant("a matrix's fail-fast reaches other jobs", ["J5", "J6"], {
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
  mutant("the file's fail-fast ends cleanup jobs", ["J5", "J6"], {
    isInCircle: (job, failed, ofFile) => isInCircle(job, failed, ofFile, false),
  }),
  mutant("a failed try trips fail-fast", ["J5", "J6"], {
    tripsFailFast: (view) => JOB_RULES.tripsFailFast(view) || (waitsForTry(view) && !view.job.mayFail),
  }),
  mutant("a failed try ends a need", "J1", {
    isReady: (needs) => needs.every(({ view }) => view.end !== null || waitsForTry(view)),
  }),
  mutant("the build ends while a job waits for its next try", "J3", {
    buildIsOver: (jobs) => jobs.every((view) => view.end !== null || waitsForTry(view)),
  }),
  mutant("a place is lost between two tries", "J15", {
    holdsPlace: (holds, jobs) => holdsPlace(holds, jobs) && !jobs.some(waitsForTry),
  }),
  mutant("only one order is carried out", "J2", { obeys: (orders) => orders.slice(0, 1) }),
  mutant("the build ends when the first job fails", "J3", {
    buildIsOver: (jobs) => JOB_RULES.buildIsOver(jobs) || jobs.some(JOB_RULES.tripsFailFast),
  }),
  mutant("the build ends when no job is leased", "J3", {
    buildIsOver: (jobs) => jobs.some(({ end }) => end !== null) && !jobs.some(isLeasedJob),
  }),
  mutant("the build continues after its last job", "J3", { buildIsOver: () => false }),
  mutant("canceled beats failed", "J4", {
    buildOutcome: (jobs, cancel) =>
      jobs.some(({ status }) => status === "canceled") && !cancel ? "canceled" : buildOutcome(jobs, cancel),
  }),
  mutant("failed beats a cancel of the build", "J4", {
    buildOutcome: (jobs, cancel) => (buildOutcome(jobs, null) === "failed" ? "failed" : buildOutcome(jobs, cancel)),
  }),
  mutant("a job that may fail fails the build", "J4", {
    buildOutcome: (jobs, cancel) =>
      !cancel && jobs.some(({ status }) => status === "failed") ? "failed" : buildOutcome(jobs, cancel),
  }),
  mutant("a canceled job does not count", "J4", {
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
  mutant("a build that timed out is canceled", "J4", {
    buildOutcome: (jobs, cancel) => (cancel ? "canceled" : buildOutcome(jobs, cancel)),
  }),
  mutant("a build at its gates holds its place", "J15", {
    holdsPlace: (holds, jobs) => holds || holdsPlace(holds, jobs),
  }),
  mutant("a place is given up between two leases", "J15", {
    holdsPlace: (_, jobs) => jobs.some(({ status }) => status === "running"),
  }),
  mutant("a place is never taken", "J15", { holdsPlace: () => false }),
  mutant("a stopping job holds no semaphore", "J15", {
    holdsPlace: (holds, jobs) =>
      holdsPlace(
        holds,
        jobs.filter(({ status }) => status !== "canceling"),
      ),
  }),
  mutant("the limit comes from the job, not from its group", ["J7", "J15"], { limitOf: (limits) => limits[0]! }),
  mutant("the limit is the largest of the group", "J7", { limitOf: (limits) => Math.max(...limits) }),
  mutant("letter case separates groups", "J7", {
    semaphoresOf: (job, build) =>
      plannedSemaphores(job, build).map((semaphore) =>
        semaphore.key.startsWith("group") ? { ...semaphore, key: `group ${job.concurrency!.group}` } : semaphore,
      ),
  }),
  mutant("jobs share their places in a matrix", "J7", {
    semaphoresOf: (job, build) =>
      plannedSemaphores(job, build).map((semaphore) => ({ ...semaphore, holder: build.id })),
  }),
  mutant("the pipeline's place is not requested", "J15", {
    semaphoresOf: (job, build) => [
      { key: "none", limit: Number.POSITIVE_INFINITY, holder: build.id },
      ...plannedSemaphores(job, { ...build, maxParallel: null }),
    ],
  }),
  mutant("a retry reruns succeeded jobs", "J10", { runsAnew: () => true }),
  mutant("a retry keeps dependents of rerun jobs", "J10", { runsAnew: (end) => runsAnew(end, false) }),
  mutant("a retry never reruns succeeded jobs", "J10", {
    runsAnew: (end, needsRunAnew) => end?.status !== "succeeded" && runsAnew(end, needsRunAnew),
  }),
  mutant("a retry leaves out dropped jobs", "J10", {
    runsAnew: (end, needsRunAnew) => end?.status !== "dropped" && runsAnew(end, needsRunAnew),
  }),
  mutant("a retry leaves out canceled jobs", "J10", {
    runsAnew: (end, needsRunAnew) => end?.status !== "canceled" && runsAnew(end, needsRunAnew),
  }),
];
