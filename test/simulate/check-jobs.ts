import type { JobGraph } from "../../src/pipeline/graph/graph.ts";
import type { BuildFacts } from "../../src/queue/state/facts.ts";
import type { PoolState } from "../../src/queue/state/state.ts";
import { checkEndOfJob } from "./check-job-ends.ts";
import { checkPlace } from "./check-semaphores.ts";
import { CLEANING_MS, cleansUp, failuresThatReach, needsHaveEnded, verdictOf } from "./job-specification.ts";
import type { CheckContext, ObservedBuild } from "./observations.ts";
import { mayStop, type SeenBuild, type SeenJob, timeOf } from "./seen-build.ts";
import { isEnded, isLeased } from "./specification.ts";
import { must } from "./violation.ts";

/** Checks every build that has not ended before this call. */
export const checkJobs = (context: CheckContext, state: PoolState): void => {
  const { rows } = context.storage;
  for (const [id, build] of rows.builds) {
    const seen = context.observed.builds.get(id)!;
    if (seen.hasEnded || !mayHaveChanged(context, id, seen)) continue;
    noteCancel(context, build, seen);
    const one = lookAt(context, build, seen);
    if (isEnded(build.status) && context.call.command === "reconcile") {
      seen.hasEnded = true;
      const isUnderWay = one.jobs.some(({ facts }) => !facts.end);
      must(24, !isUnderWay, "D1 ended a build although one of its jobs continues");
      continue;
    }
    for (const job of one.jobs) checkJob(context, state, one, job);
    checkEndOfBuild(context, one);
    checkProgress(one);
    checkPlace(context, state, one);
    seen.quietUntil = nextChange(one);
  }
};

/** Without a change, only time matters. */
const mayHaveChanged = ({ call }: CheckContext, id: string, { quietUntil }: ObservedBuild): boolean =>
  call.touched.has(id) || call.now >= quietUntil || DECISIONS.has(call.command);

const DECISIONS = new Set(["cancel", "arrive", "decideGate", "reconcile", "wake"]);

const nextChange = ({ build, seen, jobs }: SeenBuild): number =>
  Math.min(
    timeOf(build),
    seen.cancel?.until ?? Infinity,
    ...jobs.flatMap(({ facts: { gate, end } }) => (gate && !gate.decision && !end ? [gate.until] : [])),
  );

/** The job with which a build begins, in the form of a file of steps. */
const firstGraph = (id: string): JobGraph => ({
  ...{ hash: "", path: null, commitSha: null, failFast: false },
  facts: { build: {}, repository: {}, vars: {}, changed: {} },
  jobs: [
    {
      ...{ id, key: "first", definition: "first", name: "first", matrix: null, needs: [], condition: null },
      ...{ mayFail: false, failFast: false, maxParallel: null, concurrency: null, gate: null, groups: [] },
      ...{ requires: {}, timeoutSeconds: 0, hasSteps: true },
    },
  ],
});

const lookAt = (
  { storage: { rows }, call, observed }: CheckContext,
  build: BuildFacts,
  seen: ObservedBuild,
): SeenBuild => {
  const graph = rows.graphs.get(build.id)?.graph ?? firstGraph(build.id);
  const jobs = graph.jobs.map((job): SeenJob => {
    const facts = rows.jobs.get(job.id);
    must(37, facts !== undefined, "a build's job is not stored");
    return { job, facts, wasQueued: observed.jobs.get(job.id)!.wasQueued };
  });
  const facts = new Map(jobs.map((one) => [one.facts.id, one.facts]));
  const isCanceled = seen.cancel !== null || call.now >= timeOf(build);
  return { graph, facts, outputs: rows.outputs, isCanceled, build, seen, jobs };
};

/** A job with `cancel-running` also cancels whole builds, and a build whose commit nobody approved ends. */
const noteCancel = ({ call, observed }: CheckContext, build: BuildFacts, seen: ObservedBuild): void => {
  if (seen.cancel || !build.cancel) return;
  const isAllowed = [...observed.builds.values()].some(({ cancelsRunning }) => cancelsRunning);
  const isUnapproved = build.approval !== undefined && build.approval.decision?.approved !== true;
  must(26, isAllowed || isUnapproved || call.command === "arrive", "a build was canceled without a caller");
  seen.cancel = { at: call.now, until: build.cancel.until };
};

const checkJob = (context: CheckContext, state: PoolState, one: SeenBuild, seen: SeenJob): void => {
  const { job, facts, wasQueued } = seen;
  const isWaiting = facts.status === "waiting";
  must(24, !!facts.end === isEnded(facts.status), "an ended job continues");
  if (facts.end) {
    must(24, facts.end.status === facts.status, "a job has two ends");
    checkEndOfJob(context, one, seen);
  }
  if (facts.gate) must(32, needsHaveEnded(one, job), "a gate asked before its job's needs had ended");
  if (isWaiting) checkWaiting(context, one, seen);
  else if (wasQueued) checkReady(one, seen);
  if (!facts.end) checkStop(context, state, one, seen);
};

