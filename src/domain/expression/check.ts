import {
  Binary,
  ContextAccess,
  type Expr,
  FunctionCall,
  Grouping,
  IndexAccess,
  Literal,
  Logical,
  Star,
  Unary,
} from "@actions/expressions/ast";
import { type Token, TokenType } from "@actions/expressions/lexer";
import { closestName } from "../closest-name.ts";
import { CONTEXT_ADVICE, PROPERTY_EQUIVALENTS, STEP_PROPERTY_EQUIVALENTS } from "../other-ci/expressions.ts";
import { changedProblem } from "./changed.ts";
import type { UnknownNames } from "./evaluate.ts";
import { ExpressionMistake } from "./mistake.ts";
import { CONTEXT_NAMES, CONTEXT_PROPERTIES, isVariableName } from "./names.ts";
import type { Expression } from "./parse.ts";

/** What the expressions of one job of several can name. */
export interface JobNames {
  /** Keys of its matrix; null where it has none. */
  matrix: string[] | null;
  /** The jobs that it needs, by their keys, with the names of their outputs. */
  needs: Map<string, { hasMatrix: boolean; outputs: string[] }>;
}

/** The names known before a build: ids of earlier steps, and variables when the pipeline is known. */
export interface KnownNames {
  /** Ids of earlier steps; null in places that are evaluated before the first step. */
  steps: string[] | null;
  variables?: {
    vars: Set<string>;
    secrets: Set<string>;
    /** All variables in the environment here; null when an earlier step may have added more. */
    env: Set<string> | null;
  };
}

/** Whether the service adds this variable to every build. */
const isOfService = (name: string): boolean => name === "CI" || name.startsWith("MILLRACE_");

const isContext = (name: string): boolean => (CONTEXT_NAMES as readonly string[]).includes(name);

class Checker {
  readonly mistakes: ExpressionMistake[] = [];
  readonly #expression: Expression;
  readonly #known: KnownNames;

  constructor(expression: Expression, known: KnownNames) {
    this.#expression = expression;
    this.#known = known;
  }

  #report(token: Token, message: string, suggestion?: string): void {
    this.mistakes.push(new ExpressionMistake(message, this.#expression.offsets.get(token), suggestion));
  }

  #mustBeOneOf(names: Iterable<string>, key: string, token: Token, message: string, instead?: string): void {
    const known = [...names];
    if (!known.includes(key)) this.#report(token, message, instead ?? closestName(key, known));
  }

  /** `context.key` with a literal key. */
  #property(context: string, key: string, token: Token, lenient: boolean): void {
    const { steps, variables } = this.#known;
    if (context === "steps") {
      if (steps === null) this.#report(token, "No step has run yet where this is evaluated");
      else this.#mustBeOneOf(steps, key, token, "There is no earlier step with this id");
    } else if (context === "vars" || context === "secrets") {
      const [own, other] = context === "vars" ? (["vars", "secrets"] as const) : (["secrets", "vars"] as const);
      if (!variables || variables[own].has(key)) return;
      if (variables[other].has(key))
        this.#report(token, other === "secrets" ? "This is a secret" : "This is not a secret", `${other}.${key}`);
      else if (!lenient) this.#mustBeOneOf(variables[own], key, token, "There is no variable of this name");
    } else if (context === "env") {
      if (variables?.env && !lenient && !isOfService(key))
        this.#mustBeOneOf(variables.env, key, token, "There is no variable of this name");
    } else {
      const instead = PROPERTY_EQUIVALENTS.get(`${context}.${key}`);
      this.#mustBeOneOf(
        CONTEXT_PROPERTIES[context as keyof typeof CONTEXT_PROPERTIES],
        key,
        token,
        "This context has no such property",
        instead,
      );
    }
  }

  #bare(token: Token, lenient: boolean): void {
    const name = token.lexeme;
    if (isContext(name)) return;
    if (!isVariableName(name)) this.#report(token, "This is a function: call it with ( )", `${name}()`);
    else if (name.includes("-")) this.#report(token, "No variable can have this name");
    else if (this.#known.variables?.env && !lenient && !isOfService(name))
      this.#mustBeOneOf(this.#known.variables.env, name, token, "There is no variable of this name");
  }

  #index({ expr, index }: IndexAccess, lenient: boolean): void {
    if (!(index instanceof Literal) && !(index instanceof Star)) this.walk(index, lenient);
    const key = index instanceof Literal ? index.literal.coerceString() : undefined;
    if (expr instanceof ContextAccess) {
      const name = expr.name.lexeme;
      if (isContext(name)) {
        if (key !== undefined) this.#property(name, key, (index as Literal).token, lenient);
        return;
      }
      const instead = PROPERTY_EQUIVALENTS.get(`${name}.${key}`);
      const advice = CONTEXT_ADVICE.get(name);
      if (instead !== undefined) this.#report(expr.name, `There is no context \`${name}\``, instead);
      else if (advice !== undefined) this.#report(expr.name, `There is no context \`${name}\`. ${advice}`);
      else {
        const near = closestName(name, CONTEXT_NAMES);
        const only = near === undefined ? `, only ${CONTEXT_NAMES.join(", ")}` : "";
        this.#report(expr.name, `There is no such context${only}`, near);
      }
      return;
    }
    this.walk(expr, lenient);
    const inSteps =
      expr instanceof IndexAccess && expr.expr instanceof ContextAccess && expr.expr.name.lexeme === "steps";
    const holder =
      expr instanceof IndexAccess && expr.index instanceof Literal ? expr.index.literal.coerceString() : "";
    const inBuild =
      expr instanceof IndexAccess && expr.expr instanceof ContextAccess && expr.expr.name.lexeme === "build";
    if (inBuild && holder === "pull" && key !== undefined)
      this.#mustBeOneOf(CONTEXT_PROPERTIES.pull, key, (index as Literal).token, "A pull request has no such property");
    if (inSteps && key !== undefined)
      this.#mustBeOneOf(
        CONTEXT_PROPERTIES.step,
        key,
        (index as Literal).token,
        "A step has no such property",
        STEP_PROPERTY_EQUIVALENTS.get(key),
      );
  }

  walk(node: Expr, lenient: boolean): void {
    if (node instanceof ContextAccess) this.#bare(node.name, lenient);
    else if (node instanceof IndexAccess) this.#index(node, lenient);
    else if (node instanceof FunctionCall) this.#call(node, lenient);
    else if (node instanceof Unary) this.walk(node.expr, lenient);
    else if (node instanceof Grouping) this.walk(node.group, lenient);
    else if (node instanceof Binary) {
      this.walk(node.left, lenient);
      this.walk(node.right, lenient);
    } else if (node instanceof Logical) this.#logical(node, lenient);
  }

  #call({ functionName, args }: FunctionCall, lenient: boolean): void {
    for (const [index, arg] of args.entries()) {
      this.walk(arg, lenient);
      if (functionName.lexeme.toLowerCase() !== "changed" || !(arg instanceof Literal)) continue;
      const problem = changedProblem(arg.literal.coerceString(), index);
      if (problem !== null) this.#report(arg.token, problem);
    }
  }

  #logical({ operator, args }: Logical, lenient: boolean): void {
    for (const [index, arg] of args.entries())
      this.walk(arg, lenient || (operator.type === TokenType.OR && index < args.length - 1));
  }
}

/** All wrong names in an expression that can be found before a build, and patterns that are none. */
export const wrongNames = (expression: Expression, known: KnownNames, unknown: UnknownNames): ExpressionMistake[] => {
  const checker = new Checker(expression, known);
  if (expression.root) checker.walk(expression.root, unknown === "null");
  return checker.mistakes;
};
