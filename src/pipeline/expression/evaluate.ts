import { data, Evaluator } from "@actions/expressions";
import {
  type ContextAccess,
  Expr,
  type FunctionCall,
  IndexAccess,
  Literal,
  type Logical,
  Star,
} from "@actions/expressions/ast";
import type { FunctionDefinition } from "@actions/expressions/funcs/info";
import { type Token, TokenType } from "@actions/expressions/lexer";
import { falsy } from "@actions/expressions/result";
import { ExpressionMistake } from "../mistake.ts";
import { type Data, Dictionary, isSecretData } from "./data.ts";
import { type JobContextStatus, RESULT_LIMIT, WORK_LIMIT } from "./functions.ts";
import type { Expression } from "./parse.ts";

/** The names of an expression: contexts and bare variables, the job's status, and the functions. */
export interface EvaluationScope {
  names: Dictionary;
  status: JobContextStatus;
  functions: Map<string, FunctionDefinition>;
}

/** The value of an unknown name. In `if` it is null. Elsewhere it is a mistake, except left of `||`. */
export type UnknownNames = "null" | "mistake";

/** A value that replaces its expression, so that it is evaluated once. */
class EvaluatedNode extends Expr {
  readonly value: Data;
  constructor(value: Data) {
    super();
    this.value = value;
  }
  override accept<R>(): R {
    return this.value as R;
  }
}

class NamedEvaluator extends Evaluator {
  readonly #expression: Expression;
  readonly #names: Dictionary;
  #lenient: boolean;
  #characters = 0;

  constructor(expression: Expression, root: Expr, scope: EvaluationScope, unknown: UnknownNames) {
    super(root, scope.names, scope.functions);
    this.#expression = expression;
    this.#names = scope.names;
    this.#lenient = unknown === "null";
  }

  #find(holder: Dictionary, key: string, token: Token | undefined): Data {
    const value = holder.get(key);
    const missing = value === undefined ? holder.missing?.(key) : null;
    if (missing && (missing.always || !this.#lenient))
      throw new ExpressionMistake(missing.message, token && this.#expression.offsets.get(token), missing.suggestion);
    return value ?? new data.Null();
  }

  override visitContextAccess(access: ContextAccess): Data {
    return this.#find(this.#names, access.name.lexeme, access.name);
  }

  override visitIndexAccess(access: IndexAccess): Data {
    const holder = this.eval(access.expr);
    if (holder instanceof Dictionary && holder.missing && !(access.index instanceof Star)) {
      const token = access.index instanceof Literal ? access.index.token : undefined;
      return this.#find(holder, this.eval(access.index).coerceString(), token);
    }
    return super.visitIndexAccess(new IndexAccess(new EvaluatedNode(holder), access.index));
  }

  override visitLogical(logical: Logical): Data {
    if (logical.operator.type !== TokenType.OR) return super.visitLogical(logical);
    const outer = this.#lenient;
    try {
      let result: Data = new data.Null();
      for (const [index, arg] of logical.args.entries()) {
        this.#lenient = outer || index < logical.args.length - 1;
        result = this.eval(arg);
        if (!falsy(result)) return result;
      }
      return result;
    } finally {
      this.#lenient = outer;
    }
  }

  override visitFunctionCall(call: FunctionCall): Data {
    try {
      const result = super.visitFunctionCall(call);
      this.#characters += result.primitive ? result.coerceString().length : 0;
      if (this.#characters > WORK_LIMIT) throw new ExpressionMistake("The expression produces too much text");
      return result;
    } catch (error) {
      if (!(error instanceof ExpressionMistake) || error.offset > 0) throw error;
      throw new ExpressionMistake(error.message, this.#expression.offsets.get(call.functionName), error.suggestion);
    }
  }
}

/** Evaluates an expression. An empty expression is null. @throws {ExpressionMistake} */
export const evaluate = (expression: Expression, scope: EvaluationScope, unknown: UnknownNames): Data => {
  if (!expression.root) return new data.Null();
  const value = new NamedEvaluator(expression, expression.root, scope, unknown).evaluate();
  if (value.primitive && value.coerceString().length > RESULT_LIMIT)
    throw new ExpressionMistake("The result is too large");
  return value;
};

/**
 * Evaluates an expression as text, and reports whether the text reveals a secret. @throws {ExpressionMistake} for an
 * array or object
 */
export const evaluateText = (expression: Expression, scope: EvaluationScope): { text: string; isSecret: boolean } => {
  const value = evaluate(expression, scope, "mistake");
  if (!value.primitive) throw new ExpressionMistake("This is an object or array: write toJSON(...) to make it text");
  return { text: value.coerceString(), isSecret: isSecretData(value) };
};

/** Evaluates the condition of `if`. A condition without a status function means `success() && (...)`. */
export const evaluateCondition = (expression: Expression, scope: EvaluationScope): boolean => {
  if (!expression.usesStatus && scope.status !== "success") return false;
  return expression.root === null || !falsy(evaluate(expression, scope, "null"));
};
