import { isMap, isNode, isScalar, isSeq, type Node } from "yaml";
import {
  BESIDE_STEPS_ADVICE,
  FILE_KEY_ADVICE,
  JOB_KEY_ADVICE,
  jobKeyAdvice,
  WORD_ADVICE,
  WRITE_JOBS,
} from "../advice/keys.ts";
import { CHECKOUT, REQUIRES, REQUIRES_OF_JOB } from "../fields/agent-fields.ts";
import { ARTIFACTS, REPORTS } from "../fields/artifact-fields.ts";
import { CACHES } from "../fields/cache-fields.ts";
import { GROUP_NAMES, JOB_RETRY, JOBS } from "../fields/job-fields.ts";
import { env, STEP_DEFAULTS, TIMEOUT_MINUTES } from "../fields/step-fields.ts";
import { TOOLS } from "../fields/tool-fields.ts";
import { TRIGGER_FIELDS } from "../fields/trigger-fields.ts";
import { field, type MappingAdvice, type MappingOf, mapping } from "../yaml/collection-parsers.ts";
import type { NodeParser } from "../yaml/node-parser.ts";
import { flag, text, wholeNumber } from "../yaml/scalar-parsers.ts";
import type { ParseContext } from "./parse-context.ts";
import { INCLUDED_SCHEMA, STEPS } from "./step-list.ts";

const textKeys = (node: Node | undefined): string[] =>
  isMap(node) ? node.items.map((pair) => (isScalar(pair.key) ? String(pair.key.value) : "")) : [];

/**
 * Reports whether the value of a key is a job. GitLab files have jobs at their top, and Codemagic and Bitrise in
 * `workflows`.
 */
const isJob = (value: Node, context: ParseContext): boolean =>
  textKeys(context.resolve(value)).some((key) => /^(?:steps|scripts?|stage|extends|commands|trigger)$/.test(key));

const childNodes = (node: Node | undefined): Node[] => {
  if (isSeq(node)) return node.items.filter(isNode);
  return isMap(node) ? node.items.map((pair) => pair.value).filter(isNode) : [];
};

/**
 * Finds the jobs of a file for another CI: in `jobs`, `stages`, `workflows`, or any top-level key that is not in
 * `knownKeys`.
 */
export const jobsIn = (file: Node, knownKeys: Record<string, unknown>, context: ParseContext): Node[] => {
  const target = context.resolve(file);
  if (!isMap(target)) return [];
  return target.items.flatMap(({ key, value }) => {
    const name = isScalar(key) ? String(key.value) : "";
    if (!isNode(value) || Object.hasOwn(knownKeys, name)) return [];
    if (name === "workflows") return childNodes(context.resolve(value)).filter((job) => isJob(job, context));
    if (name !== "jobs" && name !== "stages") return isJob(value, context) ? [value] : [];
    const jobs = childNodes(context.resolve(value)).filter((job) => isMap(context.resolve(job)));
    return jobs.flatMap((job) => {
      const inner = jobsIn(job, knownKeys, context);
      return inner.length > 0 ? inner : [job];
    });
  });
};

const name = field(text(), "A name for readers of the file. The service shows the pipeline's own name.");
const timeout = wholeNumber(1, TIMEOUT_MINUTES);

/** Keys at the top of a file of steps that define its builds. */
const BUILD_FIELDS = {
  name,
  env,
  defaults: field(STEP_DEFAULTS, "Defaults for the steps."),
  requires: field(REQUIRES, "Requirements for the agent, in addition to the pipeline's."),
  "timeout-minutes": field(timeout, "Minutes after which the build is stopped; the pipeline's own limit also applies."),
  checkout: field(CHECKOUT, "How the commit is fetched; false for a build without its files."),
  tools: field(TOOLS, "Tools with their versions that are set up before the first step, or `auto`. May use ${{ }}."),
  groups: field(GROUP_NAMES, "Protected variable groups whose variables the build gets."),
  artifacts: field(ARTIFACTS, "Files that are kept when the steps have ended."),
  cache: field(CACHES, "Files to cache for later builds."),
  reports: field(REPORTS, "The test reports of its tools."),
  retry: field(JOB_RETRY, "How often it is retried after its steps failed or timed out; 0 by default."),
  steps: { ...field(STEPS, "The steps, in order."), required: true },
};