/** Nothing is left to do for a waiting job. */
const checkWaiting = ({ call: { now } }: CheckContext, one: SeenBuild, { job, facts }: SeenJob): void => {
  const verdict = verdictOf(one, job);
  const asks = !!job.gate && !!facts.gate && !facts.gate.decision && now < facts.gate.until;
  must(23, verdict === "waits" || (verdict === "runs" && asks), `a job waits although its verdict is: ${verdict}`);
};

/** The queue has, or had, the job: it was allowed to run. */
const checkReady = (one: SeenBuild, { job, facts }: SeenJob): void => {
  must(22, needsHaveEnded(one, job), "a job is ready before its needs have ended");
  const verdict = verdictOf(one, job);
  must(35, verdict === "runs", `a job is ready although its verdict is: ${verdict}`);
  must(32, !job.gate || facts.gate?.decision?.approved === true, "a job is ready although its gate is closed");
  must(37, job.hasSteps, "a job without steps is ready");
};

/** The effect of a cancel, an intolerable failure, or the build's own end on an unended job. */
const checkStop = (context: CheckContext, state: PoolState, one: SeenBuild, { job, facts }: SeenJob): void => {
  const { now } = context.call;
  const { seen, build } = one;
  const stop = state.jobs.get(job.id)?.lease?.stop;
  const mayClean = cleansUp(job);
  const isStopped = isLeased(facts.status) && !!stop;
  if (seen.cancel) {
    const isSpared = mayClean && now < seen.cancel.until;
    must(26, isStopped || isSpared, "the build's cancel did not reach a job");
  }
  const until = timeOf(build);
  must(38, isStopped || now < until + (mayClean ? CLEANING_MS : 0), "a job continues after its build's deadline");
  must(27, isStopped || failuresThatReach(one, job).length === 0, "a failure did not end its circle");
  if (context.observed.canceledJobs.has(job.id)) must(26, isStopped, "a job's own cancel did not reach it");
  if (!stop) return;
  const isCanceled = facts.status === "canceling";
  if (isCanceled && stop.reason === "fail-fast")
    must(27, failuresThatReach(one, job).length > 0, "a job is stopped for a failure that does not reach it");
  must(26, !isCanceled || mayStop(context, one, job), "a job is stopped for no reason");
  must(26, isCanceled || stop.reason === "timeout", "a job is stopped and not canceled");
  if (isCanceled) context.observed.jobs.get(job.id)!.isCanceled = true;
  if (isCanceled) seen.stopped.add(job.id);
};

/** A build ends with its last job, as its jobs and its cancel require. */
const checkEndOfBuild = ({ call }: CheckContext, { build, seen, jobs }: SeenBuild): void => {
  const isOver = jobs.every(({ facts }) => facts.end);
  must(
    24,
    isOver === isEnded(build.status),
    isOver ? "a build continues without a job" : "a build ended before its jobs",
  );
  if (!isOver) return;
  seen.hasEnded = true;
  must(24, build.finishedAt === call.now, "a build did not end with its last job");
  const failed = jobs.filter(({ job, facts }) => facts.end!.status === "failed" && !job.mayFail);
  const until = timeOf(build);
  const wasCanceled = seen.cancel !== null && seen.cancel.at <= until;
  const isOverdue = !wasCanceled && call.now >= until;
  const someCanceled = jobs.some(({ facts }) => facts.end!.status === "canceled");
  const byJobs = failed.length > 0 ? "failed" : someCanceled ? "canceled" : "succeeded";
  const expected = wasCanceled ? "canceled" : isOverdue ? "failed" : byJobs;
  must(25, build.status === expected, `a build ended ${build.status} whose jobs say ${expected}`);
  if (wasCanceled || isOverdue || failed.length === 0) return;
  const first = Math.min(...failed.map(({ facts }) => facts.end!.finishedAt));
  const isFirst = failed.some(
    ({ facts: { end } }) =>
      end!.finishedAt === first && end!.exitCode === build.exitCode && end!.reason === build.reason,
  );
  must(25, isFirst, "a build does not show its first failure");
};

/** The state of an unended build follows from its jobs. */
const checkProgress = ({ build, jobs, isCanceled, seen }: SeenBuild): void => {
  if (isEnded(build.status)) return;
  const statuses = jobs.filter(({ facts: { end } }) => !end?.adopted).map(({ facts }) => facts);
  const ran = statuses.some(({ end }) => end && end.startedAt !== null);
  const held = statuses.filter(({ status }) => isLeased(status)).map(({ status }) => status);
  // Once its jobs are planned, it runs from the first lease on.
  seen.hasRun ||= build.until !== null && (ran || held.length > 0);
  const goesOn = ran || seen.hasRun || held.some((status) => status !== "assigned");
  const expected = isCanceled ? "canceling" : goesOn ? "running" : (held[0] ?? "queued");
  must(25, build.status === expected, `a build is ${build.status} whose jobs are ${expected}`);
};
