import { FEATURES, type Feature } from "../../protocol/jobs.ts";
import type { JobDefinition, LocatedExpression, Plan, PlanStep, Template, ToolsTemplate } from "./plan.ts";

/** The key of the only job of a file of steps, if the service plans that job. */
export const ONLY_JOB = "build";

/**
 * Reports whether the service plans the jobs of a file before any job runs. This includes a file of steps that requests
 * groups or retries.
 */
export const isPlanned = ({ jobs, groups, retry }: Plan): boolean => jobs !== null || groups.length > 0 || retry > 0;

/**
 * Returns the plan if its jobs are planned before any job runs; null if an agent runs the steps of the file directly.
 */
export const planToExpand = (plan: Plan | null | undefined): Plan | null => (plan && isPlanned(plan) ? plan : null);

/** Returns the plan of one job of a file with `jobs`, in the form of a file with only its steps. */
export const planOfJob = (plan: Plan, definition: JobDefinition): Plan => {
  const { job, env, groups, name } = definition;
  return {
    ...plan,
    name,
    env: [...plan.env, ...env],
    // Planning the build fixed the requirements of the job's combination. Only agents that meet them get the job.
    job: { ...job, requires: {} },
    jobs: null,
    groups,
    retry: definition.retry,
  };
};

const expressionsIn = (template: Template | null): LocatedExpression[] =>
  (template ?? []).filter((part) => typeof part !== "string");

/** Returns the versions of the tools of a file or a job. */
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

/** Returns the expressions of a job itself that are evaluated when the build is planned. */
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
  // Agents that handle artifacts also read reports, because both features came in the same release.
  artifacts: [part.artifacts, part.downloads, part.reports.junit].some((list) => list.length > 0),
  cache: (part.caches ?? []).length > 0,
});

/**
 * Returns the features that an agent needs to run any job of the file. Each agent reads the whole file, and rejects the
 * file for an unknown word.
 */
export const neededFeatures = (plan: Plan, { includesFiles }: { includesFiles: boolean }): Feature[] => {
  const parts = [
    partFeatures(plan.job, plan.retry),
    ...(plan.jobs ?? []).map((one) => partFeatures(one.job, one.retry)),
  ];
  return FEATURES.filter((feature) => (feature === "include" && includesFiles) || parts.some((part) => part[feature]));
};
