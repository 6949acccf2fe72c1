import type { JobDefinition, Plan } from "./plan.ts";

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
