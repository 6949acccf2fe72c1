import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { ApiDescription, Operation, Response } from "../../src/api/description/schemas.ts";

/** Closes every object schema: a field without a description was forgotten there. */
const closed = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== "object" || schema === null) return schema;
  const entries = Object.entries(schema).map(([name, value]) => [name, name === "examples" ? value : closed(value)]);
  const shut = "properties" in schema && "type" in schema ? { additionalProperties: false } : {};
  return { ...shut, ...Object.fromEntries(entries) };
};

export type AnswerChecker = (operation: string, status: number, headers: Headers, answer: unknown) => string[];

/** Creates a function that lists how an answer differs from the description: status, headers, media type, JSON. */
export const answerChecker = (description: ApiDescription): AnswerChecker => {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema(closed(description) as object, "api");
  const known = new Map<string, ValidateFunction>();
  const operations = new Map<string, { operation: Operation; pointer: string }>();
  for (const [path, methods] of Object.entries(description.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const pointer = `#/paths/${path.replaceAll("~", "~0").replaceAll("/", "~1")}/${method}/responses`;
      operations.set(operation.operationId, { operation, pointer });
    }
  }
  const responseOf = (operationId: string, status: number): [Response, string] | undefined => {
    const { operation, pointer } = operations.get(operationId) ?? {};
    const response = operation?.responses[status];
    if (!response) return undefined;
    if (!("$ref" in response)) return [response, `${pointer}/${status}`];
    return [description.components.responses[response.$ref.split("/").at(-1) ?? ""]!, response.$ref];
  };
  const validate = (pointer: string): ValidateFunction => {
    const found = known.get(pointer) ?? ajv.compile({ $ref: `api${pointer.replace(/[{}]/g, encodeURIComponent)}` });
    known.set(pointer, found);
    return found;
  };
  return (operationId, status, headers, answer) => {
    const [response, pointer] = responseOf(operationId, status) ?? [];
    if (!response || !pointer) return [`status ${status} is not described`];
    const type = headers.get("Content-Type")?.split(";")[0] ?? "";
    const missing = Object.keys(response.headers ?? {})
      .filter((name) => !OPTIONAL_HEADERS.has(name) && !headers.has(name))
      .map((name) => `header ${name} is missing`);
    if (!response.content)
      return answer === undefined ? missing : [...missing, "the description has no body for this answer"];
    if (!response.content[type]) return [...missing, `media type ${type} is not described`];
    if (!/[/+]json$/.test(type)) return missing;
    const { type: problem } = (answer ?? {}) as { type?: string };
    if (status >= 400 && !response.description.includes(`(${problem})`)) missing.push(`${problem} is not described`);
    const check = validate(`${pointer}/content/${type.replaceAll("/", "~1")}/schema`);
    check(answer);
    return [...missing, ...(check.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)];
  };
};

/** Headers that only some answers of an operation have. */
const OPTIONAL_HEADERS = new Set(["Link", "Millrace-Bookmark", "Retry-After"]);
