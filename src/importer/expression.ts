import { Binary, type Expr, FunctionCall, Grouping, Literal, Logical, Unary } from "@actions/expressions/ast";
import { TokenType } from "@actions/expressions/lexer";
import { findSpans } from "../pipeline/expression/interpolation.ts";
import { contextPath, isAnyPush, isNoPull, isOfStranger, isOwnPull, parse, stringIn } from "./expression-tree.ts";
import { contextName, translateBeginning, translateEquality, translateOwnership } from "./github-names.ts";
import { NoEqual } from "./marks.ts";
import { findMatrixKey, findName, type Names, textOfValue } from "./names.ts";

/* Translates expressions: the same tree, with this service's names. */

const ORDER = new Set(["<", "<=", ">", ">="]);

const property = (key: string): string =>
  /^[A-Za-z_][\w-]*$/.test(key) ? `.${key}` : `['${key.replaceAll("'", "''")}']`;

class Translator {
  readonly #names: Names;
  constructor(names: Names) {
    this.#names = names;
  }

  /** Translates a value of which only the text counts, as in a template. Matrix numbers are texts here. */
  print(node: Expr): string {
    if (node instanceof Literal) return node.token.lexeme;
    if (node instanceof Grouping) return `(${this.print(node.group)})`;
    if (node instanceof Unary) return this.#isOnce(isOwnPull(node.expr)) ? "true" : `!${this.truth(node.expr)}`;
    if (node instanceof Logical) return this.#logical(node, (arg) => this.truth(arg));
    if (node instanceof Binary) return this.#binary(node);
    if (node instanceof FunctionCall) return this.#call(node);
    const path = contextPath(node);
    if (!path) throw new NoEqual("a name that is known only at run time");
    return this.#name(path);
  }

  /** Translates a value of which only the truth counts. */
  truth(node: Expr): string {
    if (node instanceof Grouping) return `(${this.truth(node.group)})`;
    const path = contextPath(node);
    const key = path && this.#matrixKey(path);
    if (key?.values.some((value) => value === 0 || Number.isNaN(value))) return this.#asNumber(key);
    return this.print(node);
  }

