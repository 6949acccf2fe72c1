import { formatMistake } from "../domain/plan/mistake.ts";
import { parsePlan } from "../domain/plan/parse.ts";
import type { JobDefinition, Plan } from "../domain/plan/plan.ts";
import { planOfJob } from "../domain/plan/plan-of-job.ts";
import { LIMITS } from "../protocol/limits.ts";
import type { Fetched } from "./checkout/checkout.ts";
import { pipelineText } from "./checkout/commit-file.ts";
import { BuildFailure } from "./failure.ts";
import { comparedText } from "./one-of-several.ts";
import type { JobAnswer } from "./wire/answers.ts";

/** What the agent was given to do, as the file says it. */
export interface PlanRead {
  /** Name of the file, for mistakes in it. */
  file: string;
  text: string;
  /** What is run. */
  plan: Plan;
  /** The plan of the whole file, and the job in it that is run; null where the file has no jobs. */
  whole: Plan;
  definition: JobDefinition | null;
}

/** @throws BuildFailure pipeline-invalid, or plan-mismatch for a job whose plan was made from another file. */
export const readPlan = (job: JobAnswer, fetched: Fetched): PlanRead => {
  const { pipeline, job: one } = job;
  if (one) {
    const text = comparedText(one, pipeline.definition, fetched);
    const name = one.path ?? "definition";
    return readJob(parsePlanOrFail(text, name), name, text, one.definition);
  }
  const file = pipeline.definition === null ? pipeline.configPath : "definition";
  const text = pipeline.definition ?? pipelineText(fetched, pipeline.configPath, LIMITS.definitionCharacters);
  const plan = parsePlanOrFail(text, file);
  return { file, text, plan, whole: plan, definition: null };
};

/** One job of a file. @throws BuildFailure plan-mismatch when it has none of this key */
export const readJob = (whole: Plan, file: string, text: string, key: string): PlanRead => {
  if (whole.jobs === null) return { file, text, plan: whole, whole, definition: null };
  const definition = whole.jobs.find((job) => job.key === key);
  if (!definition) throw new BuildFailure("plan-mismatch", `${file} has no job ${key}: nothing of it ran`);
  return { file, text, plan: planOfJob(whole, definition), whole, definition };
};

/** @throws BuildFailure pipeline-invalid with a line for each mistake. */
export const parsePlanOrFail = (text: string, file: string): Plan => {
  const { plan, mistakes = [] } = parsePlan(text);
  if (plan) return plan;
  throw new BuildFailure("pipeline-invalid", mistakes.map((mistake) => formatMistake(file, mistake)).join("\n"));
};
