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
import { closestName } from "../../domain/closest-name.ts";
import { CONTEXT_ADVICE, PROPERTY_EQUIVALENTS, STEP_PROPERTY_EQUIVALENTS } from "../advice/expressions.ts";
import { ExpressionMistake } from "../mistake.ts";
import { changedProblem } from "./changed.ts";
import type { UnknownNames } from "./evaluate.ts";
import {
  CONTEXT_NAMES,
  CONTEXT_PROPERTIES,
  isJobContext,
  isStatusFunction,
  isVariableName,
  type JobLevel,
  type JobNames,
  ONLY_IN_CONDITION,
  refusedContext,
  wrongJobName,
} from "./names.ts";
import type { Expression } from "./parse.ts";

/** The names known before a build: ids of earlier steps, and variables if the pipeline is known. */
export interface KnownNames {
  /** Ids of earlier steps; null for expressions that are evaluated before the first step. */
  steps: string[] | null;
  /** Whether there may be earlier steps in files that nobody read. */
  hasUnread?: boolean;
  /** The names of the inputs, in an included file. */
  inputs?: string[];
  /** The names of a job in `jobs`, which also has the contexts `matrix` and `needs`. Absent elsewhere. */
  job?: JobNames;
  /** The level of an expression of the job itself. Absent elsewhere. */
  level?: JobLevel;
  variables?: {
    vars: Set<string>;
    secrets: Set<string>;
    /** All variables in the environment at this place; null if an earlier step may have added other variables. */
    env: Set<string> | null;
  };
}

/** The advice on a condition's variables. They must be known before the condition is evaluated. */
const NAME_VARIABLES = "Spell out the name of the variable, as in `vars.NAME`";

/** Reports whether the service adds this variable to every build. */
const isOfService = (name: string): boolean => name === "CI" || name.startsWith("MILLRACE_");

/** Returns the context and the literal keys of `context.key.key`; null for anything else. */
const contextPath = (node: Expr): { context: string; keys: string[] } | null => {
  if (node instanceof ContextAccess) return { context: node.name.lexeme, keys: [] };
  if (!(node instanceof IndexAccess) || !(node.index instanceof Literal)) return null;
  const holder = contextPath(node.expr);
  return holder && { context: holder.context, keys: [...holder.keys, node.index.literal.coerceString()] };
};

class Checker {
  readonly mistakes: ExpressionMistake[] = [];
  readonly #expression: Expression;
  readonly #names: KnownNames;

  constructor(expression: Expression, names: KnownNames) {
    this.#expression = expression;
    this.#names = names;
  }

  #report(token: Token, message: string, suggestion?: string): void {
    this.mistakes.push(new ExpressionMistake(message, this.#expression.offsets.get(token), suggestion));
  }

  #isContext(name: string): boolean {
    if (name === "inputs") return this.#names.inputs !== undefined;
    return (CONTEXT_NAMES as readonly string[]).includes(name) || (this.#names.job !== undefined && isJobContext(name));
  }

  /** Reports a context that an expression of the job itself cannot name. */
  #isRefused(name: string, token: Token): boolean {
    const { level } = this.#names;
    const why = level && refusedContext(level, name);
    if (why) this.#report(token, why);
    return why !== undefined;
  }

