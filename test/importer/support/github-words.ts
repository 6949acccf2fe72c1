import { data, Evaluator, Lexer, Parser } from "@actions/expressions";
import type { FunctionDefinition } from "@actions/expressions/funcs/info";
import { TokenType } from "@actions/expressions/lexer";
import { falsy } from "@actions/expressions/result";
import { toData } from "../../../src/pipeline/expression/data.ts";
import { findSpans } from "../../../src/pipeline/expression/interpolation.ts";

/* GitHub's meaning of a workflow's words: expressions, conditions, shells, and the files that a step writes. */

type Texts = Record<string, string>;

const toContext = (value: unknown): data.ExpressionData => {
  if (Array.isArray(value)) return new data.Array(...value.map(toContext));
  if (typeof value !== "object" || value === null) return toData(value);
  return new data.Dictionary(...Object.entries(value).map(([key, one]) => ({ key, value: toContext(one) })));
};

/** Returns `success()`, `failure()`, `always()` and `cancelled()`: `${PAGES.expressions}#status-check-functions`. */
export const statusFunctions = (hasFailed: boolean, isSuccess = !hasFailed): Map<string, FunctionDefinition> =>
  new Map(
    Object.entries({ success: isSuccess, failure: hasFailed, always: true, cancelled: false }).map(([name, value]) => [
      name,
      { name, minArgs: 0, maxArgs: 0, call: () => new data.BooleanData(value) },
    ]),
  );

const evaluate = (text: string, contexts: object, functions = statusFunctions(false)): data.ExpressionData => {
  const { tokens } = new Lexer(text).lex();
  const hash: FunctionDefinition = { name: "hashFiles", minArgs: 1, maxArgs: 9, call: () => new data.StringData("h") };
  const all = new Map([...functions, ["hashfiles", hash]]);
  const names = tokens.filter(({ type }) => type === TokenType.IDENTIFIER).map(({ lexeme }) => lexeme);
  const root = new Parser(tokens, names, [...all.values()]).parse();
  return new Evaluator(root, toContext(contexts) as data.Dictionary, all).evaluate();
};

/** Replaces a text's expressions with their values: `${PAGES.expressions}#about-expressions`. */
export const fill = (value: unknown, contexts: object): string => {
  const text = String(value ?? "");
  let filled = "";
  let end = 0;
  for (const span of findSpans(text).spans) {
    filled += text.slice(end, span.start) + evaluate(span.inner, contexts).coerceString();
    end = span.end;
  }
  return filled + text.slice(end);
};

export const fillAll = (values: Record<string, unknown> | undefined, contexts: object): Texts =>
  Object.fromEntries(Object.entries(values ?? {}).map(([key, value]) => [key, fill(value, contexts)]));

const STATUS = /\b(?:success|failure|always|cancelled)\s*\(/;

/** Evaluates a condition. Without a status function it begins with `success()`. */
export const holds = (condition: unknown, contexts: object, functions: Map<string, FunctionDefinition>): boolean => {
  const text = String(condition ?? "success()").replace(/^\s*\$\{\{(.*)\}\}\s*$/s, "$1");
  const whole = STATUS.test(text) ? text : `success() && (${text})`;
  return !falsy(evaluate(whole, contexts, functions));
};

/**
 * Returns the shell's command: `bash -e` by default, and also pipefail for `bash`:
 * `${PAGES.syntax}#jobsjob_idstepsshell`.
 */
export const shellCommand = (shell: string | undefined, file: string): string[] => {
  if (shell === undefined) return ["bash", "-e", file];
  if (shell === "bash") return ["bash", "--noprofile", "--norc", "-eo", "pipefail", file];
  if (shell === "sh") return ["sh", "-e", file];
  if (shell === "python") return ["python3", file];
  return shell.split(" ").map((word) => (word === "{0}" ? file : word));
};

/** Parses lines `NAME=value` and `NAME<<END`: `${PAGES.commands}#environment-files`. */
export const readFileCommands = (text: string): Texts => {
  const read: Texts = {};
  const lines = text.split("\n");
  for (let index = 0; index < lines.length; index++) {
    const [, name, end] = /^([^=]+?)<<(.+)$/.exec(lines[index]!) ?? [];
    if (name !== undefined) {
      const last = lines.indexOf(end!, index + 1);
      read[name] = lines.slice(index + 1, last).join("\n");
      index = last;
    } else if (lines[index]!.includes("=")) read[lines[index]!.split("=")[0]!] = lines[index]!.replace(/^[^=]*=/, "");
  }
  return read;
};
