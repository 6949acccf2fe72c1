import type { Step } from "../protocol/build.ts";
import { LIMITS } from "../protocol/limits.ts";

/** The texts of reported steps that may hold a secret, in an order that `stepsOfTexts` knows. */
export const textsOfSteps = (steps: Step[]): string[] => steps.flatMap(({ id, name }) => [name, id ?? ""]);

const cut = (text = ""): string => text.slice(0, LIMITS.stepNameCharacters).toWellFormed();

/** The steps with these texts, masked, cut to the lengths that a build's record may hold. */
export const stepsOfTexts = (steps: Step[], texts: string[]): Step[] =>
  steps.map((step, index) => ({
    ...step,
    name: cut(texts[2 * index]),
    id: step.id === null ? null : cut(texts[2 * index + 1]),
  }));
