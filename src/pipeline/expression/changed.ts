import { data } from "@actions/expressions";
import type { FunctionDefinition } from "@actions/expressions/funcs/info";
import { firstPatternProblem, isTouched, PATTERN_LIMITS, PATTERN_WORK, patternProblem } from "../../domain/patterns.ts";
import type { Work } from "../../domain/work.ts";
import { ExpressionMistake } from "../mistake.ts";
import type { Data } from "./data.ts";

/** Why `changed()` cannot have this text as its argument at `index`; null when it can. */
export const changedProblem = (pattern: string, index: number): string | null =>
  (index === 0 ? firstPatternProblem(pattern) : null) ?? patternProblem(pattern, "path");

const readPattern = (argument: Data, index: number): string => {
  const pattern = argument.primitive ? argument.coerceString() : "";
  const problem = changedProblem(pattern, index);
  if (problem !== null) throw new ExpressionMistake(problem);
  return pattern;
};

/** For all calls in a condition, and for all that the conditions of a build's jobs ask. */
export const changedWork = (): Work => ({ left: PATTERN_WORK });

/**
 * `changed('docs/**', ...)`: whether a file that the patterns match was changed. True without a list of `files`, and
 * where comparing them is too much work: a build that nothing is compared with leaves nothing out.
 */
export const changedFunction = (files: readonly string[] | null): FunctionDefinition => {
  const work = changedWork();
  return {
    name: "changed",
    minArgs: 1,
    maxArgs: PATTERN_LIMITS.patterns,
    call: (...args: Data[]) => new data.BooleanData(isTouched(args.map(readPattern), files, work) ?? true),
  };
};

/** What one call in the condition of a job asks, as one text: its patterns, a line each. */
export const changedQuestion = (patterns: readonly string[]): string => patterns.join("\n");

/** The answer to such a question, by the files that changed. */
export const answerChanged = (question: string, files: readonly string[], work: Work): boolean =>
  isTouched(question.split("\n"), files, work) ?? true;