  /** Translates a value whose type counts too. */
  #exact(node: Expr): string {
    if (node instanceof Grouping) return `(${this.#exact(node.group)})`;
    if (node instanceof Logical) return this.#logical(node, (arg) => this.#exact(arg));
    const path = contextPath(node);
    const key = path && this.#matrixKey(path);
    return key?.values.some((value) => typeof value === "number" || value === null)
      ? this.#asNumber(key)
      : this.print(node);
  }

  /**
   * "A push, or a stranger's pull request" is how a workflow tests a commit once if its branch has an open pull
   * request, and not in both runs. Here the commit has one build, the pull request's. It must run the tests, or no
   * build would.
   */
  #logical({ args, operator }: Logical, print: (arg: Expr) => string): string {
    const isOnce = this.#isOnce(operator.lexeme === "||" && args.some(isAnyPush) && args.some(isOfStranger));
    if (isOnce && args.some(isNoPull)) return "true";
    const written = args.map((arg) => (isOnce && isOfStranger(arg) ? "build.event == 'pull'" : print(arg)));
    return written.join(` ${operator.lexeme} `);
  }

  /** Reports whether such a condition excludes one of two builds that are one build here. */
  #isOnce(isMeant: boolean): boolean {
    if (!isMeant || !this.#names.hasPulls || this.#names.pushes === "none") return false;
    if (this.#names.pushes === "all") return true;
    throw new NoEqual("pushes of some branches, or pull requests of strangers (here they share one build)");
  }

  #matrixKey(path: string[]) {
    if (path[0]?.toLowerCase() !== "matrix" || path.length < 2) return undefined;
    return findMatrixKey(this.#names.matrix ?? [], path.slice(1).join("."));
  }

  #asNumber({ name, values }: { name: string; values: unknown[] }): string {
    if (values.every((value) => typeof value === "number" && Number.isFinite(value)))
      return `fromJSON(matrix${property(name)})`;
    if (values.every((value) => value === null || (typeof value === "number" && Number.isFinite(value))))
      return `(matrix${property(name)} && fromJSON(matrix${property(name)}))`;
    throw new NoEqual(`\`matrix.${name}\`, which is a number only in some combinations`);
  }

  #binary({ left, operator, right }: Binary): string {
    const sign = operator.lexeme;
    const paths = [contextPath(left), contextPath(right)].map((path) => path?.join(".") ?? "");
    const isOwn = ORDER.has(sign) ? undefined : translateOwnership(paths[0]!, paths[1]!, this.#names);
    if (isOwn !== undefined) return sign === "==" ? isOwn : this.#negated(isOwn);
    for (const [side, other] of [
      [left, right],
      [right, left],
    ] as const) {
      const path = contextPath(side);
      const text = stringIn(other);
      if (!path || text === undefined || ORDER.has(sign)) continue;
      const equality = translateEquality(path.join("."), text, this.#names) ?? this.#resultIs(path, text);
      if (equality !== undefined) return sign === "==" ? equality : this.#negated(equality);
    }
    const [first, second] = [this.#compared(left, right, sign), this.#compared(right, left, sign)];
    // A value that no step ever has, such as a cache hit.
    if (first === "''" && !ORDER.has(sign) && /^'[^']*'$/.test(second))
      return String((sign === "==") === (second === first));
    return `${first} ${sign} ${second}`;
  }

  #negated(condition: string): string {
    const simple = /^([\w.]+) (==|!=) ('[^']*'|null)$/.exec(condition);
    if (simple) return `${simple[1]} ${simple[2] === "==" ? "!=" : "=="} ${simple[3]}`;
    if (/^(?:true|false)$/.test(condition)) return condition === "true" ? "false" : "true";
    return /^\(.*\)$|^\w+\(.*\)$/s.test(condition) ? `!${condition}` : `!(${condition})`;
  }

  /** Compares a job's result. A job that a failure kept from running is `dropped` here, but `skipped` on GitHub. */
  #resultIs(path: string[], text: string): string | undefined {
    if (path.length !== 3 || path[0]?.toLowerCase() !== "needs" || path[2]?.toLowerCase() !== "result")
      return undefined;
    if (path[1] === "*") return undefined;
    const needed = findName(this.#names.needs, path[1]!, ({ key }) => key);
    if (!needed) return undefined;
    const name = `needs.${needed.key}.result`;
    // GitHub does not have this word.
    if (text.toLowerCase() === "dropped") return "false";
    if (text.toLowerCase() !== "skipped") return `${name} == '${text.replaceAll("'", "''")}'`;
    return `(${name} == 'skipped' || ${name} == 'dropped')`;
  }

  /** Translates one side of a comparison. Matrix numbers are texts here, which sometimes compare differently. */
  #compared(node: Expr, other: Expr, sign: string): string {
    const path = contextPath(node);
    const key = path && this.#matrixKey(path);
    if (!key) return this.#exact(node);
    if (!key.values.some((value) => typeof value === "number")) return this.print(node);
    const text = stringIn(other);
    const isPlain =
      text !== undefined
        ? !ORDER.has(sign) && (Number.isNaN(Number(text)) || (text !== "" && textOfValue(Number(text)) === text))
        : other instanceof Literal && other.token.type === TokenType.NUMBER;
    return isPlain ? this.print(node) : this.#asNumber(key);
  }

  #call({ functionName, args }: FunctionCall): string {
    const name = functionName.lexeme;
    const lower = name.toLowerCase();
    if (lower === "hashfiles") throw new NoEqual("`hashFiles()`: compute the hash in a step");
    const [first, second] = args;
    const path = first && contextPath(first);
    const text = second && stringIn(second);
    if (path && text !== undefined && lower === "startswith") {
      const beginning = translateBeginning(path.join("."), text, this.#names);
      if (beginning !== undefined) return beginning;
    }
    if (path && lower === "contains" && /^needs\.\*\.result$/i.test(path.join("."))) {
      if (text === undefined) throw new NoEqual("`contains(needs.*.result, ...)` with a computed value");
      const list = this.#name(path);
      if (text.toLowerCase() === "dropped") return "false";
      const containsText = `contains(${list}, '${text.replaceAll("'", "''")}')`;
      return text.toLowerCase() === "skipped" ? `(${containsText} || contains(${list}, 'dropped'))` : containsText;
    }
    const asText = /^(?:contains|startswith|endswith|format|fromjson)$/.test(lower);
    return `${name}(${args.map((arg) => (asText ? this.print(arg) : this.#exact(arg))).join(", ")})`;
  }

  #name(path: string[]): string {
    const [context = "", ...keys] = path;
    const [first, ...rest] = keys;
    const lower = context.toLowerCase();
    if (first === undefined) throw new NoEqual(`all of \`${context}\``);
    if (lower === "github" || lower === "runner") return contextName(lower, keys, this.#names);
    if (lower === "env" && rest.length === 0) return this.#env(first);
    if ((lower === "vars" || lower === "secrets") && rest.length === 0 && first !== "*") {
      if (first.toUpperCase() === "GITHUB_TOKEN") throw new NoEqual("`secrets.GITHUB_TOKEN`", "token");
      return `${lower}.${first.toUpperCase()}`;
    }
    if (lower === "matrix") return this.#matrix(keys.join("."));
    if (lower === "needs") return this.#needs(first, rest);
    if (lower === "steps") return this.#steps(first, rest);
    if (lower === "job" && first.toLowerCase() === "status" && rest.length === 0) return "job.status";
    throw new NoEqual(`\`${path.join(".")}\``);
  }

  #env(key: string): string {
    const { env, wrongEnv, isStrict } = this.#names;
    if (key === "*") throw new NoEqual("all of `env`");
    if (findName(wrongEnv, key, (one) => one))
      throw new NoEqual(`\`env.${key}\`, which has a different value here at this point`);
    const variable = findName(env, key, (one) => one);
    if (variable !== undefined || !isStrict) return `env${property(variable ?? key)}`;
    return `(env${property(key)} || '')`;
  }

  #matrix(key: string): string {
    const { matrix } = this.#names;
    if (matrix === null) throw new NoEqual(`\`matrix.${key}\`: the matrix could not be translated`, "matrix");
    if (key.includes("*")) throw new NoEqual("all of `matrix`");
    const matrixKey = findMatrixKey(matrix, key);
    if (!matrixKey) return "null";
    return `matrix${property(matrixKey.name)}`;
  }

  #needs(job: string, rest: string[]): string {
    const { needs, hasMoreNeeds, isPlanned } = this.#names;
    if (isPlanned) throw new NoEqual(`\`needs.${job}\` before any job has run`);
    const [what = "", output, ...more] = rest;
    const lower = what.toLowerCase();
    if (job === "*") {
      if (lower === "result" && output === undefined && !hasMoreNeeds) return "needs.*.result";
      throw new NoEqual(`\`needs.*.${rest.join(".")}\``);
    }
    const needed = findName(needs, job, ({ key }) => key);
    if (!needed) return "null";
    const result = `needs.${needed.key}.result`;
    if (lower === "result" && output === undefined) return `case(${result} == 'dropped', 'skipped', ${result})`;
    if (lower !== "outputs" || output === undefined || output === "*" || more.length > 0)
      throw new NoEqual(`\`needs.${[job, ...rest].join(".")}\``);
    if (needed.hasMatrix)
      throw new NoEqual(
        `\`needs.${job}.outputs\` of a matrix, whose outputs are not merged: read \`needs.${needed.key}.jobs\``,
      );
    const outputName = findName(needed.outputs, output, (one) => one);
    return outputName === undefined ? "null" : `needs.${needed.key}.outputs.${outputName}`;
  }

  #toldBy(id: string, outputs: ReadonlyMap<string, string>, output: string | undefined): string {
    const told = outputs.get(output?.toLowerCase() ?? "");
    if (told === undefined) throw new NoEqual(`\`steps.${id}\`, whose replacement does not provide this`);
    return told;
  }

  #steps(id: string, rest: string[]): string {
    const [what = "", output, ...more] = rest;
    const lower = what.toLowerCase();
    const step = findName(this.#names.steps, id, (one) => one.id);
    if (id === "*" || more.length > 0) throw new NoEqual(`\`steps.${[id, ...rest].join(".")}\``);
    if (!step) return "null";
    const isOutput = lower === "outputs" && output !== undefined && output !== "*";
    if (step.fate === "cache" && isOutput) return "''";
    if (step.fate !== "kept") throw new NoEqual(`\`steps.${id}\`, a step that could not be translated`);
    if (step.outputs) return this.#toldBy(id, step.outputs, isOutput ? output : undefined);
    if (isOutput) return `steps.${step.id}.outputs${property(output)}`;
    if ((lower === "outcome" || lower === "conclusion") && output === undefined) return `steps.${step.id}.${lower}`;
    throw new NoEqual(`\`steps.${[id, ...rest].join(".")}\``);
  }
}

