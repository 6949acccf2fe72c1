import type { Node } from "yaml";
import { LIMITS } from "../../protocol/limits.ts";
import type { JobLevel, JobNames } from "../expression/names.ts";
import { reportPaths } from "../fields/artifact-fields.ts";
import type { JobOfFile } from "../fields/job-fields.ts";
import { FILE_LIMITS } from "../fields/limits.ts";
import { TemplateParser } from "../yaml/template-parser.ts";
import { checkNeeds, readNeeds } from "./check-needs.ts";
import { parseArtifacts, parseCaches, parseDownloads } from "./parse-artifacts.ts";
import type { ParseContext } from "./parse-context.ts";
import {
  mergeTemplates,
  mergeTools,
  parseCheckout,
  parseFlag,
  parseRequires,
  parseTools,
  xcodeIn,
} from "./parse-machine.ts";
import { parseCondition, parseEnv, parseSteps } from "./parse-steps.ts";
import type { JobsFile } from "./pipeline-file.ts";
import type { JobDefinition } from "./plan.ts";

type WrittenJob = { key: string; node: Node; value: JobOfFile };

/** Keys that a job without steps may have, because these keys do not concern an agent. */
const WITHOUT_STEPS = new Set(["node", "name", "needs", "if", "gate", "continue-on-error"]);

const DEFAULT_GATE_HOURS = 72;

const jobNames = (job: JobOfFile, all: Map<string, JobOfFile>): JobNames => ({
  matrix: job.matrix?.keys ?? null,
  needs: new Map(
    readNeeds(job).flatMap(({ text }) => {
      const needed = all.get(text);
      const outputs = (needed?.outputs ?? []).map(({ key }) => key);
      return needed ? [[text, { hasMatrix: needed.matrix !== undefined, outputs }] as const] : [];
    }),
  ),
});

