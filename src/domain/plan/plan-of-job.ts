import type { JobDefinition, Plan } from "./plan.ts";

/** The plan of one job of several, as that of a file which has its steps alone. */
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
  };
};
