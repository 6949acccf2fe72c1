import { FEATURES, type Feature } from "../../protocol/jobs.ts";
import type { Plan, PlanStep } from "./plan.ts";

type Part = Pick<Plan["job"], "tools" | "steps" | "artifacts" | "downloads" | "reports" | "caches">;

const isTriedAgain = ({ retry }: { retry: number }, steps: PlanStep[]): boolean =>
  retry > 0 || steps.some((step) => step.retry !== null);

const isOf = (part: Part, retry: number): Partial<Record<Feature, boolean>> => ({
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
  const parts = [isOf(plan.job, plan.retry), ...(plan.jobs ?? []).map((one) => isOf(one.job, one.retry))];
  return FEATURES.filter((feature) => (feature === "include" && includesFiles) || parts.some((part) => part[feature]));
};
