import { LocatedMistake } from "../mistake.ts";
import type { Plan, PlanCache, Template } from "../parse/plan.ts";
import { INITIAL_JOB_STATE, type JobContext } from "./job-context.ts";
import { StepEnvironment } from "./step-environment.ts";

/** The texts of one cache's key. They contain no secrets, because any agent may store them. */
type CacheTexts = { key: string; fallback: string[]; problem?: undefined } | { problem: string };

/** Evaluates the parts of a cache's key, before the first step. */
export const evaluateCacheTexts = (plan: Plan, context: JobContext, { key, fallback }: PlanCache): CacheTexts => {
  try {
    const environment = new StepEnvironment(plan, context, INITIAL_JOB_STATE);
    environment.setAll(plan.env);
    const render = (template: Template): string => {
      const { text, isSecret } = environment.render(template);
      if (isSecret) throw new SecretInKey();
      return text;
    };
    return { key: key ? render(key) : "", fallback: fallback.map(render) };
  } catch (error) {
    if (error instanceof SecretInKey) return { problem: "its key has a secret in it" };
    if (error instanceof LocatedMistake) return { problem: error.mistake.message };
    throw error;
  }
};

class SecretInKey extends Error {}
