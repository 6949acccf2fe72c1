import type { FunctionDefinition } from "@actions/expressions/funcs/info";
import { MIB } from "../../protocol/units.ts";
import { type Data, Dictionary, textData, toData } from "../expression/data.ts";
import { type EvaluationScope, evaluate } from "../expression/evaluate.ts";
import { functionsFor } from "../expression/functions.ts";
import { CONTEXT_PROPERTIES } from "../expression/names.ts";
import { type Contexts, contextOfVariables, fixedContext, makeScope, matrixContext } from "../expression/scope.ts";
import { ExpressionMistake } from "../mistake.ts";
import type { LocatedExpression, Template } from "../parse/plan.ts";
import { locateMistakes } from "../prepare/step-environment.ts";
import type { GraphFacts, Matrix } from "./graph.ts";

/**
 * Maximum characters that all expressions of a plan may read and create. It is also the maximum number of their tokens.
 */
const MOST_WORK = 4 * MIB;

const factsContext = (values: Record<string, unknown>, names: readonly string[]): Dictionary =>
  fixedContext(names.map((name) => [name, toData(values[name])]));

const makeContexts = ({ build, repository, vars }: GraphFacts): Omit<Contexts, "matrix"> => {
  const none = new Dictionary([]);
  return {
    secrets: none,
    env: contextOfVariables([]),
    agent: none,
    steps: none,
    job: none,
    build: factsContext(build, CONTEXT_PROPERTIES.build),
    repository: factsContext(repository, CONTEXT_PROPERTIES.repository),
    vars: contextOfVariables(Object.entries(vars).map(([key, value]) => [key, textData(value)])),
  };
};

/** Evaluates the fields of one plan's jobs. All of them share one bound. */
export class PlanScope {
  readonly #contexts: Omit<Contexts, "matrix">;
  readonly #functions: Map<string, FunctionDefinition>;
  #work = 0;

  constructor(facts: GraphFacts) {
    this.#contexts = makeContexts(facts);
    this.#functions = new Map(
      [...functionsFor("success", null)].map(([name, { call, ...rest }]) => [
        name,
        { ...rest, call: (...args: Data[]) => this.#counted(call(...args), args) },
      ]),
    );
  }

  /** Whether the evaluation has reached the bound. */
  get isSpent(): boolean {
    return this.#work > MOST_WORK;
  }

  #count(work: number): void {
    this.#work += work;
    if (this.#work > MOST_WORK)
      throw new ExpressionMistake("The expressions of all jobs together produce too much text");
  }

  #counted(result: Data, args: Data[]): Data {
    for (const one of [result, ...args]) this.#count(one.primitive ? one.coerceString().length : 1);
    return result;
  }

  /** Returns the names that jobs with this combination can read. */
  forMatrix(matrix: Matrix | null): EvaluationScope {
    const contexts = { ...this.#contexts, matrix: matrixContext(matrix) };
    return { ...makeScope(contexts, "success"), functions: this.#functions };
  }

  /** @throws {LocatedMistake} */
  value(one: LocatedExpression, scope: EvaluationScope): Data {
    return locateMistakes(one, () => {
      this.#count(one.expression.offsets.size);
      return evaluate(one.expression, scope, "mistake");
    });
  }

  /** @throws {LocatedMistake} */
  text(template: Template, scope: EvaluationScope): string {
    return template.map((part) => (typeof part === "string" ? part : this.#print(part, scope))).join("");
  }

  #print(one: LocatedExpression, scope: EvaluationScope): string {
    const value = this.value(one, scope);
    return locateMistakes(one, () => {
      if (!value.primitive)
        throw new ExpressionMistake("This is an object or array: write toJSON(...) to make it text");
      const text = value.coerceString();
      this.#count(text.length);
      return text;
    });
  }
}
