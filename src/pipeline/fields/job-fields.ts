import { isMap, isScalar, isSeq, type Node } from "yaml";
import { LIMITS } from "../../protocol/limits.ts";
import { ROLES } from "../../protocol/token.ts";
import { jobKeyAdvice } from "../advice/keys.ts";
import { STEPS } from "../parse/step-list.ts";
import { field, list, mapping, record } from "../yaml/collection-parsers.ts";
import { either, type NodeParser, type ParsedBy, type ScalarText } from "../yaml/node-parser.ts";
import { choice, flag, text, wholeNumber } from "../yaml/scalar-parsers.ts";
import { CHECKOUT, REQUIRES_OF_JOB } from "./agent-fields.ts";
import { ARTIFACTS, DOWNLOADS, REPORTS } from "./artifact-fields.ts";
import { CACHES } from "./cache-fields.ts";
import { FILE_LIMITS } from "./limits.ts";
import { MATRIX } from "./matrix-fields.ts";
import { condition, env, NAME_IN_FILE, STEP_DEFAULTS, TIMEOUT_MINUTES } from "./step-fields.ts";
import { TOOLS } from "./tool-fields.ts";

const JOB_NAME = {
  ...NAME_IN_FILE,
  message: "A job's name must be letters, digits, _ and -, not beginning with a digit",
};

const neededJob = mapping(
  {
    job: { ...field(text(), "The job that must have ended."), required: true },
    optional: field(flag, "Whether this job may run when that one was skipped."),
  },
  { name: "an item of `needs`" },
);
const NEED = either(text(), (node) => !isMap(node), neededJob);
const NEEDS_LIST = list(NEED, { atMost: LIMITS.needs });
/** A list of needs. A single value gets a message that says how to write a list. */
const NEEDS: NodeParser<ParsedBy<typeof NEED>[]> = {
  schema: NEEDS_LIST.schema,
  parse(node, context) {
    const target = context.resolve(node);
    if (isSeq(target)) return NEEDS_LIST.parse(node, context);
    context.mistake(node, "Write a list such as `needs: [build]`, or `needs: [{ job: build, optional: true }]`");
    return undefined;
  },
};

const GATE = mapping(
  {
    message: field(text(), "The question that people see. May use ${{ }}."),
    by: field(choice(...ROLES), "The lowest role that may decide; maintainer by default."),
    "timeout-hours": field(wholeNumber(1, LIMITS.gateHours), "Hours after which it counts as rejected; 72 by default."),
    "host-status": field(
      choice("success", "pending"),
      "The state at the git host while the build waits only for gates; success by default.",
    ),
  },
  { name: "`gate`", adviceForWord: () => "Write a mapping, for example `gate: { message: Release? }`" },
);

const CONCURRENCY = mapping(
  {
    group: { ...field(text(), "Name of the group in the repository. May use ${{ }}."), required: true },
    limit: field(
      wholeNumber(1, LIMITS.parallelBuilds),
      "Jobs of the group that may run at the same time; 1 by default.",
    ),
    "when-busy": field(choice("wait", "cancel-running"), "What happens when the group is full; wait by default."),
  },
  {
    name: "`concurrency`",
    adviceForKey: (key) =>
      /^cancel.in.progress$/.test(key) ? "Write `when-busy: cancel-running`, or leave it out to wait" : undefined,
    adviceForWord: () => "Write a mapping, for example `concurrency: { group: production }`",
  },
);

const GROUP_NAME: NodeParser<ScalarText> = {
  schema: { type: "string", minLength: 1, maxLength: LIMITS.nameCharacters },
  parse(node, context) {
    const scalar = text().parse(node, context);
    if (!scalar?.text.includes("${{")) return scalar;
    context.mistake(node, "The name of a variable group is plain text: ${{ }} is not evaluated here");
    return undefined;
  },
};

/** Names of protected variable groups. */
export const GROUP_NAMES = list(GROUP_NAME, { atMost: LIMITS.groups });

