import { TokenType } from "@actions/expressions/lexer";
import { ExpressionMistake } from "../expression/mistake.ts";
import { type Expression, parseExpression } from "../expression/parse.ts";
import type { JobGraph } from "./graph.ts";

/** The condition of a job: with no status function it is looked at only where success() holds. */
export interface Condition {
  expression: Expression;
  usesStatus: boolean;
  /** How often it names `needs`. */
  needs: number;
  traits: Traits;
}

/** What has to be known of a condition long before it is evaluated. */
interface Traits {
  /** It names always() or cancelled(): the job may still run for some minutes after a cancel. */
  cleansUp: boolean;
  /** Combinations of a matrix may differ in what becomes of them. */
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

/** By the graphs that are in memory, which never change: a parsed condition is far larger than its traits. */
const traits = new WeakMap<JobGraph, Map<string, Traits>>();

/** The conditions of a build while it is settled: each text is parsed once. */
export class Conditions {
  readonly #parsed = new Map<string, Condition | ExpressionMistake>();
  readonly #traits: Map<string, Traits>;

  constructor(graph: JobGraph) {
    this.#traits = traits.get(graph) ?? new Map();
    traits.set(graph, this.#traits);
  }

  #of(text: string | null): Condition | ExpressionMistake {
    if (text === null) return SUCCESS;
    const parsed = this.#parsed.get(text) ?? attempt(text);
    this.#parsed.set(text, parsed);
    return parsed;
  }

  /** `success()` where a job has none. @throws {ExpressionMistake} */
  of(text: string | null): Condition {
    const parsed = this.#of(text);
    if (parsed instanceof ExpressionMistake) throw parsed;
    return parsed;
  }

  /** A text that is no condition has no traits. */
  traitsOf(text: string | null): Traits {
    if (text === null) return SUCCESS.traits;
    const known = this.#traits.get(text);
    if (known) return known;
    const parsed = this.#of(text);
    const found = parsed instanceof ExpressionMistake ? NO_TRAITS : parsed.traits;
    this.#traits.set(text, found);
    return found;
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
