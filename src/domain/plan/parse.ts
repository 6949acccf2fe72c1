import type { Node, Scalar } from "yaml";
import type { Requires } from "../../protocol/pipeline.ts";
import { wantsAny } from "../githost/trigger-words.ts";
import type { Triggers } from "../githost/triggers.ts";
import type { Mistake } from "./mistake.ts";
import type { ScalarText } from "./node-parser.ts";
import { jobsIn } from "./other-ci-jobs.ts";
import type { ParseContext } from "./parse-context.ts";
import {
  FILE_FIELDS,
  OTHER_CI_JOB,
  PIPELINE_FILE,
  type PipelineFile,
  RUNNABLE_FILE,
  type StepOfFile,
} from "./pipeline-file.ts";
import type { Checkout, EnvEntry, Plan, PlanStep, Shell, Template } from "./plan.ts";
import { type FileRead, readFile } from "./read-file.ts";
import { TemplateParser } from "./template-parser.ts";
import { triggersOf } from "./triggers.ts";
import { folderProblem } from "./working-directory.ts";

/** A plan with hints, or all mistakes of the file, in the order of the file. */
export type Parsed =
  | { plan: Plan; hints: Mistake[]; mistakes?: undefined }
  | { plan?: undefined; hints?: undefined; mistakes: Mistake[] };

const envOf = (
  entries: { key: string; node: Node; value: ScalarText }[] | undefined,
  parser: TemplateParser,
): EnvEntry[] =>
  (entries ?? []).map(({ key, node, value }) => ({
    key,
    value: parser.template(value),
    position: parser.context.positionAt(node.range?.[0] ?? 0),
  }));

const NO_SCRIPT = { text: "", references: [], firstLine: "" };

const conditionOf = (written: boolean | ScalarText | undefined, node: Node, parser: TemplateParser) => {
  if (written === undefined) return null;
  if (typeof written !== "boolean") return parser.condition(written);
  return parser.expression(node as Scalar, String(written), 0, "null");
};

/** Checks the literal parts; a folder with expressions is checked again when they have values. */
const folderOf = (written: ScalarText, parser: TemplateParser): Template => {
  const folder = parser.template(written);
  const problem = folderProblem(folder.map((part) => (typeof part === "string" ? part : "?")).join(""));
  if (problem) parser.mistake(written.node, 0, problem);
  return folder;
};

const stepOf = (
  file: StepOfFile,
  defaults: { shell: Shell; folder: ScalarText | undefined; env: string[] },
  parser: TemplateParser,
): PlanStep => {
  const shell = file.shell ?? defaults.shell;
  const folder = file["working-directory"] ?? defaults.folder;
  const given = [...defaults.env, ...(file.env ?? []).map((entry) => entry.key)];
  const { text, references, firstLine } = file.run ? parser.script(file.run, shell, given) : NO_SCRIPT;
  return {
    id: file.id?.text ?? null,
    name: file.name ? parser.template(file.name) : null,
    run: { text, references },
    firstLine,
    shell,
    env: envOf(file.env, parser),
    if: conditionOf(file.if, file.node, parser),
    workingDirectory: folder ? folderOf(folder, parser) : null,
    timeoutMinutes: file["timeout-minutes"] ?? null,
    continueOnError: file["continue-on-error"] ?? false,
    position: parser.context.positionAt(file.node.range?.[0] ?? 0),
  };
};

const stepsOf = (file: PipelineFile, context: ParseContext): PlanStep[] => {
  const before: string[] = [];
  const run = file.defaults?.run;
  const env = (file.env ?? []).map((entry) => entry.key);
  const defaults = { shell: run?.shell ?? "bash", folder: run?.["working-directory"], env } as const;
  return (file.steps ?? []).map((step) => {
    const plan = stepOf(step, defaults, new TemplateParser(context, { steps: [...before] }));
    if (step.id && before.includes(step.id.text)) context.mistake(step.id.node, "Another step already has this id");
    if (step.id) before.push(step.id.text);
    return plan;
  });
};

const checkoutOf = (file: PipelineFile): Checkout => {
  const { depth = 1, submodules = false, lfs = false, "fetch-tags": fetchTags = false } = file.checkout ?? {};
  return { depth, submodules: submodules === true ? "direct" : submodules || "none", lfs, fetchTags };
};

const requiresOf = ({ requires }: PipelineFile): Requires => {
  const { node: _, labels, ...rest } = requires ?? { node: null };
  return { ...rest, ...(labels ? { labels: labels.map((label) => label.text) } : {}) };
};

const planOf = (file: PipelineFile, context: ParseContext): Plan => {
  if (file.requires?.platform === "windows")
    context.hint(file.requires.node, "There is no agent for Windows yet: a build that needs one waits forever");
  const everywhere = new TemplateParser(context, { steps: null });
  return {
    name: file.name ? everywhere.template(file.name) : null,
    env: envOf(file.env, everywhere),
    job: {
      requires: requiresOf(file),
      timeoutMinutes: file["timeout-minutes"] ?? null,
      checkout: checkoutOf(file),
      steps: stepsOf(file, context),
    },
    jobs: null,
    failFast: false,
    groups: [],
  };
};

/** Mistakes in the jobs of a file for another CI are reported too. */
const checkJobs = (root: Node, context: ParseContext): void => {
  for (const node of jobsIn(root, FILE_FIELDS, context)) {
    const job = OTHER_CI_JOB.parse(node, context);
    if (job) planOf(job, context);
  }
};

const planIn = (root: Node, context: ParseContext): Plan | undefined => {
  const file = RUNNABLE_FILE.parse(root, context);
  const plan = file && planOf(file, context);
  checkJobs(root, context);
  return plan;
};

/**
 * Parses and checks what a pipeline file's builds do. A file that exceeds a limit is a mistake too. Whatever it says of
 * when it is built: that breaks no build.
 */
export const parsePlan = (text: string): Parsed => {
  const { value, hints, mistakes } = readFile(text, planIn);
  return mistakes ? { mistakes } : { plan: value, hints };
};

/** All that a pipeline file says. */
interface WholeFile {
  plan: Plan;
  triggers: Triggers;
}

const fileIn = (root: Node, context: ParseContext): WholeFile | undefined => {
  const file = PIPELINE_FILE.parse(root, context);
  const whole = file && { plan: planOf(file, context), triggers: triggersOf(file, context) };
  checkJobs(root, context);
  if (file?.on && !wantsAny(whole!.triggers.on))
    context.hint(file.on.node, "No push, tag or pull request builds this: `on` has none of them");
  return whole;
};

/** Parses and checks all that a pipeline file says, also when it is built. */
export const parseFile = (text: string): FileRead<WholeFile> => readFile(text, fileIn);