  #mustBeIn(names: Iterable<string>, key: string, token: Token, message: string, instead?: string): void {
    const choices = [...names];
    if (!choices.includes(key)) this.#report(token, message, instead ?? closestName(key, choices));
  }

  /** Checks `context.key` with a literal key. */
  #property(context: string, key: string, token: Token, lenient: boolean): void {
    const { steps, hasUnread, variables, level, inputs } = this.#names;
    if (isJobContext(context)) return;
    if (context === "inputs") {
      this.#mustBeIn(inputs ?? [], key, token, "This file has no such input");
      return;
    }
    if (context === "steps") {
      if (steps === null) this.#report(token, "This is evaluated before the first step runs");
      else if (!hasUnread) this.#mustBeIn(steps, key, token, "There is no earlier step with this id");
    } else if (context === "vars" || context === "secrets") {
      const [own, other] = context === "vars" ? (["vars", "secrets"] as const) : (["secrets", "vars"] as const);
      if (!variables || variables[own].has(key)) return;
      if (level && variables[other].has(key)) this.#report(token, "This is a secret, which only steps can read");
      else if (variables[other].has(key))
        this.#report(token, other === "secrets" ? "This is a secret" : "This is not a secret", `${other}.${key}`);
      else if (!lenient) this.#mustBeIn(variables[own], key, token, "There is no variable with this name");
    } else if (context === "env") {
      if (variables?.env && !lenient && !isOfService(key))
        this.#mustBeIn(variables.env, key, token, "There is no variable with this name");
    } else {
      const instead = PROPERTY_EQUIVALENTS.get(`${context}.${key}`);
      this.#mustBeIn(
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
    if (this.#isContext(name)) {
      if (!this.#isRefused(name, token) && this.#names.level && name === "vars") this.#report(token, NAME_VARIABLES);
    } else if (!isVariableName(name)) this.#report(token, "This is a function: call it with ( )", `${name}()`);
    else if (name.includes("-")) this.#report(token, "No variable can have this name");
    else if (this.#names.level)
      this.#report(token, "There is no environment before an agent has the job", `vars.${name}`);
    else if (this.#names.variables?.env && !lenient && !isOfService(name))
      this.#mustBeIn(this.#names.variables.env, name, token, "There is no variable with this name");
  }

  #index({ expr, index }: IndexAccess, lenient: boolean): void {
    if (!(index instanceof Literal) && !(index instanceof Star)) this.walk(index, lenient);
    const key = index instanceof Literal ? index.literal.coerceString() : undefined;
    if (key !== undefined) this.#jobName(new IndexAccess(expr, index), (index as Literal).token);
    if (expr instanceof ContextAccess) {
      const name = expr.name.lexeme;
      if (this.#isContext(name)) {
        if (this.#isRefused(name, expr.name)) return;
        if (key !== undefined) this.#property(name, key, (index as Literal).token, lenient);
        else if (this.#names.level && name === "vars") this.#report(expr.name, NAME_VARIABLES);
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
      this.#mustBeIn(CONTEXT_PROPERTIES.pull, key, (index as Literal).token, "A pull request has no such property");
    if (inSteps && key !== undefined)
      this.#mustBeIn(
        CONTEXT_PROPERTIES.step,
        key,
        (index as Literal).token,
        "A step has no such property",
        STEP_PROPERTY_EQUIVALENTS.get(key),
      );
  }

  /** Checks a key after `matrix` or `needs`. */
  #jobName(access: IndexAccess, token: Token): void {
    const { job, level } = this.#names;
    const path = job && contextPath(access);
    if (!path || !isJobContext(path.context) || (level && refusedContext(level, path.context))) return;
    const wrong = wrongJobName(job, path.context, path.keys);
    if (wrong) this.#report(token, wrong.message, wrong.suggestion);
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
    const name = functionName.lexeme.toLowerCase();
    const { level } = this.#names;
    if (level === "plan" && (name === "changed" || isStatusFunction(name)))
      this.#report(functionName, ONLY_IN_CONDITION);
    for (const [index, arg] of args.entries()) {
      this.walk(arg, lenient);
      if (name !== "changed") continue;
      if (arg instanceof Literal) {
        const pattern = arg.literal.coerceString();
        const problem =
          level && pattern.includes("\n") ? "A pattern cannot have a line break here" : changedProblem(pattern, index);
        if (problem !== null) this.#report(arg.token, problem);
      } else if (level === "condition")
        this.#report(functionName, "Spell out the patterns: they are compared before the condition is evaluated");
    }
  }

  #logical({ operator, args }: Logical, lenient: boolean): void {
    for (const [index, arg] of args.entries())
      this.walk(arg, lenient || (operator.type === TokenType.OR && index < args.length - 1));
  }
}

/** Finds all wrong names in an expression that can be found before a build. Also finds invalid patterns. */
export const wrongNames = (expression: Expression, names: KnownNames, unknown: UnknownNames): ExpressionMistake[] => {
  const checker = new Checker(expression, names);
  if (expression.root) checker.walk(expression.root, unknown === "null");
  return checker.mistakes;
};
