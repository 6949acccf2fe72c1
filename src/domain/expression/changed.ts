import { data } from "@actions/expressions";
import type { FunctionDefinition } from "@actions/expressions/funcs/info";
import { firstPatternProblem, matcherOf, PATTERN_LIMITS, patternProblem } from "../githost/patterns.ts";
import type { Data } from "./data.ts";
import { ExpressionMistake } from "./mistake.ts";

/** Why `changed()` cannot have this text as its argument at `index`; null when it can. */
export const changedProblem = (pattern: string, index: number): string | null =>
  (index === 0 ? firstPatternProblem(pattern) : null) ?? patternProblem(pattern, "path");

const textOf = (argument: Data, index: number): string => {
  const pattern = argument.primitive ? argument.coerceString() : "";
  const problem = changedProblem(pattern, index);
  if (problem !== null) throw new ExpressionMistake(problem);
  return pattern;
};

/**
 * `changed('docs/**', ...)`: whether a file that the patterns match was changed. True without a list of `files`: a
 * build that nothing is compared with leaves nothing out.
 */
export const changedFunction = (files: readonly string[] | null): FunctionDefinition => ({
  name: "changed",
  minArgs: 1,
  maxArgs: PATTERN_LIMITS.patterns,
  call: (...args: Data[]) => {
    const matches = matcherOf(args.map(textOf));
    return new data.BooleanData(files === null || files.some(matches));
  },
});

/** What one call in the condition of a job asks, as one text: its patterns, a line each. */
export const changedQuestion = (patterns: readonly string[]): string => patterns.join("\n");

/** The answer to such a question, by the files that changed. */
export const answerChanged = (question: string, files: readonly string[]): boolean =>
  files.some(matcherOf(question.split("\n")));
