import type { GraphJob } from "../../../src/pipeline/graph/graph.ts";
import type { JobEnd } from "../../../src/pipeline/graph/job-end.ts";
import { isEnded } from "../../../src/protocol/build-states.ts";
import { settleDue } from "../../../src/queue/state/deadlines.ts";
import type { JobFacts } from "../../../src/queue/state/facts.ts";
import { type Seen, wordsOf } from "./conditions.ts";
import type { TestBuild } from "./test-build.ts";
import { isLeased, type World } from "./world.ts";

/* The laws of builds and their jobs, independent of the rules. Each law checks the state after a commit. */

export type Law = "J1" | "J2" | "J3" | "J4" | "J5" | "J6" | "J7" | "J10" | "J11" | "J14" | "J15" | "J17";

export class Broken extends Error {
  readonly law: Law;
  constructor(law: Law, message: string) {
    super(`${law}: ${message}`);
    this.law = law;
  }
}

export const must = (law: Law, isKept: boolean, message: string): void => {
  if (!isKept) throw new Broken(law, message);
};

const CLEANING = 5 * 60_000;

const endOf = (build: TestBuild, job: GraphJob): JobEnd | null => build.jobs.get(job.id)!.end ?? null;

/** Returns all jobs that a job needs by name, with each combination separate. */
const needed = (build: TestBuild, job: GraphJob): { job: GraphJob; end: JobEnd | null; isOptional: boolean }[] => {
  const found = [];
  for (const other of build.graph.jobs)
    for (const need of job.needs)
      if (need.definition === other.definition)
        found.push({ job: other, end: endOf(build, other), isOptional: need.isOptional });
  return found;
};

/** Reports whether the end follows from a failure that counts: its own, or an ancestor's. */
const isBecauseOfFailure = (build: TestBuild, job: GraphJob): boolean => {
  const status = endOf(build, job)?.status;
  if (status === "dropped") return needed(build, job).some((need) => isBecauseOfFailure(build, need.job));
  return status === "failed" && !job.mayFail;
};

const isCanceled = ({ build: { cancel, until }, now }: TestBuild): boolean => cancel !== null || now >= until!;

type Fate = "waits" | "may run" | "skipped" | "dropped" | "mistake";

/** Returns what must happen to a job, by its needs and its own condition. */
const fateOf = (build: TestBuild, job: GraphJob, canceled: boolean): Fate => {
  const needs = needed(build, job);
  if (needs.some(({ end }) => !end)) return "waits";
  const words = wordsOf(job.condition);
  if (!words.looksItself) {
    let fate: Fate = "may run";
    for (const { job: other, end, isOptional } of needs) {
      const { status } = end!;
      if (status === "succeeded" || (other.mayFail && status === "failed")) continue;
      if (status !== "skipped") return "dropped";
      if (!isOptional) fate = "skipped";
    }
    if (fate === "skipped") return fate;
  }
  const seen = needs.map(
    ({ job: other, end, isOptional }): Seen => ({
      definition: other.definition,
      isOptional,
      mayFail: other.mayFail,
      status: end!.status,
      isBecauseOfFailure: isBecauseOfFailure(build, other),
      word: end!.status === "succeeded" ? build.outputs.get(other.id)?.word : undefined,
    }),
  );
  const answer = words.means(seen, canceled);
  return answer === "mistake" ? answer : answer ? "may run" : "skipped";
};

/** Returns the jobs whose failure ends this job. */
const culprits = (build: TestBuild, job: GraphJob): GraphJob[] =>
  build.graph.jobs.filter((other) => {
    if (other === job || other.mayFail || endOf(build, other)?.status !== "failed") return false;
    const isOneMatrix = other.definition === job.definition;
    if (isOneMatrix && other.failFast) return true;
    return build.graph.failFast && !wordsOf(job.condition).mayCleanUp;
  });

const mayStillRun = (build: TestBuild, job: GraphJob): boolean => {
  const { cancel } = build.build;
  const until = build.build.until!;
  const begins = Math.min(cancel?.at ?? until, until);
  const ends = Math.min(cancel && cancel.at <= until ? cancel.until : (cancel?.until ?? Infinity), begins + CLEANING);
  if (build.now >= ends || !wordsOf(job.condition).mayCleanUp) return false;
  return ["waits", "may run"].includes(fateOf(build, job, true));
};

