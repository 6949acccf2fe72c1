import type { BuildFacts } from "../../src/domain/pool/facts.ts";
import type { PoolState } from "../../src/domain/pool/state.ts";
import { checkEndOfJob } from "./check-job-ends.ts";
import { checkPlace } from "./check-rooms.ts";
import { CLEANING_MS, cleansUp, failuresThatReach, needsHaveEnded, verdictOf } from "./job-specification.ts";
import type { CheckContext, ObservedSeveral } from "./observations.ts";
import { mayStop, type SeenBuild, type SeenJob } from "./seen-build.ts";
import { isEnded, isLeased } from "./specification.ts";
import { must } from "./violation.ts";

/** Checks every build of several jobs that has not ended before this call. */
export const checkJobs = (context: CheckContext, state: PoolState): void => {
  const { rows } = context.storage;
  for (const id of rows.graphs.keys()) {
    const build = rows.builds.get(id)!;
    const seen = context.observed.several.get(id)!;
    if (seen.hasEnded || !mayHaveChanged(context, id, seen)) continue;
    noteCancel(context, build, seen);
    const one = lookAt(context, build, seen);
    if (isEnded(build.status) && context.call.command === "reconcile") {
      seen.hasEnded = true;
      const isUnderWay = one.jobs.some(({ queued }) => queued && !isEnded(queued.status));
      must(24, !isUnderWay, "a build was ended by what D1 says, and a job of it goes on");
      continue;
    }
    for (const job of one.jobs) checkJob(context, state, one, job);
    checkEndOfBuild(context, one);
    checkPlace(context, state, one);
    seen.quietUntil = nextChange(one);
  }
};

/** Without a change only time makes a difference. */
const mayHaveChanged = ({ call }: CheckContext, id: string, { quietUntil }: ObservedSeveral): boolean =>
  call.touched.has(id) || call.now >= quietUntil || DECISIONS.has(call.command);

const DECISIONS = new Set(["cancel", "arrive", "decideGate", "reconcile", "wake"]);

const nextChange = ({ build, seen, jobs }: SeenBuild): number =>
  Math.min(
    build.several!.until,
    seen.cancel?.until ?? Infinity,
    ...jobs.flatMap(({ node: { gate, end } }) => (gate && !gate.decision && !end ? [gate.until] : [])),
  );

const lookAt = ({ storage: { rows }, call }: CheckContext, build: BuildFacts, seen: ObservedSeveral): SeenBuild => {
  const { graph } = rows.graphs.get(build.id)!;
  const jobs = graph.jobs.map((job): SeenJob => {
    const node = rows.nodes.get(job.id);
    must(37, node !== undefined, "a planned job is not stored");
    return { job, node, queued: rows.builds.get(job.id) };
  });
  const nodes = new Map(jobs.map(({ node }) => [node.id, node]));
  const isCanceled = seen.cancel !== null || call.now >= build.several!.until;
  return { graph, nodes, outputs: rows.outputs, isCanceled, build, seen, jobs };
};

/** A job with `cancel-running` cancels whole builds too, and one whose commit nobody approved ends. */
const noteCancel = ({ call, observed }: CheckContext, build: BuildFacts, seen: ObservedSeveral): void => {
  if (seen.cancel || !build.several?.cancel) return;
  const isAllowed = [...observed.several.values()].some(({ cancelsRunning }) => cancelsRunning);
  const isUnapproved = build.approval !== undefined && build.approval.decision?.approved !== true;
  must(26, isAllowed || isUnapproved, "a build was canceled by nobody");
  seen.cancel = { at: call.now, until: build.several.cancel.until };
};

const checkJob = (context: CheckContext, state: PoolState, one: SeenBuild, seen: SeenJob): void => {
  const { job, node, queued } = seen;
  const isWaiting = !node.end && !queued;
  if (node.end) {
    must(24, !queued || (isEnded(queued.status) && queued.status === node.end.status), "a job has two ends");
    checkEndOfJob(context, one, seen);
  } else must(24, !queued || !isEnded(queued.status), "a job of which the queue is done has not ended");
  if (node.gate) must(32, needsHaveEnded(one, job), "a gate was asked before the needs of its job had ended");
  if (isWaiting) checkWaiting(context, one, seen);
  else if (!node.end || queued) checkReady(one, seen);
  if (!node.end) checkStop(context, state, one, seen);
};

