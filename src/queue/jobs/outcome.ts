import {
  type Condition,
  type Conditions,
  type ConditionWork,
  holds,
  type NeedsToRead,
} from "../../pipeline/graph/condition.ts";
import type { GraphFacts, GraphJob } from "../../pipeline/graph/graph.ts";
import type { JobCause, JobEnd } from "../../pipeline/graph/job-end.ts";
import { ExpressionMistake } from "../../pipeline/mistake.ts";
import type { EndedStatus } from "../../protocol/build-states.ts";
import { type BuildCancel, type BuildView, type JobRules, type JobView, type Need, TOO_LONG } from "./rules.ts";

/** The decision about a job once its needs have ended. */
export type Verdict =
  | { kind: "run" }
  | { kind: "skipped" | "dropped"; cause: JobCause }
  | { kind: "invalid"; cause: JobCause; message: string };

interface Surroundings {
  facts: GraphFacts;
  conditions: Conditions;
  isCanceled: boolean;
  needs(): NeedsToRead;
  work: ConditionWork;
  rules: JobRules;
}

/**
 * Returns a need's effect on its dependents. A dropped or skipped need passes on the cause that kept the need from
 * running.
 */
const toCause = ({ job, status, end }: JobView): JobCause => {
  if (status === "failed") return { kind: "need-failed", job: job.key, text: null };
  if (status === "canceled") return { kind: "need-canceled", job: job.key, text: null };
  if (status === "skipped" && end?.cause?.kind === "condition")
    return { kind: "need-skipped", job: job.key, text: end.cause.text };
  return end?.cause ?? { kind: "need-skipped", job: job.key, text: null };
};

const ORDER: readonly JobCause["kind"][] = ["need-failed", "need-canceled", "need-skipped"];
const mostTelling = (causes: JobCause[]): JobCause =>
  causes.toSorted((one, other) => ORDER.indexOf(one.kind) - ORDER.indexOf(other.kind))[0]!;

const judge = (job: GraphJob, condition: Condition, needs: readonly Need[], around: Surroundings): Verdict => {
  const { rules } = around;
  const inTheWay = needs.filter(({ view, isOptional }) => !rules.good(view, isOptional)).map(({ view }) => view);
  const success = inTheWay.length === 0;
  if (!success && !condition.usesStatus)
    return { kind: rules.endsAs(inTheWay), cause: mostTelling(inTheWay.map(toCause)) };
  const failure = needs.some(({ view }) => rules.isFailure(view));
  const situation = { success, failure, cancelled: around.isCanceled, needs: around.needs, work: around.work };
  return holds(condition, job, around.facts, situation)
    ? { kind: "run" }
    : { kind: "skipped", cause: { kind: "condition", job: null, text: job.condition } };
};

export const judgeJob = (job: GraphJob, needs: readonly Need[], around: Surroundings): Verdict => {
  try {
    return judge(job, around.conditions.parse(job.condition), needs, around);
  } catch (error) {
    const message = error instanceof ExpressionMistake ? error.message : "This cannot be evaluated";
    return {
      kind: "invalid",
      cause: { kind: "condition", job: null, text: job.condition },
      message: `Its \`if\` cannot be evaluated: ${message}`,
    };
  }
};

interface Outcome extends Pick<JobEnd, "exitCode" | "reason" | "message"> {
  status: EndedStatus;
}

/** Returns the job that ended first. Graph order decides between jobs that ended at the same time. */
export const firstEnded = (views: readonly JobView[]): JobView | undefined =>
  views.toSorted((one, other) => (one.end?.finishedAt ?? 0) - (other.end?.finishedAt ?? 0))[0];

const listKeys = (keys: readonly string[], words: string): string | null =>
  keys.length === 0
    ? null
    : `${keys.length} ${keys.length === 1 ? "job" : "jobs"} ${words}: ${keys.slice(0, 5).join("; ")}.`;

const forgiven = (views: readonly JobView[]): string | null => {
  const keys = views.filter(({ status }) => status === "failed").map(({ job }) => job.key);
  return listKeys(keys, "failed without failing the build");
};

/** Returns a note for people about problems in a build that succeeded, or null. */
const blemishes = (views: readonly JobView[]): string | null => {
  const unsteady = views.filter(({ status, retries }) => status === "succeeded" && retries > 0);
  const tried = listKeys(
    unsteady.map(({ job }) => job.key),
    "passed after a retry",
  );
  return [forgiven(views), tried].filter((sentence) => sentence !== null).join(" ") || null;
};

/** Returns the outcome of a build whose jobs have ended. The first decisive job to end decides it. */
export const judgeBuild = (
  views: readonly JobView[],
  build: BuildView,
  cancel: BuildCancel | null,
  rules: JobRules,
): Outcome => {
  const status = rules.buildOutcome(views, cancel);
  if (cancel?.isTimeout) return { status, exitCode: null, reason: "timeout", message: TOO_LONG };
  if (status === "succeeded") {
    const note = views.find(({ end }) => end?.message)?.end?.message ?? null;
    return { status, exitCode: 0, reason: null, message: blemishes(views) ?? note };
  }
  const decisive = views.filter((view) => view.status === status && !(status === "failed" && view.job.mayFail));
  const { exitCode = null, reason = null, message = null } = firstEnded(decisive)?.end ?? {};
  if (!cancel) return { status, exitCode, reason, message };
  return {
    status,
    exitCode,
    reason: build.supersededBy ? "superseded" : "canceled",
    message: build.message ?? message,
  };
};