/** Checks that a canceled or stopping job has a cause. */
const checkStopped = (build: TestBuild, job: GraphJob, canceledAlone: boolean): void => {
  const isReached = isCanceled(build) && !mayStillRun(build, job);
  must("J5", isReached || canceledAlone || culprits(build, job).length > 0, `${job.id} was stopped by nobody`);
};

const checkGoing = (build: TestBuild, job: GraphJob, canceledAlone: boolean): void => {
  const { status } = build.queue.get(job.id) ?? {};
  const isStopped = status === "canceling";
  if (status) {
    must("J1", fateOf(build, job, true) !== "waits", `${job.id} is ${status} and its needs have not ended`);
    const mayRun = ["may run"].includes(fateOf(build, job, isCanceled(build)));
    must("J14", mayRun || isStopped, `${job.id} is ${status} behind what keeps it from running`);
    must("J11", !job.gate || build.jobs.get(job.id)!.gate?.decision?.approved === true, `${job.id} passed its gate`);
    must("J2", job.hasSteps, `${job.id} has nothing to run`);
  } else {
    const { gate } = build.jobs.get(job.id)!;
    const fate = fateOf(build, job, isCanceled(build));
    const asks = !!job.gate && !!gate && !gate.decision && build.now < gate.until;
    must("J2", fate === "waits" || asks, `${job.id} waits and its fate is: ${fate}`);
    must("J11", !gate || fate !== "waits", `${job.id} asks before its needs ended`);
  }
  if (isStopped) checkStopped(build, job, canceledAlone);
  must("J5", isStopped || !isCanceled(build) || mayStillRun(build, job), `a cancel did not reach ${job.id}`);
  must("J5", isStopped || !canceledAlone, `its own cancel did not reach ${job.id}`);
  must("J6", isStopped || culprits(build, job).length === 0, `${job.id} goes on after a failure of its circle`);
};

const causeKinds: Partial<Record<JobEnd["status"], string>> = {
  failed: "need-failed",
  canceled: "need-canceled",
  skipped: "need-skipped",
};

/** Returns the job's ancestors. */
const before = (build: TestBuild, job: GraphJob): GraphJob[] =>
  needed(build, job).flatMap((need) => [need.job, ...before(build, need.job)]);

const checkCause = (build: TestBuild, job: GraphJob, { status, cause }: JobEnd): void => {
  if (status !== "skipped" && status !== "dropped") return;
  must("J14", cause !== null, `${job.id} is ${status} for nothing`);
  if (cause!.kind === "condition") {
    must("J14", status === "skipped" && cause!.text === job.condition, `${job.id} names a condition that it has not`);
    return;
  }
  const named = before(build, job).find(({ key }) => key === cause!.job);
  const end = named && endOf(build, named);
  must("J14", !!end && causeKinds[end.status] === cause!.kind, `${job.id} blames ${cause!.job} for ${cause!.kind}`);
  must("J14", (status === "skipped") === (cause!.kind === "need-skipped"), `${job.id}: ${status} and ${cause!.kind}`);
};

/** Checks a job's new end. `ran` reports whether the queue or an agent had the job at the last check. */
const checkNewEnd = (build: TestBuild, job: GraphJob, end: JobEnd, canceledAlone: boolean, ran: boolean): void => {
  const fates = [fateOf(build, job, isCanceled(build)), fateOf(build, job, false)];
  const isByCancel = end.status === "canceled";
  must("J1", isByCancel || !fates.includes("waits"), `${job.id} is ${end.status} and its needs have not ended`);
  checkCause(build, job, end);
  if (end.cause?.kind === "fail-fast") {
    const names = culprits(build, job).map(({ key }) => key);
    must("J6", names.includes(end.cause.job ?? ""), `${job.id} ended for ${end.cause.job}, which is not to blame`);
  }
  if (isByCancel) checkStopped(build, job, canceledAlone);
  else if (!ran && end.reason === "gate-closed") {
    const { decision = null, until = Infinity } = build.jobs.get(job.id)!.gate ?? {};
    must("J11", decision ? !decision.approved : build.now >= until, `the gate of ${job.id} closed by itself`);
  } else if (!ran && end.status === "succeeded") {
    must("J14", !job.hasSteps && fates.includes("may run"), `${job.id} succeeded without a result`);
    must("J11", !job.gate || build.jobs.get(job.id)!.gate?.decision?.approved === true, `${job.id} passed its gate`);
  } else if (!ran) {
    const fate = end.status === "failed" ? "mistake" : end.status;
    must(
      "J14",
      fates.some((one) => one === fate),
      `${job.id} is ${end.status}, and its fate was: ${fates.join(", ")}`,
    );
  }
};

