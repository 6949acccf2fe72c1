import type { Node } from "yaml";
import type { Requires } from "../../protocol/pipeline.ts";
import { reportPaths } from "../fields/artifact-fields.ts";
import type { TriggersOfFile } from "../fields/trigger-fields.ts";
import type { Mistake } from "../mistake.ts";
import { triggersOfFile } from "../triggers/stored-triggers.ts";
import { type Triggers, wantsAny } from "../triggers/triggers.ts";
import type { NodeParser } from "../yaml/node-parser.ts";
import { TemplateParser } from "../yaml/template-parser.ts";
import type { Includes } from "./included-files.ts";
import { parseArtifacts, parseCaches } from "./parse-artifacts.ts";
import type { ParseContext } from "./parse-context.ts";
import { parseJobs } from "./parse-jobs.ts";
import { parseCheckout, parseTools, plainXcode } from "./parse-machine.ts";
import { parseEnv, parseSteps } from "./parse-steps.ts";
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
export type ParsedPlan =
  | { plan: Plan; hints: Mistake[]; mistakes?: undefined }
  | { plan?: undefined; hints?: undefined; mistakes: Mistake[] };

const plainRequires = ({ requires }: StepsFile): Requires => {
  const { node: _, labels, ...rest } = requires ?? { node: null };
  return { ...rest, ...(labels ? { labels: labels.map((label) => label.text) } : {}) };
};

const planOfSteps = (file: StepsFile, context: ParseContext): Plan => {
  const everywhere = new TemplateParser(context, { steps: null });
  const tools = parseTools(file.tools, new TemplateParser(context, { steps: null, level: "plan" }));
  const xcode = plainXcode(tools, context);
  const run = file.defaults?.run;
  const keys = (file.env ?? []).map((entry) => entry.key);
  const defaults = { shell: run?.shell, folder: run?.["working-directory"], env: keys };
  return {
    name: file.name ? everywhere.template(file.name) : null,
    env: parseEnv(file.env, everywhere),
    job: {
      requires: { ...plainRequires(file), ...(xcode === null ? {} : { xcode }) },
      timeoutMinutes: file["timeout-minutes"] ?? null,
      checkout: parseCheckout(file.checkout),
      tools,
      steps: parseSteps(file.steps ?? [], defaults, context),
      artifacts: parseArtifacts(file.artifacts, context),
      downloads: [],
      reports: reportPaths(file.reports),
      ...parseCaches(file.cache, everywhere),
    },
    jobs: null,
    failFast: false,
    groups: (file.groups ?? []).map(({ text }) => text),
    retry: file.retry ?? 0,
  };
};

const planOfJobs = (file: JobsFile, context: ParseContext): Plan => {
  const everywhere = new TemplateParser(context, { steps: null });
  return {
    name: file.name ? everywhere.template(file.name) : null,
    env: parseEnv(file.env, everywhere),
    job: {
      requires: {},
      timeoutMinutes: null,
      checkout: parseCheckout(file.checkout),
      tools: null,
      steps: [],
      artifacts: [],
      downloads: [],
      reports: { junit: [] },
    },
    jobs: parseJobs(file, context),
    failFast: file["fail-fast"] ?? false,
    groups: [],
    retry: 0,
  };
};

/** Checks the jobs of a file. Also reports mistakes in the jobs of a file for another CI. */
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

/** Parses a file as a file of steps or a file of jobs. `file` has all its keys. */
const readAs = <Also>(
  kinds: Kinds<Also>,
  root: Node,
  context: ParseContext,
): { plan: Plan; file: Also } | undefined => {
  if (hasJobs(root)) {
    const file = kinds.jobs.parse(root, context);
    return file && { plan: planOfJobs(file, context), file };
  }
  const file = kinds.steps.parse(root, context);
  const result = file && { plan: planOfSteps(file, context), file };
  checkJobs(root, context);
  return result;
};

const withUnread = (plan: Plan, { included }: ParseContext): Plan =>
  included.hasUnread ? { ...plan, hasUnread: true } : plan;

const planIn = (root: Node, context: ParseContext): Plan | undefined => {
  const plan = readAs<unknown>(RUNNABLE_FILE, root, context)?.plan;
  return plan && withUnread(plan, context);
};

/**
 * Parses and checks what a pipeline file's builds do. A file that exceeds a limit is a mistake, too. Ignores the file's
 * triggers, which cannot break a build. `includes` has the files that the file includes.
 */
export const parsePlan = (text: string, includes?: Includes): ParsedPlan => {
  const { value, hints, mistakes } = readFile(text, planIn, includes);
  return mistakes ? { mistakes } : { plan: value, hints };
};

/** All contents of a pipeline file. */
interface WholeFile {
  plan: Plan;
  triggers: Triggers;
}

const fileIn = (root: Node, context: ParseContext): WholeFile | undefined => {
  const result = readAs<TriggersOfFile>(PIPELINE_FILE, root, context);
  if (!result) return undefined;
  const { plan, file } = result;
  const triggers = triggersOfFile(file, context);
  if (file.on && !wantsAny(triggers.on))
    context.hint(file.on.node, "No push, tag or pull request triggers this pipeline: `on` has none of them");
  return { plan: withUnread(plan, context), triggers };
};

/** Parses and checks a whole pipeline file, including its triggers. */
export const parseFile = (text: string, includes?: Includes): FileRead<WholeFile> => readFile(text, fileIn, includes);
