import type { GraphJob } from "../../src/pipeline/graph/graph.ts";
import type { JobEnd } from "../../src/pipeline/graph/job-end.ts";
import { failuresThatReach, hasFailedBehind, jobsNamed, verdictOf } from "./job-specification.ts";
import type { CheckContext } from "./observations.ts";
import { mayStop, type SeenBuild, type SeenJob } from "./seen-build.ts";
import { must } from "./violation.ts";

/** Checks once how a job ended: by its agent, or for a visible reason. */
export const checkEndOfJob = (context: CheckContext, one: SeenBuild, { job, facts, wasQueued }: SeenJob): void => {
  const end = facts.end!;
  const known = one.seen.ends.get(job.id);
  if (known === end) return;
  must(24, !known || JSON.stringify(known) === JSON.stringify(end), "the end of a job changed");
  one.seen.ends.set(job.id, end);
  if (known) return;
  if (end.adopted) return;
  must(24, end.finishedAt === context.call.now, "a job ended at another time");
  if (end.cause?.kind === "fail-fast") checkFailFast(one, { job, facts, wasQueued });
  if (end.status === "canceled") must(26, mayStop(context, one, job), "a job was canceled for no reason");
  if (wasQueued) checkResult(context, end, job.id);
  else checkUnqueued(context, one, { job, facts, wasQueued });
};

/** The report names the failed job, and a job that may fail has no victims. */
const checkFailFast = (one: SeenBuild, { job, facts }: SeenJob): void => {
  const names = failuresThatReach(one, job).map(({ key }) => key);
  must(27, names.includes(facts.end!.cause!.job ?? ""), "a job was ended for a failure that does not reach it");
};

/** Outputs come from the lease that finished the job, and only if the job succeeded. */
const checkResult = ({ observed, storage }: CheckContext, end: JobEnd, jobId: string): void => {
  const posted = observed.posted.get(jobId);
  const stored = storage.rows.outputs.get(jobId) ?? {};
  const expected = end.status === "succeeded" && posted?.fence === end.fence ? posted.outputs : {};
  must(
    30,
    JSON.stringify(stored) === JSON.stringify(expected),
    "the outputs are not from the lease that finished the job",
  );
  const hasLease = end.fence === storage.rows.jobs.get(jobId)!.fence;
  must(30, hasLease || (end.fence === 0 && end.status !== "succeeded"), "the end names another lease than the last");
};

/** The queue never had the job: its needs, its own condition, its gate or a cancel ended it. */
const checkUnqueued = (context: CheckContext, one: SeenBuild, seen: SeenJob): void => {
  const { job, facts } = seen;
  const end = facts.end!;
  if (end.status === "canceled") return;
  // A cancel in the same call may come after the condition was evaluated.
  const verdicts = [verdictOf(one, job), verdictOf({ ...one, isCanceled: false }, job)];
  if (verdicts.includes("runs") && job.gate && end.reason === "gate-closed") {
    must(32, !!facts.gate, "a gate closed without asking");
    const { decision, until } = facts.gate;
    const isRejected = decision !== null && !decision.approved;
    must(32, isRejected || (!decision && context.call.now >= until), "a gate closed by itself");
    must(32, end.status === "failed", "a job behind a closed gate did not fail");
    return;
  }
  if (end.status === "succeeded") {
    must(35, !job.hasSteps && verdicts.includes("runs"), "a job succeeded without a result");
    must(32, !job.gate || facts.gate?.decision?.approved === true, "a closed gate let a job succeed");
    return;
  }
  must(35, verdicts.includes(end.status), `a job is ${end.status} that ${verdicts[0]}`);
  if (end.status !== "failed") checkCause(one, seen);
};

/** A skipped or dropped job names its own condition, or a job that it needs. */
const checkCause = (one: SeenBuild, { job, facts }: SeenJob): void => {
  const { status, cause } = facts.end!;
  must(35, cause !== null, "a job that did not run has no cause");
  if (cause.kind === "condition") {
    must(35, status === "skipped" && job.condition !== null, "a condition dropped a job");
    return;
  }
  const named = [...behind(one, job)].find(({ key }) => key === cause.job);
  const end = named && one.facts.get(named.id)!.end;
  must(35, !!end, "a job names a cause that it does not need");
  must(35, CAUSES[end.status] === cause.kind, `a job says ${cause.kind} of one that is ${end.status}`);
  if (status === "skipped") {
    must(35, cause.kind === "need-skipped" && end.cause?.kind === "condition", "a skip has the wrong cause");
    return;
  }
  const isFailure = hasFailedBehind(one, job, facts.end!);
  must(35, cause.kind === (isFailure ? "need-failed" : "need-canceled"), `a job was dropped for ${cause.kind}`);
};

/** What a job may name as its cause, by its own end. */
const CAUSES: Partial<Record<JobEnd["status"], string>> = {
  failed: "need-failed",
  canceled: "need-canceled",
  skipped: "need-skipped",
};

/** Returns all direct and indirect needs of a job. */
const behind = ({ graph }: SeenBuild, job: GraphJob): Set<GraphJob> => {
  const found = new Set<GraphJob>();
  const add = ({ needs }: GraphJob): void => {
    for (const { definition } of needs)
      for (const one of jobsNamed(graph, definition)) {
        if (found.has(one)) continue;
        found.add(one);
        add(one);
      }
  };
  add(job);
  return found;
};