const statusOfEnd = (build: TestBuild): string => {
  const { cancel } = build.build;
  const until = build.build.until!;
  if (cancel && cancel.at <= until) return "canceled";
  if (build.now >= until) return "failed";
  const ends = build.graph.jobs.map((job) => ({ job, status: endOf(build, job)!.status }));
  if (ends.some(({ job, status }) => status === "failed" && !job.mayFail)) return "failed";
  return ends.every(({ status }) => status !== "canceled") ? "succeeded" : "canceled";
};

/** Watches one build from commit to commit. */
export class Watcher {
  readonly #build: TestBuild;
  readonly #ended = new Map<string, JobEnd>();
  #queued = new Set<string>();
  #final: JobFacts[] | null = null;

  constructor(build: TestBuild) {
    this.#build = build;
  }

  /** @throws {Broken} */
  look(): void {
    const build = this.#build;
    const { graph, jobs, queue } = build;
    if (this.#final !== null) {
      const isSame = this.#final.every((job) => jobs.get(job.id) === job);
      must("J3", isSame, "a job of an ended build changed");
      return;
    }
    for (const job of graph.jobs) this.#lookAt(job);
    const isOver = graph.jobs.every((job) => endOf(build, job) !== null);
    must("J3", isEnded(build.status) === isOver, isOver ? "the build goes on without a job" : "the build ended early");
    must("J2", build.pending().length === 0, "there is something left to do");
    const next = settleDue(build.build, jobs.values(), build.now);
    must("J2", next === null || build.pending(next - 1).length === 0, "there is something to do before the deadline");
    this.#lookAtPlace();
    this.#queued = new Set(queue.keys());
    if (!isOver) return;
    this.#final = [...jobs.values()];
    must("J4", build.status === statusOfEnd(build), `the build ended ${build.status}, not ${statusOfEnd(build)}`);
  }

  #lookAt(job: GraphJob): void {
    const build = this.#build;
    const end = endOf(build, job);
    const canceledAlone = build.canceledAlone.has(job.id);
    if (!end) {
      checkGoing(build, job, canceledAlone);
      return;
    }
    const known = this.#ended.get(job.id);
    must("J3", known === undefined || known === end, `the end of ${job.id} changed`);
    if (known === undefined) checkNewEnd(build, job, end, canceledAlone, this.#queued.has(job.id));
    this.#ended.set(job.id, end);
  }

  /** Checks that a build holds its place from its first lease until no job is ready or leased. */
  #lookAtPlace(): void {
    const { queue, build } = this.#build;
    const { holdsPlace } = build;
    const going = [...queue.values()].map(({ status }) => status);
    must("J15", going.length > 0 || !holdsPlace, "a build of which nothing is ready or leased holds a place");
    must("J15", holdsPlace || !going.some(isLeased), "a build with a lease holds no place");
  }
}

/** Checks that no semaphore exceeds the smallest limit among its holders. @throws {Broken} */
export const checkSemaphores = ({ builds, maxParallel }: World): void => {
  const holding = builds.filter(({ build }) => build.holdsPlace).length;
  must("J15", holding <= maxParallel, `${holding} builds hold a place, and ${maxParallel} may`);
  const groups = new Map<string, number[]>();
  for (const [at, { graph, queue }] of builds.entries())
    for (const job of graph.jobs) {
      if (!isLeased(queue.get(job.id)?.status)) continue;
      const enter = (key: string, limit: number) => groups.set(key, [...(groups.get(key) ?? []), limit]);
      if (job.concurrency) enter(`group ${job.concurrency.group.toUpperCase()}`, job.concurrency.limit);
      if (job.maxParallel !== null) enter(`matrix ${at} ${job.definition}`, job.maxParallel);
    }
  for (const [key, limits] of groups)
    must(
      "J7",
      limits.length <= Math.min(...limits),
      `${limits.length} jobs in ${key}, which takes ${limits.join(", ")}`,
    );
};

/**
 * Returns the jobs that a retry of an ended build runs: those neither succeeded nor skipped, and all their dependents.
 */
export const runsAgain = (build: TestBuild): Set<string> => {
  const rerun = new Set<string>();
  for (const job of build.graph.jobs)
    for (const one of [job, ...before(build, job)])
      if (!["succeeded", "skipped"].includes(endOf(build, one)!.status)) rerun.add(job.key);
  return rerun;
};
