import { data } from "@actions/expressions";
import type { FunctionDefinition } from "@actions/expressions/funcs/info";
import { firstPatternProblem, isTouched, PATTERN_LIMITS, PATTERN_WORK, patternProblem } from "../../domain/patterns.ts";
import type { Work } from "../../domain/work.ts";
import { ExpressionMistake } from "../mistake.ts";
import type { Data } from "./data.ts";

/** Returns why `changed()` cannot have this text as its argument at `index`; null if it can. */
export const changedProblem = (pattern: string, index: number): string | null =>
  (index === 0 ? firstPatternProblem(pattern) : null) ?? patternProblem(pattern, "path");

const readPattern = (argument: Data, index: number): string => {
  const pattern = argument.primitive ? argument.coerceString() : "";
  const problem = changedProblem(pattern, index);
  if (problem !== null) throw new ExpressionMistake(problem);
  return pattern;
};

/** Creates a budget. It covers all calls in a condition, or all questions of a build's conditions. */
export const changedWork = (): Work => ({ left: PATTERN_WORK });

/**
 * Creates the function `changed('docs/**', ...)`, which reports whether a changed file matches the patterns. The
 * function returns true without a list of `files`, and if comparing the files is too much work. A build without a
 * comparison therefore omits nothing.
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

/** Returns the question of one call in a job's condition as one text, with a pattern on each line. */
export const changedQuestion = (patterns: readonly string[]): string => patterns.join("\n");

/** Answers the question of a call from the changed files. */
export const answerChanged = (question: string, files: readonly string[], work: Work): boolean =>
  isTouched(question.split("\n"), files, work) ?? true;