/** Reports keys of a job that contradict each other. */
const checkKeys = ({ node, value: job }: WrittenJob, context: ParseContext): void => {
  if (!job.matrix && (job["max-parallel"] ?? job["fail-fast"]) !== undefined)
    context.mistake(node, "`max-parallel` and `fail-fast` are for a job with a `matrix`");
  if (job.steps || !job.gate) return;
  const more = Object.keys(job).filter((key) => !WITHOUT_STEPS.has(key));
  if (more.length > 0)
    context.mistake(
      node,
      `A gate without steps needs no agent: it cannot have ${more.map((key) => `\`${key}\``).join(", ")}`,
    );
};

const parseGate = ({ gate }: JobOfFile, parser: TemplateParser): JobDefinition["gate"] =>
  gate
    ? {
        message: gate.message ? parser.template(gate.message) : null,
        by: gate.by ?? "maintainer",
        timeoutHours: gate["timeout-hours"] ?? DEFAULT_GATE_HOURS,
        hostStatus: gate["host-status"] ?? "success",
      }
    : null;

const parseConcurrency = ({ concurrency }: JobOfFile, parser: TemplateParser): JobDefinition["concurrency"] =>
  concurrency?.group
    ? {
        group: parser.template(concurrency.group),
        limit: concurrency.limit ?? 1,
        whenBusy: concurrency["when-busy"] ?? "wait",
        position: parser.context.positionAt(concurrency.group.node.range?.[0] ?? 0),
      }
    : null;

/** Parses the agent's part: the steps, with the file's settings for all jobs. */
const parseWork = (
  job: JobOfFile,
  file: JobsFile,
  all: Map<string, JobOfFile>,
  names: JobNames,
  context: ParseContext,
): JobDefinition["job"] => {
  const [own, outer] = [job.defaults?.run, file.defaults?.run];
  const env = [...(file.env ?? []), ...(job.env ?? [])].map((entry) => entry.key);
  const defaults = {
    shell: own?.shell ?? outer?.shell,
    folder: own?.["working-directory"] ?? outer?.["working-directory"],
    env,
  };
  const inPlan = (visibleNames: JobNames | undefined) =>
    new TemplateParser(context, { steps: null, job: visibleNames, level: "plan" });
  const tools = mergeTools(parseTools(job.tools, inPlan(names)), parseTools(file.tools, inPlan(undefined)));
  const [requires, outerRequires] = [
    parseRequires(job.requires, inPlan(names)),
    parseRequires(file.requires, inPlan(undefined)),
  ];
  return {
    requires: { ...mergeTemplates(requires, outerRequires), xcode: xcodeIn(tools) },
    timeoutMinutes: job["timeout-minutes"] ?? file["timeout-minutes"] ?? null,
    checkout: parseCheckout(job.checkout, file.checkout),
    tools,
    steps: parseSteps(job.steps ?? [], defaults, context, names),
    artifacts: parseArtifacts(job.artifacts, context),
    downloads: parseDownloads(job.downloads, job, all, context),
    reports: reportPaths(job.reports),
    ...parseCaches(job.cache, new TemplateParser(context, { steps: null, job: names })),
  };
};

const parseDefinition = (
  { key, node, value: job }: WrittenJob,
  file: JobsFile,
  all: Map<string, JobOfFile>,
  names: JobNames,
  context: ParseContext,
): JobDefinition => {
  const at = (level?: JobLevel) => new TemplateParser(context, { steps: null, job: names, level });
  const afterSteps = new TemplateParser(context, {
    steps: (job.steps ?? []).flatMap(({ id }) => id?.text ?? []),
    hasUnread: context.included.hasUnread,
    job: names,
  });
  const { matrix } = job;
  return {
    key,
    position: context.positionAt(node.range?.[0] ?? 0),
    name: job.name ? at("plan").template(job.name) : null,
    needs: readNeeds(job).map(({ text, isOptional }) => ({ job: text, isOptional })),
    if: parseCondition(job.if, job.node, at("condition")),
    matrix: matrix ? { axes: matrix.axes, combinations: matrix.combinations } : null,
    maxParallel: job["max-parallel"] ?? null,
    failFast: job["fail-fast"] ?? false,
    mayFail: parseFlag(job["continue-on-error"], at("plan")) ?? false,
    retry: job.retry ?? 0,
    concurrency: parseConcurrency(job, at("plan")),
    gate: parseGate(job, at("plan")),
    groups: (job.groups ?? []).map(({ text }) => text),
    outputs: (job.outputs ?? []).map((entry) => ({
      name: entry.key,
      value: afterSteps.template(entry.value),
      position: context.positionAt(entry.node.range?.[0] ?? 0),
    })),
    env: parseEnv(job.env, at()),
    job: parseWork(job, file, all, names, context),
    names,
  };
};

/** Reports limits that all jobs together exceed. */
const checkSums = (jobs: WrittenJob[], context: ParseContext): void => {
  let [steps, combinations, gates] = [0, 0, 0];
  for (const { node, value: job } of jobs) {
    steps += job.steps?.length ?? 0;
    combinations += job.matrix?.combinations.length ?? 1;
    if (job.gate) gates++;
    if (steps > FILE_LIMITS.steps)
      context.mistake(node, `A file has at most ${FILE_LIMITS.steps} steps in all its jobs`);
    else if (combinations > LIMITS.jobs)
      context.mistake(node, `A build has at most ${LIMITS.jobs} jobs: with this one it would have ${combinations}`);
    else if (gates > LIMITS.gates) context.mistake(node, `A build has at most ${LIMITS.gates} gates`);
    else continue;
    return;
  }
};

/** Parses the jobs of a file in order. The context has their mistakes. */
export const parseJobs = (file: JobsFile, context: ParseContext): JobDefinition[] => {
  const jobs = file.jobs ?? [];
  const all = new Map(jobs.map(({ key, value }) => [key, value]));
  checkNeeds(jobs, context);
  checkSums(jobs, context);
  return jobs.map((job) => {
    checkKeys(job, context);
    return parseDefinition(job, file, all, jobNames(job.value, all), context);
  });
};
