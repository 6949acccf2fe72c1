import { data } from "@actions/expressions";
import type { FunctionDefinition } from "@actions/expressions/funcs/info";
import { TokenType } from "@actions/expressions/lexer";
import { falsy } from "@actions/expressions/result";
import type { Needs } from "../../protocol/jobs.ts";
import { type Data, Dictionary, toData } from "../expression/data.ts";
import { evaluate } from "../expression/evaluate.ts";
import { functionsOf } from "../expression/functions.ts";
import { ExpressionMistake } from "../expression/mistake.ts";
import { type Expression, parseExpression } from "../expression/parse.ts";
import { variableContext } from "../expression/scope.ts";
import type { GraphFacts, GraphJob } from "./graph.ts";

/** The condition of a job: with no status function it is looked at only where success() holds. */
export interface Condition {
  expression: Expression;
  usesStatus: boolean;
  /** It names always() or cancelled(): the job may still run for some minutes after a cancel. */
  cleansUp: boolean;
  usesNeeds: boolean;
}

/** What the status functions answer, and what `needs` is. */
export interface Situation {
  success: boolean;
  failure: boolean;
  cancelled: boolean;
  needs(): Needs;
}

const conditionOf = (text: string): Condition => {
  const expression = parseExpression(text);
  const tokens = [...expression.offsets.keys()].filter(({ type }) => type !== TokenType.EOF);
  const calls = (name: string) =>
    tokens.some((one, at) => one.lexeme.toLowerCase() === name && tokens[at + 1]?.type === TokenType.LEFT_PAREN);
  return {
    expression,
    usesStatus: expression.usesStatus && !/^\s*success\s*\(\s*\)\s*$/i.test(text),
    cleansUp: calls("always") || calls("cancelled"),
    usesNeeds: tokens.some(({ lexeme }) => lexeme === "needs"),
  };
};

const CACHED = 1000;
const cache = new Map<string, Condition>();
const SUCCESS = conditionOf("success()");

/** The condition of a job, `success()` where it has none. @throws {ExpressionMistake} */
export const parseCondition = ({ condition }: GraphJob): Condition => {
  if (condition === null) return SUCCESS;
  const known = cache.get(condition);
  if (known) return known;
  const made = conditionOf(condition);
  if (cache.size >= CACHED) cache.clear();
  cache.set(condition, made);
  return made;
};

/** Whether the job may run after a cancel. One whose condition is none may not. */
export const cleansUp = (job: GraphJob): boolean => {
  try {
    return parseCondition(job).cleansUp;
  } catch {
    return false;
  }
};

/** The key of an answer to `changed()` with these patterns. */
export const changedKey = (patterns: readonly string[]): string => patterns.join("\n");

const hasChanged = (facts: GraphFacts, patterns: readonly string[]): boolean => {
  const whole = Object.hasOwn(facts.changed, changedKey(patterns)) ? facts.changed[changedKey(patterns)] : undefined;
  return whole ?? patterns.some((one) => !one.startsWith("!") && facts.changed[one] !== false);
};

const functionsIn = (facts: GraphFacts, situation: Situation): Map<string, FunctionDefinition> => {
  const known = functionsOf("success", null);
  const answer = (name: string, call: (...args: Data[]) => boolean): [string, FunctionDefinition] => [
    name,
    { name, minArgs: 0, maxArgs: 255, call: (...args: Data[]) => new data.BooleanData(call(...args)) },
  ];
  return new Map([
    ...known,
    answer("success", () => situation.success),
    answer("failure", () => situation.failure),
    answer("cancelled", () => situation.cancelled),
    answer("changed", (...args) =>
      hasChanged(
        facts,
        args.map((one) => one.coerceString()),
      ),
    ),
  ]);
};

/** Whether the condition holds. @throws {ExpressionMistake} */
export const holds = (condition: Condition, job: GraphJob, facts: GraphFacts, situation: Situation): boolean => {
  if (!condition.usesStatus && !situation.success) return false;
  const names = new Dictionary([
    ["build", toData(facts.build)],
    ["repository", toData(facts.repository)],
    ["vars", variableContext(Object.entries(facts.vars).map(([key, value]) => [key, toData(value)] as const))],
    ["needs", toData(condition.usesNeeds ? situation.needs() : {})],
    ["matrix", toData(job.matrix ?? {})],
  ]);
  const scope = { names, status: "success" as const, functions: functionsIn(facts, situation) };
  try {
    return condition.expression.root === null || !falsy(evaluate(condition.expression, scope, "null"));
  } catch (error) {
    if (error instanceof ExpressionMistake) throw error;
    throw new ExpressionMistake("This cannot be evaluated");
  }
};
