import { data } from "@actions/expressions";
import type { FunctionDefinition } from "@actions/expressions/funcs/info";
import { falsy } from "@actions/expressions/result";
import { changedQuestion } from "../expression/changed.ts";
import { type Data, Dictionary, toData } from "../expression/data.ts";
import { evaluate } from "../expression/evaluate.ts";
import { functionsOf } from "../expression/functions.ts";
import { matrixContext } from "../expression/job-contexts.ts";
import { contextOfVariables, fixedContext } from "../expression/scope.ts";
import type { Condition } from "./condition.ts";
import type { ConditionWork } from "./condition-work.ts";
import type { GraphFacts, GraphJob } from "./graph.ts";

/** What conditions read as `needs`, and how long it is. */
export interface NeedsToRead {
  context: Dictionary;
  characters: number;
}

/** What the status functions answer, and what `needs` is. */
interface Situation {
  success: boolean;
  failure: boolean;
  cancelled: boolean;
  needs(): NeedsToRead;
  work: ConditionWork;
}

const functionsIn = (facts: GraphFacts, situation: Situation): Map<string, FunctionDefinition> => {
  const { work } = situation;
  const known = functionsOf("success", null);
  const answer = (name: string, call: (...args: Data[]) => boolean): [string, FunctionDefinition] => [
    name,
    { ...known.get(name)!, call: (...args: Data[]) => new data.BooleanData(call(...args)) },
  ];
  const counted = [...known].map(([name, { call, ...rest }]): [string, FunctionDefinition] => [
    name,
    { ...rest, call: (...args: Data[]) => work.counted(args, () => call(...args)) },
  ]);
  return new Map([
    ...counted,
    answer("success", () => situation.success),
    answer("failure", () => situation.failure),
    answer("cancelled", () => situation.cancelled),
    answer("changed", (...args) => facts.changed[changedQuestion(args.map((one) => one.coerceString()))] !== false),
  ]);
};

const context = (values: Record<string, unknown>): Dictionary =>
  fixedContext(Object.entries(values).map(([key, value]) => [key, toData(value)]));

/** Whether the condition holds. @throws {ExpressionMistake} */
export const holds = (condition: Condition, job: GraphJob, facts: GraphFacts, situation: Situation): boolean => {
  if (!condition.usesStatus && !situation.success) return false;
  const { expression } = condition;
  const needs = condition.needs > 0 ? situation.needs() : { context: new Dictionary([]), characters: 0 };
  situation.work.count(expression.offsets.size + condition.needs * needs.characters);
  const names = new Dictionary([
    ["build", context(facts.build)],
    ["repository", context(facts.repository)],
    ["vars", contextOfVariables(Object.entries(facts.vars).map(([key, value]) => [key, toData(value)]))],
    ["needs", needs.context],
    ["matrix", matrixContext(job.matrix)],
  ]);
  const scope = { names, status: "success" as const, functions: functionsIn(facts, situation) };
  return expression.root === null || !falsy(evaluate(expression, scope, "null"));
};
