import { ExpressionMistake } from "../../pipeline/expression/mistake.ts";
import type { Condition, Conditions } from "../../pipeline/graph/condition.ts";
import { holds, type NeedsToRead } from "../../pipeline/graph/condition-value.ts";
import type { ConditionWork } from "../../pipeline/graph/condition-work.ts";
import type { GraphFacts, GraphJob } from "../../pipeline/graph/graph.ts";
import type { JobCause } from "../../pipeline/graph/job-end.ts";
import type { JobView, Need } from "./job-view.ts";
import type { JobRules } from "./rules.ts";

/** What becomes of a job once its needs have ended. */
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

/** What the need did to those that depend on it. A dropped or skipped one hands on what kept it from running. */
const causeOf = ({ job, status, end }: JobView): JobCause => {
  if (status === "failed") return { kind: "need-failed", job: job.key, text: null };
  if (status === "canceled") return { kind: "need-canceled", job: job.key, text: null };
  if (status === "skipped" && end?.cause?.kind === "condition")
    return { kind: "need-skipped", job: job.key, text: end.cause.text };
  return end?.cause ?? { kind: "need-skipped", job: job.key, text: null };
};

const ORDER: readonly JobCause["kind"][] = ["need-failed", "need-canceled", "need-skipped"];
const mostTelling = (causes: JobCause[]): JobCause =>
  causes.toSorted((left, right) => ORDER.indexOf(left.kind) - ORDER.indexOf(right.kind))[0]!;

const judge = (job: GraphJob, condition: Condition, needs: readonly Need[], around: Surroundings): Verdict => {
  const { rules } = around;
  const inTheWay = needs.filter(({ view, isOptional }) => !rules.good(view, isOptional)).map(({ view }) => view);
  const success = inTheWay.length === 0;
  if (!success && !condition.usesStatus)
    return { kind: rules.endsAs(inTheWay), cause: mostTelling(inTheWay.map(causeOf)) };
  const failure = needs.some(({ view }) => rules.isFailure(view));
  const situation = { success, failure, cancelled: around.isCanceled, needs: around.needs, work: around.work };
  return holds(condition, job, around.facts, situation)
    ? { kind: "run" }
    : { kind: "skipped", cause: { kind: "condition", job: null, text: job.condition } };
};

export const verdictOf = (job: GraphJob, needs: readonly Need[], around: Surroundings): Verdict => {
  try {
    return judge(job, around.conditions.of(job.condition), needs, around);
  } catch (error) {
    const message = error instanceof ExpressionMistake ? error.message : "This cannot be evaluated";
    return {
      kind: "invalid",
      cause: { kind: "condition", job: null, text: job.condition },
      message: `Its \`if\` cannot be evaluated: ${message}`,
    };
  }
};
