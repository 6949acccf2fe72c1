import { data, wellKnownFunctions } from "@actions/expressions";
import type { FunctionDefinition } from "@actions/expressions/funcs/info";
import { KIB } from "../../protocol/units.ts";
import { ExpressionMistake } from "../mistake.ts";
import { changedFunction } from "./changed.ts";
import { type Data, isSecretData, textData, toData } from "./data.ts";

/** The most characters in the result of one function. */
export const RESULT_LIMIT = 256 * KIB;

/** The most levels of arrays and objects in a value. */
const DEPTH_LIMIT = 64;

/** The most characters in the results of all functions of one expression. */
export const WORK_LIMIT = 16 * RESULT_LIMIT;

/** A result that cannot exceed the limit. Without it, 299 characters of format() could produce 100 MB. */
class BoundedText {
  readonly #parts: string[] = [];
  #length = 0;
  isSecret = false;

  add(part: string): void {
    this.#length += part.length;
    if (this.#length > RESULT_LIMIT) throw new ExpressionMistake("The result is too large");
    this.#parts.push(part);
  }
  addData(value: Data): void {
    this.isSecret ||= isSecretData(value);
    this.add(value.coerceString());
  }
  toData(): Data {
    return textData(this.#parts.join(""), this.isSecret);
  }
}

const format = (pattern: Data, ...values: Data[]): Data => {
  const result = new BoundedText();
  result.isSecret = isSecretData(pattern);
  for (const [piece, literal, index] of pattern.coerceString().matchAll(/(\{\{|\}\}|[^{}]+)|\{([0-9]+)[^}]*\}|[{}]/g)) {
    if (literal !== undefined) result.add(literal === "{{" || literal === "}}" ? literal.slice(1) : literal);
    else if (index === undefined || piece.includes("{", 1))
      throw new ExpressionMistake("In the pattern of format() write {{ or }} for a brace, and {0} for a value");
    else {
      const value = values[Number(index)];
      if (value === undefined) throw new ExpressionMistake("The pattern of format() uses a value that is not passed");
      result.addData(value);
    }
  }
  return result.toData();
};

const join = (list: Data, separator?: Data): Data => {
  if (list.primitive) return list.kind === data.Kind.String ? list : textData(list.coerceString(), isSecretData(list));
  if (list.kind !== data.Kind.Array) return textData("");
  const result = new BoundedText();
  for (const [index, one] of (list as data.Array).values().entries()) {
    if (index > 0) {
      if (separator?.primitive) result.addData(separator);
      else result.add(",");
    }
    result.addData(one);
  }
  return result.toData();
};

const toJson = (value: Data): Data => {
  const result = new BoundedText();
  const write = (one: Data, indent: string): void => {
    if (one.kind === data.Kind.Array || one.kind === data.Kind.Dictionary) {
      const isArray = one.kind === data.Kind.Array;
      const pairs = isArray
        ? (one as data.Array).values().map((item) => ({ key: null, value: item }))
        : (one as data.Dictionary).pairs();
      const inner = `${indent}  `;
      result.add(isArray ? "[" : "{");
      for (const [index, pair] of pairs.entries()) {
        result.add(`${index > 0 ? "," : ""}\n${inner}`);
        if (pair.key !== null) result.add(`${JSON.stringify(pair.key)}: `);
        write(pair.value, inner);
      }
      result.add(`${pairs.length > 0 ? `\n${indent}` : ""}${isArray ? "]" : "}"}`);
      return;
    }
    result.isSecret ||= isSecretData(one);
    if (one.kind === data.Kind.Null) result.add("null");
    else if (one.kind === data.Kind.String) result.add(JSON.stringify(one.coerceString()));
    else result.add(JSON.stringify((one as data.NumberData | data.BooleanData).value));
  };
  write(value, "");
  return result.toData();
};

const depth = (value: unknown, limit: number): number => {
  if (typeof value !== "object" || value === null) return 0;
  if (limit === 0) return 1;
  return 1 + Math.max(0, ...new Set(Object.values(value).map((one) => depth(one, limit - 1))));
};

const fromJson = (value: Data): Data => {
  const source = value.coerceString();
  if (source.length > RESULT_LIMIT) throw new ExpressionMistake("The text for fromJSON() is too large");
  let parsed: unknown;
  try {
    parsed = JSON.parse(source);
  } catch {
    throw new ExpressionMistake("The text passed to fromJSON() is not JSON");
  }
  if (depth(parsed, DEPTH_LIMIT) > DEPTH_LIMIT) throw new ExpressionMistake("The JSON is nested too deeply");
  return toData(parsed, isSecretData(value));
};

const chooseCase = (...args: Data[]): Data => {
  for (let index = 0; index < args.length - 1; index += 2) {
    const condition = args[index]!;
    if (condition.kind !== data.Kind.Boolean)
      throw new ExpressionMistake("The conditions of case() must be true or false");
    if ((condition as data.BooleanData).value) return args[index + 1]!;
  }
  return args.at(-1)!;
};

/** The status of a job. It is success until a step fails, and cancelled after a cancel. */
export type JobContextStatus = "success" | "failure" | "cancelled";

const CALLS = {
  format,
  join,
  tojson: toJson,
  fromjson: fromJson,
  case: chooseCase,
  contains: wellKnownFunctions.contains!.call,
  startswith: wellKnownFunctions.startswith!.call,
  endswith: wellKnownFunctions.endswith!.call,
};

const definitions = (status: JobContextStatus): Map<string, FunctionDefinition> => {
  const calls = {
    ...CALLS,
    success: () => new data.BooleanData(status === "success"),
    failure: () => new data.BooleanData(status === "failure"),
    cancelled: () => new data.BooleanData(status === "cancelled"),
    always: () => new data.BooleanData(true),
  };
  const asCall = (call: (...args: never[]) => Data) => call as (...args: Data[]) => Data;
  return new Map(
    Object.entries(calls).map(([name, call]) => [name, { name, minArgs: 0, maxArgs: 255, call: asCall(call) }]),
  );
};

const BY_STATUS: Record<JobContextStatus, Map<string, FunctionDefinition>> = {
  success: definitions("success"),
  failure: definitions("failure"),
  cancelled: definitions("cancelled"),
};

/** The functions by their names in lower case. `changedFiles` is null if the changes are unknown. */
export const functionsFor = (
  status: JobContextStatus,
  changedFiles: readonly string[] | null,
): Map<string, FunctionDefinition> => new Map([...BY_STATUS[status], ["changed", changedFunction(changedFiles)]]);
