import type { Node } from "yaml";
import type { Requires } from "../../protocol/pipeline.ts";
import { reportsOf } from "../fields/artifact-fields.ts";
import type { TriggersOfFile } from "../fields/trigger-fields.ts";
import type { Mistake } from "../mistake.ts";
import { triggersOfFile } from "../triggers/stored-triggers.ts";
import { type Triggers, wantsAny } from "../triggers/triggers.ts";
import type { NodeParser } from "../yaml/node-parser.ts";
import { TemplateParser } from "../yaml/template-parser.ts";
import type { Includes } from "./included-files.ts";
import { cachesOf, parseArtifacts } from "./parse-artifacts.ts";
import type { ParseContext } from "./parse-context.ts";
import { parseJobs } from "./parse-jobs.ts";
import { checkoutOf, plainXcode, toolsOf } from "./parse-machine.ts";
import { envOf, stepsOf } from "./parse-steps.ts";
import {
  FILE_FIELDS,
  hasJobs,
  type JobsFile,
  jobsIn,
  OTHER_CI_JOB,
  PIPELINE_FILE,
  RUNNABLE_FILE,
  type StepsFile,
} from "./pipeline-file.ts";
import type { Plan } from "./plan.ts";
import { type FileRead, readFile } from "./read-file.ts";

/** A plan with hints, or all mistakes of the file, in the order of the file. */
export type Parsed =
  | { plan: Plan; hints: Mistake[]; mistakes?: undefined }
  | { plan?: undefined; hints?: undefined; mistakes: Mistake[] };

const requiresOf = ({ requires }: StepsFile): Requires => {
  const { node: _, labels, ...rest } = requires ?? { node: null };
  return { ...rest, ...(labels ? { labels: labels.map((label) => label.text) } : {}) };
};

const planOfSteps = (file: StepsFile, context: ParseContext): Plan => {
  const everywhere = new TemplateParser(context, { steps: null });
  const tools = toolsOf(file.tools, new TemplateParser(context, { steps: null, level: "plan" }));
  const xcode = plainXcode(tools, context);
  const run = file.defaults?.run;
  const keys = (file.env ?? []).map((entry) => entry.key);
  const defaults = { shell: run?.shell, folder: run?.["working-directory"], env: keys };
  return {
    name: file.name ? everywhere.template(file.name) : null,
    env: envOf(file.env, everywhere),
    job: {
      requires: { ...requiresOf(file), ...(xcode === null ? {} : { xcode }) },
      timeoutMinutes: file["timeout-minutes"] ?? null,
      checkout: checkoutOf(file.checkout),
      tools,
      steps: stepsOf(file.steps ?? [], defaults, context),
      artifacts: parseArtifacts(file.artifacts, context),
      downloads: [],
      reports: reportsOf(file.reports),
      ...cachesOf(file.cache, everywhere),
    },
    jobs: null,
    failFast: false,
    groups: (file.groups ?? []).map(({ text }) => text),
    retry: file.retry ?? 0,
  };
};

const NO_FILES = { artifacts: [], downloads: [], reports: { junit: [] } };

const planOfJobs = (file: JobsFile, context: ParseContext): Plan => {
  const everywhere = new TemplateParser(context, { steps: null });
  return {
    name: file.name ? everywhere.template(file.name) : null,
    env: envOf(file.env, everywhere),
    job: {
      ...{ requires: {}, timeoutMinutes: null, checkout: checkoutOf(file.checkout), tools: null, steps: [] },
      ...NO_FILES,
    },
    jobs: parseJobs(file, context),
    failFast: file["fail-fast"] ?? false,
    groups: [],
    retry: 0,
  };
};

/** Mistakes in the jobs of a file for another CI are reported too. */
const checkJobs = (root: Node, context: ParseContext): void => {
  for (const node of jobsIn(root, FILE_FIELDS, context)) {
    const job = OTHER_CI_JOB.parse(node, context);
    if (job) planOfSteps(job, context);
  }
};

interface Kinds<Also> {
  steps: NodeParser<StepsFile & Also>;
  jobs: NodeParser<JobsFile & Also>;
}

/** Reads a file as the kind that it is. `written` has what it says besides. */
const readAs = <Also>(
  kinds: Kinds<Also>,
  root: Node,
  context: ParseContext,
): { plan: Plan; written: Also } | undefined => {
  if (hasJobs(root)) {
    const file = kinds.jobs.parse(root, context);
    return file && { plan: planOfJobs(file, context), written: file };
  }
  const file = kinds.steps.parse(root, context);
  const read = file && { plan: planOfSteps(file, context), written: file };
  checkJobs(root, context);
  return read;
};

const marked = (plan: Plan, { included }: ParseContext): Plan =>
  included.hasUnread ? { ...plan, hasUnread: true } : plan;

const planIn = (root: Node, context: ParseContext): Plan | undefined => {
  const plan = readAs<unknown>(RUNNABLE_FILE, root, context)?.plan;
  return plan && marked(plan, context);
};

/**
 * Parses and checks what a pipeline file's builds do. A file that exceeds a limit is a mistake too. Whatever it says of
 * when it is built: that breaks no build. `includes` has the files that it includes.
 */
export const parsePlan = (text: string, includes?: Includes): Parsed => {
  const { value, hints, mistakes } = readFile(text, planIn, includes);
  return mistakes ? { mistakes } : { plan: value, hints };
};

/** All that a pipeline file says. */
interface WholeFile {
  plan: Plan;
  triggers: Triggers;
}

const fileIn = (root: Node, context: ParseContext): WholeFile | undefined => {
  const read = readAs<TriggersOfFile>(PIPELINE_FILE, root, context);
  if (!read) return undefined;
  const triggers = triggersOfFile(read.written, context);
  if (read.written.on && !wantsAny(triggers.on))
    context.hint(read.written.on.node, "No push, tag or pull request builds this: `on` has none of them");
  return { plan: marked(read.plan, context), triggers };
};

/** Parses and checks all that a pipeline file says, also when it is built. */
export const parseFile = (text: string, includes?: Includes): FileRead<WholeFile> => readFile(text, fileIn, includes);
