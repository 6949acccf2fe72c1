import { FEATURES, type Feature } from "../../protocol/jobs.ts";
import type { JobDefinition, LocatedExpression, Plan, PlanStep, Template, ToolsTemplate } from "./plan.ts";

/** Key of the only job of a file of steps, where it is planned. */
export const ONLY_JOB = "build";

/** Whether the jobs of a file are planned before any runs: also of one of steps that asks for groups or further tries. */
export const isPlanned = ({ jobs, groups, retry }: Plan): boolean => jobs !== null || groups.length > 0 || retry > 0;

/** The plan, where its jobs are planned before any runs; null where an agent runs the steps of the file as they are. */
export const planToExpand = (plan: Plan | null | undefined): Plan | null => (plan && isPlanned(plan) ? plan : null);

/** The plan of one job of a file with `jobs`, as that of a file which has its steps alone. */
export const planOfJob = (plan: Plan, definition: JobDefinition): Plan => {
  const { job, env, groups, name } = definition;
  return {
    ...plan,
    name,
    env: [...plan.env, ...env],
    // What its combination requires was decided when the build was planned: only agents that have it get the job.
    job: { ...job, requires: {} },
    jobs: null,
    groups,
    retry: definition.retry,
  };
};

const expressionsIn = (template: Template | null): LocatedExpression[] =>
  (template ?? []).filter((part) => typeof part !== "string");

/** The versions of tools that a file or job names. */
export const toolVersions = (tools: ToolsTemplate | null): Template[] =>
  typeof tools === "object" ? (tools ?? []).map(({ version }) => version) : [];

const listTemplates = ({ name, concurrency, gate, job: { requires, tools } }: JobDefinition): (Template | null)[] => [
  name,
  concurrency?.group ?? null,
  gate?.message ?? null,
  typeof requires.platform === "object" ? requires.platform : null,
  ...(requires.labels ?? []),
  ...toolVersions(tools),
];

/** The expressions of a job itself that are evaluated when the build is planned. */
export const plannedExpressions = (job: JobDefinition): LocatedExpression[] => {
  const { ios, android, web } = job.job.requires;
  const flags = [job.mayFail, ios, android, web].filter((one) => typeof one === "object" && one !== null);
  return [...listTemplates(job).flatMap(expressionsIn), ...flags];
};

type Part = Pick<Plan["job"], "tools" | "steps" | "artifacts" | "downloads" | "reports" | "caches">;

const isTriedAgain = ({ retry }: { retry: number }, steps: PlanStep[]): boolean =>
  retry > 0 || steps.some((step) => step.retry !== null);

const partFeatures = (part: Part, retry: number): Partial<Record<Feature, boolean>> => ({
  retry: isTriedAgain({ retry }, part.steps),
  tools: part.tools !== null,
  // Programs learned to read reports together with artifacts.
  artifacts: [part.artifacts, part.downloads, part.reports.junit].some((list) => list.length > 0),
  cache: (part.caches ?? []).length > 0,
});

/**
 * What an agent's program must know to run any job of the file: each reads the file as a whole, and refuses it for a
 * word that it does not know.
 */
export const neededFeatures = (plan: Plan, { includesFiles }: { includesFiles: boolean }): Feature[] => {
  const parts = [
    partFeatures(plan.job, plan.retry),
    ...(plan.jobs ?? []).map((one) => partFeatures(one.job, one.retry)),
  ];
  return FEATURES.filter((feature) => (feature === "include" && includesFiles) || parts.some((part) => part[feature]));
};
