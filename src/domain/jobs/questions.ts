import type { Plan } from "../plan/plan.ts";

/** What has to be known of the commit and the service before the jobs of a file can be planned. */
export interface Questions {
  /** What conditions of jobs ask with `changed()`, in the form that `isAnsweredBy` reads. */
  changed: string[];
  /** Plain variables that expressions of the jobs themselves name. */
  vars: string[];
}

/** What the jobs of a file ask. */
export const questionsOf = (_plan: Plan): Questions => ({ changed: [], vars: [] });