/** The number of retries of a job after its steps failed. */
export const JOB_RETRY = wholeNumber(0, FILE_LIMITS.retries);

/** Keys of a job in `jobs`. */
const JOB_FIELDS = {
  name: field(text(), "Name shown to people; its key by default. May use ${{ }}."),
  needs: field(NEEDS, "Jobs to wait for."),
  if: field(
    condition,
    "Condition to run the job; without success(), failure(), always() or cancelled() it means success() && (...).",
  ),
  matrix: field(MATRIX, "The job runs once for each combination of the values of its axes."),
  "max-parallel": field(wholeNumber(1, LIMITS.jobs), "Combinations of the matrix that run at a time; all by default."),
  "fail-fast": field(flag, "Whether the first failure of a combination ends the others; false by default."),
  "continue-on-error": field(
    either(flag, (node) => isScalar(node) && typeof node.value === "boolean", text()),
    "Whether the build can succeed when this job fails. May be ${{ }}.",
  ),
  retry: field(JOB_RETRY, "How often it is retried after its steps failed or timed out; 0 by default."),
  gate: field(GATE, "A person must approve the job."),
  concurrency: field(
    CONCURRENCY,
    "Jobs of the same group, in all pipelines of the repository, do not run at the same time.",
  ),
  groups: field(GROUP_NAMES, "Protected variable groups whose variables it gets."),
  outputs: field(record(NAME_IN_FILE, text(true)), "Values for the jobs that need it, by name. May use ${{ }}."),
  env,
  defaults: field(STEP_DEFAULTS, "Defaults for its steps."),
  requires: field(REQUIRES_OF_JOB, "Requirements for its agent, in addition to the pipeline's."),
  "timeout-minutes": field(
    wholeNumber(1, TIMEOUT_MINUTES),
    "Minutes after which it is stopped; the pipeline's own limit also applies.",
  ),
  checkout: field(CHECKOUT, "How the commit is fetched; false for a job without its files."),
  tools: field(TOOLS, "Tools with their versions that are set up before its first step, or `auto`. May use ${{ }}."),
  steps: field(STEPS, "Its steps, in order."),
  artifacts: field(ARTIFACTS, "Files that are kept when its steps have ended."),
  downloads: field(DOWNLOADS, "Artifacts of earlier jobs to download before its first step."),
  reports: field(REPORTS, "The test reports of its tools."),
  cache: field(CACHES, "Files to cache for later builds."),
};

const JOB = mapping(JOB_FIELDS, {
  name: "a job",
  adviceForKey: jobKeyAdvice,
  adviceForWord: () => "A job is a mapping: write `steps` below its name",
  needsOneOf: { keys: ["steps", "gate"], message: "A job needs `steps`, or a `gate` that a person opens" },
});
export type JobOfFile = ParsedBy<typeof JOB>;

const JOBS_RECORD = record(JOB_NAME, JOB);

/** The jobs of a file, by their names. */
export const JOBS: NodeParser<{ key: string; node: Node; value: JobOfFile }[]> = {
  schema: { ...JOBS_RECORD.schema, minProperties: 1, maxProperties: LIMITS.jobDefinitions },
  parse(node, context) {
    const target = context.resolve(node);
    if (!isMap(target)) {
      context.mistake(node, "Write a mapping: the name of each job, and its keys below the name");
      // Report mistakes in the jobs as well.
      for (const item of isSeq(target) ? target.items.slice(0, LIMITS.jobDefinitions) : [])
        if (isMap(item)) JOB.parse(item, context);
      return undefined;
    }
    if (target.items.length === 0) context.mistake(node, "This must not be empty");
    if (target.items.length > LIMITS.jobDefinitions)
      context.mistake(node, `A file has at most ${LIMITS.jobDefinitions} jobs`);
    return JOBS_RECORD.parse(node, context);
  },
};
