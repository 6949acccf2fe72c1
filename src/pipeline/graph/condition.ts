import { data } from "@actions/expressions";
import type { FunctionDefinition } from "@actions/expressions/funcs/info";
import { TokenType } from "@actions/expressions/lexer";
import { falsy } from "@actions/expressions/result";
import { MIB } from "../../protocol/units.ts";
import { changedQuestion } from "../expression/changed.ts";
import { type Data, Dictionary, toData } from "../expression/data.ts";
import { evaluate } from "../expression/evaluate.ts";
import { functionsFor } from "../expression/functions.ts";
import { type Expression, parseExpression } from "../expression/parse.ts";
import { contextOfVariables, fixedContext, matrixContext } from "../expression/scope.ts";
import { ExpressionMistake } from "../mistake.ts";
import type { GraphFacts, GraphJob, JobGraph } from "./graph.ts";

/** The condition of a job. A condition without a status function is evaluated only if success() holds. */
export interface Condition {
  expression: Expression;
  usesStatus: boolean;
  /** How often the condition names `needs`. */
  needs: number;
  traits: Traits;
}

/** The facts about a condition that the service needs long before it evaluates the condition. */
interface Traits {
  /**
   * Whether the condition names always() or cancelled(), so that the job may still run for some minutes after a cancel.
   */
  cleansUp: boolean;
  /** Whether the combinations of a matrix may have different results. */
  usesMatrix: boolean;
}

/** @throws {ExpressionMistake} */
const parse = (text: string): Condition => {
  const expression = parseExpression(text);
  const tokens = [...expression.offsets.keys()].filter(({ type }) => type !== TokenType.EOF);
  const calls = (name: string) =>
    tokens.some((one, at) => one.lexeme.toLowerCase() === name && tokens[at + 1]?.type === TokenType.LEFT_PAREN);
  return {
    expression,
    usesStatus: expression.usesStatus && !/^\s*success\s*\(\s*\)\s*$/i.test(text),
    needs: tokens.filter(({ lexeme }) => lexeme === "needs").length,
    traits: {
      cleansUp: calls("always") || calls("cancelled"),
      usesMatrix: tokens.some(({ lexeme }) => lexeme === "matrix"),
    },
  };
};

const SUCCESS = parse("success()");
const NO_TRAITS: Traits = { cleansUp: false, usesMatrix: false };

/**
 * The traits of conditions, by the graphs in memory, which never change. A parsed condition is far larger than its
 * traits.
 */
const traits = new WeakMap<JobGraph, Map<string, Traits>>();

/** The conditions of a build while it is settled. The build parses each text once. */
export class Conditions {
  readonly #parsed = new Map<string, Condition | ExpressionMistake>();
  readonly #traits: Map<string, Traits>;

  constructor(graph: JobGraph) {
    this.#traits = traits.get(graph) ?? new Map();
    traits.set(graph, this.#traits);
  }

  #find(text: string | null): Condition | ExpressionMistake {
    if (text === null) return SUCCESS;
    const parsed = this.#parsed.get(text) ?? attempt(text);
    this.#parsed.set(text, parsed);
    return parsed;
  }

  /** Parses a condition. A job without one has `success()`. @throws {ExpressionMistake} */
  parse(text: string | null): Condition {
    const parsed = this.#find(text);
    if (parsed instanceof ExpressionMistake) throw parsed;
    return parsed;
  }

  /** Returns the traits of a condition. An invalid text has no traits. */
  findTraits(text: string | null): Traits {
    if (text === null) return SUCCESS.traits;
    const knownTraits = this.#traits.get(text);
    if (knownTraits) return knownTraits;
    const parsed = this.#find(text);
    const newTraits = parsed instanceof ExpressionMistake ? NO_TRAITS : parsed.traits;
    this.#traits.set(text, newTraits);
    return newTraits;
  }
}

const attempt = (text: string): Condition | ExpressionMistake => {
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof ExpressionMistake) return error;
    return new ExpressionMistake("This expression is not valid");
  }
};

/**
 * Maximum characters that all conditions of a build may read and create in one settlement. Other calls wait for the
 * pool meanwhile.
 */
const MOST_WORK = 16 * MIB;

/** @throws {ExpressionMistake} once the conditions of a build take too much work */
export class ConditionWork {
  #done = 0;

  count(characters: number): void {
    this.#done += characters;
    if (this.#done > MOST_WORK) throw new ExpressionMistake("The conditions of all jobs together read too much text");
  }

  /** Counts a function's arguments before the call, and counts its result. */
  counted(args: readonly Data[], call: () => Data): Data {
    for (const one of args) this.#countData(one);
    const result = call();
    this.#countData(result);
    return result;
  }

  #countData(one: Data): void {
    this.count(one.primitive ? one.coerceString().length : 1);
  }
}

/** The value of `needs` in conditions, and its length. */
export interface NeedsToRead {
  context: Dictionary;
  characters: number;
}

/** The answers of the status functions, and the value of `needs`. */
interface Situation {
  success: boolean;
  failure: boolean;
  cancelled: boolean;
  needs(): NeedsToRead;
  work: ConditionWork;
}

const functionsIn = (facts: GraphFacts, situation: Situation): Map<string, FunctionDefinition> => {
  const { work } = situation;
  const functions = functionsFor("success", null);
  const answer = (name: string, call: (...args: Data[]) => boolean): [string, FunctionDefinition] => [
    name,
    { ...functions.get(name)!, call: (...args: Data[]) => new data.BooleanData(call(...args)) },
  ];
  const counted = [...functions].map(([name, { call, ...rest }]): [string, FunctionDefinition] => [
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

/** Reports whether the condition holds. @throws {ExpressionMistake} */
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
