import { LocatedMistake } from "../mistake.ts";
import type { Plan, PlanCache, Template } from "../parse/plan.ts";
import { INITIAL_JOB_STATE, type JobContext } from "./job-context.ts";
import { StepEnvironment } from "./step-environment.ts";

/** The texts of one cache's key. They stand where an agent of any name can store them: without secrets. */
type CacheTexts = { key: string; fallback: string[]; problem?: undefined } | { problem: string };

/** Evaluates what the key of a cache is made of, before the first step. */
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