const readExpression = (text: string): Expr => {
  try {
    return parse(text);
  } catch {
    throw new NoEqual("an invalid expression");
  }
};

/** Translates one expression, without `${{ }}`. @throws {NoEqual} */
export const translateExpression = (text: string, names: Names): string => {
  return new Translator(names).print(readExpression(text));
};

/** Translates one expression of which only the truth counts. @throws {NoEqual} */
const translateTruth = (text: string, names: Names): string =>
  new Translator({ ...names, isStrict: false }).truth(readExpression(text));

/** Translates a text with expressions. @throws {NoEqual} */
export const translateText = (text: string, names: Names): string => {
  const { spans } = findSpans(text);
  let translation = "";
  let end = 0;
  for (const span of spans) {
    translation += `${text.slice(end, span.start)}\${{ ${translateExpression(span.inner, names)} }}`;
    end = span.end;
  }
  return translation + text.slice(end);
};

/** Reports whether a condition's first bracket closes at its end. Texts in it may have brackets too. */
const isGrouped = (condition: string): boolean => {
  let depth = 0;
  const signs = [...condition.replaceAll(/'[^']*'/g, (text) => "'".repeat(text.length)).matchAll(/[()]/g)];
  return signs.every(({ index, 0: sign }) => {
    depth += sign === "(" ? 1 : -1;
    return depth > 0 || index === condition.length - 1;
  });
};

const ungrouped = (condition: string): string =>
  condition.startsWith("(") && condition.endsWith(")") && isGrouped(condition) ? condition.slice(1, -1) : condition;

/** Translates an `if` condition from the workflow parser. @throws {NoEqual} */
export const translateCondition = (text: string, names: Names): string => {
  const { spans } = findSpans(text);
  const [span] = spans;
  if (span && spans.length === 1 && text.slice(0, span.start).trim() === "" && text.slice(span.end).trim() === "")
    return ungrouped(translateTruth(span.inner, names));
  // With text around it, an expression becomes a text, and a text is true.
  if (span) throw new NoEqual("text around ${{ }}", "always-true");
  return text.trim() === "" ? "success()" : ungrouped(translateTruth(text, names));
};