/** Keys at the top of a file with `jobs`. Each job may override them, except `name` and `jobs`. */
const JOBS_FIELDS = {
  name,
  env,
  defaults: field(STEP_DEFAULTS, "Defaults for the steps of all jobs."),
  requires: field(REQUIRES_OF_JOB, "Requirements for the agents of all jobs, in addition to the pipeline's."),
  "timeout-minutes": field(timeout, "Minutes after which a job is stopped; the pipeline's own limit also applies."),
  checkout: field(CHECKOUT, "How the jobs fetch the commit; false for jobs without its files."),
  tools: field(TOOLS, "Tools that are set up for all jobs, or `auto`. May use ${{ }}."),
  "fail-fast": field(flag, "Whether the first failure of a job ends all others; false by default."),
  jobs: { ...field(JOBS, "The jobs, by their names."), required: true },
};

/** Keys at the top of a file. */
export const FILE_FIELDS = { ...BUILD_FIELDS, ...JOBS_FIELDS, ...TRIGGER_FIELDS };

const ADVICE: MappingAdvice = {
  name: "a pipeline file",
  adviceForKey: (key, value, context) =>
    BESIDE_STEPS_ADVICE.get(key) ??
    FILE_KEY_ADVICE.get(key) ??
    (isJob(value, context) ? WRITE_JOBS : WORD_ADVICE.get(key)),
};

const inJobs = (key: string): string | undefined =>
  ["groups", "gate", "retry", "artifacts", "downloads", "reports", "cache"].includes(key)
    ? "Write it in the job that needs it"
    : undefined;

const JOBS_ADVICE: MappingAdvice = {
  name: "a file with several jobs",
  adviceForKey: (key) =>
    key === "steps"
      ? "A file has `steps` or `jobs`, not both: write these steps in a job"
      : (inJobs(key) ?? JOB_KEY_ADVICE.get(key) ?? FILE_KEY_ADVICE.get(key)),
};

/** Reports whether the file has `jobs`. */
export const hasJobs = (root: Node): boolean =>
  isMap(root) && root.items.some(({ key }) => isScalar(key) && key.value === "jobs");

const kinds = <Steps, Jobs>(steps: NodeParser<Steps>, jobs: NodeParser<Jobs>) => ({ steps, jobs });

/** The language of pipeline files: the parsers of its two kinds, each with its JSON Schema. */
export const PIPELINE_FILE = kinds(
  mapping({ ...BUILD_FIELDS, ...TRIGGER_FIELDS }, ADVICE),
  mapping({ ...JOBS_FIELDS, ...TRIGGER_FIELDS }, JOBS_ADVICE),
);

const ANYTHING = field<unknown>({ schema: {}, parse: () => null }, "Read from the default branch, by the service.");
const ANY_TRIGGERS = { on: ANYTHING, supersede: ANYTHING, schedule: ANYTHING };

/** A file as an agent reads it. The agent ignores the file's triggers, because they are decided elsewhere. */
export const RUNNABLE_FILE = kinds(
  mapping({ ...BUILD_FIELDS, ...ANY_TRIGGERS }, ADVICE),
  mapping({ ...JOBS_FIELDS, ...ANY_TRIGGERS }, JOBS_ADVICE),
);

/** A job in a file for another CI. The job has the keys of a pipeline file, and requires none of them. */
export const OTHER_CI_JOB = mapping(
  { ...BUILD_FIELDS, steps: { ...BUILD_FIELDS.steps, required: false } },
  { name: "a job", adviceForKey: (key) => jobKeyAdvice(key) ?? FILE_KEY_ADVICE.get(key) },
);

/** The parts of a file about its builds. */
export type StepsFile = MappingOf<typeof BUILD_FIELDS>;
export type JobsFile = MappingOf<typeof JOBS_FIELDS>;

const DRAFT = "https://json-schema.org/draft/2020-12/schema";

/** The JSON Schema of pipeline files, for editors. The parsers that check a file produce the schema. */
export const PIPELINE_SCHEMA = {
  $schema: DRAFT,
  title: "Millrace pipeline",
  anyOf: [
    { title: "Steps of one job", ...PIPELINE_FILE.steps.schema },
    { title: "Several jobs", ...PIPELINE_FILE.jobs.schema },
  ],
};

/** The JSON Schema of the files that pipeline files include. */
export const INCLUDE_SCHEMA = { $schema: DRAFT, title: "Steps that Millrace pipelines include", ...INCLUDED_SCHEMA };
