import type { Node } from "yaml";
import { LIMITS } from "../../protocol/limits.ts";
import type { JobLevel, JobNames } from "../expression/names.ts";
import { reportsOf } from "../fields/artifact-fields.ts";
import type { JobOfFile } from "../fields/job-fields.ts";
import { FILE_LIMITS } from "../fields/limits.ts";
import { TemplateParser } from "../yaml/template-parser.ts";
import { checkNeeds, writtenNeedsOf } from "./check-needs.ts";
import { cachesOf, downloadsOf, parseArtifacts } from "./parse-artifacts.ts";
import type { ParseContext } from "./parse-context.ts";
import { checkoutOf, flagOf, mergedRequires, mergedTools, requiresOf, toolsOf, xcodeIn } from "./parse-machine.ts";
import { conditionOf, envOf, stepsOf } from "./parse-steps.ts";
import type { JobsFile } from "./pipeline-file.ts";
import type { JobDefinition } from "./plan.ts";

type WrittenJob = { key: string; node: Node; value: JobOfFile };

/** Keys that a job without steps may have: nothing of it reaches an agent. */
const WITHOUT_STEPS = new Set(["node", "name", "needs", "if", "gate", "continue-on-error"]);

const DEFAULT_GATE_HOURS = 72;

const namesOf = (job: JobOfFile, all: Map<string, JobOfFile>): JobNames => ({
  matrix: job.matrix?.keys ?? null,
  needs: new Map(
    writtenNeedsOf(job).flatMap(({ text }) => {
      const needed = all.get(text);
      const outputs = (needed?.outputs ?? []).map(({ key }) => key);
      return needed ? [[text, { hasMatrix: needed.matrix !== undefined, outputs }] as const] : [];
    }),
  ),
});

/** What a job says that makes no sense together. */
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

const gateOf = ({ gate }: JobOfFile, parser: TemplateParser): JobDefinition["gate"] =>
  gate
    ? {
        message: gate.message ? parser.template(gate.message) : null,
        by: gate.by ?? "maintainer",
        timeoutHours: gate["timeout-hours"] ?? DEFAULT_GATE_HOURS,
        hostStatus: gate["host-status"] ?? "success",
      }
    : null;

const concurrencyOf = ({ concurrency }: JobOfFile, parser: TemplateParser): JobDefinition["concurrency"] =>
  concurrency?.group
    ? {
        group: parser.template(concurrency.group),
        limit: concurrency.limit ?? 1,
        whenBusy: concurrency["when-busy"] ?? "wait",
        position: parser.context.positionAt(concurrency.group.node.range?.[0] ?? 0),
      }
    : null;

/** What the agent does: the steps, with what the file says of all its jobs. */
const workOf = (
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
  const inPlan = (of: JobNames | undefined) => new TemplateParser(context, { steps: null, job: of, level: "plan" });
  const tools = mergedTools(toolsOf(job.tools, inPlan(names)), toolsOf(file.tools, inPlan(undefined)));
  const [requires, outerRequires] = [
    requiresOf(job.requires, inPlan(names)),
    requiresOf(file.requires, inPlan(undefined)),
  ];
  return {
    requires: { ...mergedRequires(requires, outerRequires), xcode: xcodeIn(tools) },
    timeoutMinutes: job["timeout-minutes"] ?? file["timeout-minutes"] ?? null,
    checkout: checkoutOf(job.checkout, file.checkout),
    tools,
    steps: stepsOf(job.steps ?? [], defaults, context, names),
    artifacts: parseArtifacts(job.artifacts, context),
    downloads: downloadsOf(job.downloads, job, all, context),
    reports: reportsOf(job.reports),
    ...cachesOf(job.cache, new TemplateParser(context, { steps: null, job: names })),
  };
};

const definitionOf = (
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
    needs: writtenNeedsOf(job).map(({ text, isOptional }) => ({ job: text, isOptional })),
    if: conditionOf(job.if, job.node, at("condition")),
    matrix: matrix ? { axes: matrix.axes, combinations: matrix.combinations } : null,
    maxParallel: job["max-parallel"] ?? null,
    failFast: job["fail-fast"] ?? false,
    mayFail: flagOf(job["continue-on-error"], at("plan")) ?? false,
    retry: job.retry ?? 0,
    concurrency: concurrencyOf(job, at("plan")),
    gate: gateOf(job, at("plan")),
    groups: (job.groups ?? []).map(({ text }) => text),
    outputs: (job.outputs ?? []).map((entry) => ({
      name: entry.key,
      value: afterSteps.template(entry.value),
      position: context.positionAt(entry.node.range?.[0] ?? 0),
    })),
    env: envOf(job.env, at()),
    job: workOf(job, file, all, names, context),
    names,
  };
};

/** What all jobs together exceed. */
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

/** The jobs of a file in its order. Mistakes are in the context. */
export const parseJobs = (file: JobsFile, context: ParseContext): JobDefinition[] => {
  const jobs = file.jobs ?? [];
  const all = new Map(jobs.map(({ key, value }) => [key, value]));
  checkNeeds(jobs, context);
  checkSums(jobs, context);
  return jobs.map((job) => {
    checkKeys(job, context);
    return definitionOf(job, file, all, namesOf(job.value, all), context);
  });
};
