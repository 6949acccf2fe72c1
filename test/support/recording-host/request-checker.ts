import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import addFormats from "ajv-formats";
import type { HostKind } from "../../../src/protocol/connection.ts";

// biome-ignore lint/suspicious/noExplicitAny: a description of an API in JSON
type Json = any;

/** GitHub redirects renamed repositories to this path and paths below it, which its description omits. */
const BY_NUMBER = /^\/repositories\/[0-9]+/;

/** One request to the API of a host, below the address of the API. */
interface SentRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  body: unknown;
}

/** Lists the problems of a request, by the description of the host's API. */
export type RequestChecker = (request: SentRequest) => string[];

/** Closes an object: an undescribed field is a mistake. */
const closed = (_: string, schema: Json): Json =>
  schema?.type === "object" && schema.properties ? { additionalProperties: false, ...schema } : schema;

/** Returns the used part of GitHub's own description. For the others, one written from their documentation. */
const descriptionOf = (kind: HostKind): Json =>
  JSON.parse(readFileSync(join(import.meta.dirname, `../host-schemas/${kind}.json`), "utf8"), closed);

const patternOf = (template: string): RegExp =>
  new RegExp(`^${template.replace(/[.+]/g, "\\$&").replace(/\{[^}]+\}/g, "([^/]+)")}$`);

/** Creates the checker for one kind of host. */
export const requestChecker = (kind: HostKind): RequestChecker => {
  const description = descriptionOf(kind);
  const ajv = new Ajv({ strict: false, allErrors: true, coerceTypes: false });
  addFormats.default(ajv);
  const paths = Object.keys(description.paths).map((template) => ({ template, pattern: patternOf(template) }));
  const errorsOf = (schema: Json, value: unknown, place: string): string[] => {
    ajv.validate(schema, value);
    return (ajv.errors ?? []).map(({ instancePath, message }) => `${place}${instancePath} ${message}`);
  };
  const parameterProblems = (parameters: Json[], place: string, given: Map<string, string>): string[] => {
    const wanted = parameters.filter((one) => one.in === place);
    const unknown = [...given.keys()].filter((name) => !wanted.some((one) => one.name === name));
    const missing = wanted.filter((one) => one.required && !given.has(one.name));
    const wrong = wanted.flatMap(({ name, schema }) => {
      const text = given.get(name);
      if (text === undefined) return [];
      const isNumber = schema.type === "integer" && /^\d+$/.test(text);
      return errorsOf(schema, isNumber ? Number(text) : text, `${place} ${name}`);
    });
    return [
      ...unknown.map((name) => `${place} ${name} is not described`),
      ...missing.map(({ name }) => `${place} ${name} is missing`),
      ...wrong,
    ];
  };
  return ({ method, path, query, body }) => {
    if (kind === "github" && BY_NUMBER.test(path)) return [];
    const fitting = paths.filter(({ pattern }) => pattern.test(path));
    const found = fitting.find(({ template }) => description.paths[template][method.toLowerCase()]);
    const operation = found && description.paths[found.template][method.toLowerCase()];
    if (!operation) return [`${method} ${path} is not described`];
    const shared = description.paths[found.template].parameters ?? [];
    const parameters = [...shared, ...(operation.parameters ?? [])];
    const names = [...found.template.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name ?? "");
    const values = found.pattern.exec(path)?.slice(1).map(decodeURIComponent) ?? [];
    const inPath = new Map(names.map((name, index) => [name, values[index] ?? ""]));
    const schema = operation.requestBody?.content?.["application/json"]?.schema;
    const inBody = schema && (body !== undefined || operation.requestBody.required);
    return [
      ...parameterProblems(parameters, "path", inPath),
      ...parameterProblems(parameters, "query", new Map(query)),
      ...(inBody ? errorsOf(schema, body, "body") : []),
      ...(!schema && body !== undefined ? ["the description has no body"] : []),
    ];
  };
};
