import { createHash } from "node:crypto";
import { answerChanged, changedWork } from "../../pipeline/expression/changed.ts";
import { collectQuestions, type Questions } from "../../pipeline/graph/questions.ts";
import { formatMistake } from "../../pipeline/mistake.ts";
import { hashedText, type IncludedText, type Includes } from "../../pipeline/parse/included-files.ts";
import { type ParsedPlan, parsePlan } from "../../pipeline/parse/parse.ts";
import type { JobDefinition, Plan } from "../../pipeline/parse/plan.ts";
import { planOfJob } from "../../pipeline/parse/plan-contents.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { Fetched } from "../checkout/checkout.ts";
import { pipelineText } from "../checkout/commit-file.ts";
import { type ParsedWithIncludes, parseInCommit } from "../checkout/included-files.ts";
import type { JobLog } from "../log/job-log.ts";
import type { JobAnswer, OneOfSeveral } from "../wire/answers.ts";
import type { BuildCalls } from "../wire/build-calls.ts";
import { BuildFailure } from "./failure.ts";
import type { ComparedFiles } from "./job-facts.ts";

/** The job's plan as the file defines it. */
export interface PlanRead {
  /** The file's name, for mistakes in it. */
  file: string;
  text: string;
  /** The plan to run. */
  plan: Plan;
  /** The whole file's plan, and the job to run. The job is null if the file has no jobs. */
  whole: Plan;
  definition: JobDefinition | null;
  /** The included files. */
  includes?: IncludedText[];
}

/** Returns all texts that may contain expressions. */
export const wholeText = ({ text, includes = [] }: Pick<PlanRead, "text" | "includes">): string =>
  [text, ...includes.map((one) => one.text)].join("\n");

/**
 * Returns the file behind the job's plan, and all its includes, from the commit itself. An agent's earlier reports do
 * not count.
 * @throws BuildFailure plan-mismatch
 */
const comparedFile = async (
  { path, hash }: OneOfSeveral,
  definition: string | null,
  fetched: Fetched,
): Promise<ParsedWithIncludes & { text: string }> => {
  const where = path === null ? "the pipeline's definition" : `${path} of commit ${fetched.commitSha}`;
  const differs = (): BuildFailure =>
    new BuildFailure(
      "plan-mismatch",
      `${where} differs from the file that this build's jobs were planned from: nothing ran`,
    );
  const text = path === null ? (definition ?? "") : textInCommit(fetched, path, differs);
  const read = path === null ? { parsed: parsePlan(text), includes: [] } : await parseInCommit(text, fetched);
  if (createHash("sha256").update(hashedText(text, read.includes)).digest("hex") !== hash) throw differs();
  return { text, ...read };
};

const textInCommit = (fetched: Fetched, path: string, differs: () => BuildFailure): string => {
  try {
    return pipelineText(fetched, path, LIMITS.definitionCharacters);
  } catch (error) {
    throw error instanceof BuildFailure ? differs() : error;
  }
};

/**
 * Reads the file and its includes from the commit.
 * @throws BuildFailure pipeline-invalid, or plan-mismatch for a job that was planned from other files
 */
export const readPlan = async (job: JobAnswer, fetched: Fetched): Promise<PlanRead> => {
  const { pipeline, job: one } = job;
  if (one) {
    const name = one.path ?? "definition";
    const { text, parsed, includes } = await comparedFile(one, pipeline.definition, fetched);
    return { ...readPlannedJob(planOrFail(parsed, name), name, text, one.definition), includes };
  }
  if (pipeline.definition !== null) return wholePlan(parsePlan(pipeline.definition), "definition", pipeline.definition);
  const text = pipelineText(fetched, pipeline.configPath, LIMITS.definitionCharacters);
  const { parsed, includes } = await parseInCommit(text, fetched);
  return { ...wholePlan(parsed, pipeline.configPath, text), includes };
};

const wholePlan = (parsed: ParsedPlan, file: string, text: string): PlanRead => {
  const plan = planOrFail(parsed, file);
  return { file, text, plan, whole: plan, definition: null };
};

/** Reads one job of a file. @throws BuildFailure plan-mismatch when the file has no job with this key */
export const readPlannedJob = (whole: Plan, file: string, text: string, key: string): PlanRead => {
  if (whole.jobs === null) return { file, text, plan: whole, whole, definition: null };
  const definition = whole.jobs.find((job) => job.key === key);
  if (!definition) throw new BuildFailure("plan-mismatch", `${file} has no job ${key}: nothing ran`);
  return { file, text, plan: planOfJob(whole, definition), whole, definition };
};

/** Returns a valid plan. @throws BuildFailure pipeline-invalid with a line for each mistake */
const planOrFail = ({ plan, mistakes = [] }: ParsedPlan, file: string): Plan => {
  if (plan) return plan;
  throw new BuildFailure("pipeline-invalid", mistakes.map((mistake) => formatMistake(file, mistake)).join("\n"));
};

/** Parses a plan. @throws BuildFailure pipeline-invalid with a line for each mistake */
export const parsePlanOrFail = (text: string, file: string, includes?: Includes): Plan =>
  planOrFail(parsePlan(text, includes), file);

interface PlanJobsOptions {
  /** The file's path in the repository. */
  path: string;
  commitSha: string;
  comparison: ComparedFiles;
  calls: BuildCalls;
  log: JobLog;
  /** Called when the lease is over. */
  letGo: () => void;
}

/**
 * Reports whether the commit changed the files in job conditions. Without `files` the answer is unknown and counts as
 * changed.
 */
export const changedAnswers = ({ changed }: Questions, files: readonly string[] | null): Record<string, boolean> => {
  const work = changedWork();
  return Object.fromEntries(changed.map((one) => [one, files === null || answerChanged(one, files, work)]));
};

/**
 * Sends the file to the service, which plans its jobs. Answers the service's questions about changed files. Runs no
 * code of the repository.
 * @throws BuildFailure, Cancel
 */
export const planJobs = async ({ text, plan, includes = [] }: PlanRead, options: PlanJobsOptions): Promise<void> => {
  const { path, commitSha, comparison, calls, log, letGo } = options;
  const { base, files } = comparison;
  const changed = changedAnswers(collectQuestions(plan), files);
  const more = { ...(base === null ? {} : { base }), ...(includes.length === 0 ? {} : { includes }) };
  const body = { commitSha, path, text, changed, ...more };
  log.say(`--- Plan of the jobs in ${path}`);
  const keys = await calls.plan(body);
  letGo();
  log.say([`planned ${keys.length} job${keys.length === 1 ? "" : "s"}:`, ...keys.map((key) => `  ${key}`)].join("\n"));
};