/** Nothing is left to do for a job that waits. */
const checkWaiting = ({ call: { now } }: CheckContext, one: SeenBuild, { job, node }: SeenJob): void => {
  const verdict = verdictOf(one, job);
  const asks = !!job.gate && !!node.gate && !node.gate.decision && now < node.gate.until;
  must(23, verdict === "waits" || (verdict === "runs" && asks), `a job waits that ${verdict}`);
};

/** The queue has, or had, the job: it was allowed to run. */
const checkReady = (one: SeenBuild, { job, node }: SeenJob): void => {
  must(22, needsHaveEnded(one, job), "a job is ready before what it needs has ended");
  const verdict = verdictOf(one, job);
  must(35, verdict === "runs", `a job is ready that had to be ${verdict}`);
  must(32, !job.gate || node.gate?.decision?.approved === true, "a job is ready although its gate is closed");
  must(37, job.hasSteps, "a job without steps is ready");
};

/** What a cancel, a failure that is not waited for, or the build's own end does to a job that has not ended. */
const checkStop = (context: CheckContext, state: PoolState, one: SeenBuild, { job, queued }: SeenJob): void => {
  const { now } = context.call;
  const { seen, build } = one;
  const stop = state.jobs.get(job.id)?.lease?.stop;
  const mayClean = cleansUp(job);
  const isStopped = queued !== undefined && isLeased(queued.status) && !!stop;
  if (seen.cancel) {
    const isSpared = mayClean && now < seen.cancel.until;
    must(26, isStopped || isSpared, "a cancel of the build did not reach a job");
  }
  const { until } = build.several!;
  must(38, isStopped || now < until + (mayClean ? CLEANING_MS : 0), "a job goes on after the time of its build");
  must(27, isStopped || failuresThatReach(one, job).length === 0, "a failure did not end its circle");
  if (context.observed.canceledJobs.has(job.id)) must(26, isStopped, "a cancel of the job did not reach it");
  if (!stop) return;
  const isCanceled = queued!.status === "canceling";
  if (isCanceled && stop.reason === "fail-fast")
    must(27, failuresThatReach(one, job).length > 0, "a job is stopped for a failure that does not reach it");
  must(26, !isCanceled || mayStop(context, one, job), "a job is stopped for no reason");
  must(26, isCanceled || stop.reason === "timeout", "a job is stopped and not canceled");
  if (isCanceled) context.observed.builds.get(job.id)!.isCanceled = true;
  if (isCanceled) seen.stopped.add(job.id);
};

/** A build ends with its last job, as its jobs and its cancel say. */
const checkEndOfBuild = ({ call }: CheckContext, { build, seen, jobs }: SeenBuild): void => {
  const isOver = jobs.every(({ node }) => node.end !== null);
  must(
    24,
    isOver === isEnded(build.status),
    isOver ? "a build goes on without a job" : "a build ended before its jobs",
  );
  if (!isOver) return;
  seen.hasEnded = true;
  must(24, build.finishedAt === call.now, "a build did not end with its last job");
  const failed = jobs.filter(({ job, node }) => node.end!.status === "failed" && !job.mayFail);
  const { until } = build.several!;
  const wasCanceled = seen.cancel !== null && seen.cancel.at <= until;
  const isOverdue = !wasCanceled && call.now >= until;
  const someCanceled = jobs.some(({ node }) => node.end!.status === "canceled");
  const byJobs = failed.length > 0 ? "failed" : someCanceled ? "canceled" : "succeeded";
  const expected = wasCanceled ? "canceled" : isOverdue ? "failed" : byJobs;
  must(25, build.status === expected, `a build ended ${build.status} whose jobs say ${expected}`);
  if (wasCanceled || isOverdue || failed.length === 0) return;
  const first = Math.min(...failed.map(({ node }) => node.end!.finishedAt));
  const isFirst = failed.some(
    ({ node: { end } }) =>
      end!.finishedAt === first && end!.exitCode === build.exitCode && end!.reason === build.reason,
  );
  must(25, isFirst, "a build does not show its first failure");
};
