import { createRequire } from "node:module";
import { Ajv, type ValidateFunction } from "ajv";
import addFormats from "ajv-formats";
import type { HostKind } from "../../../src/protocol/connection.ts";

const require = createRequire(import.meta.url);

// biome-ignore lint/suspicious/noExplicitAny: a description of an API in JSON
type Json = any;

/** GitHub's own description; for the others one that was written from their documentation. */
const DESCRIPTIONS: Record<HostKind, () => Json> = {
  github: () => require("@octokit/openapi/generated/api.github.com.json"),
  gitlab: () => require("../host-schemas/gitlab.json"),
  gitea: () => require("../host-schemas/gitea.json"),
};
/** Where GitHub's redirects of renamed repositories lead, and all that is below: not in its description. */
const BY_NUMBER = /^\/repositories\/[0-9]+/;

/** One request to the API of a host, below the address of the API. */
interface SentRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  body: unknown;
}

/** Lists what is wrong with a request, by the description of the host's API. */
export type RequestChecker = (request: SentRequest) => string[];

/** Puts what references name in their places, and closes every object: a field that is not described is a mistake. */
const resolved = (description: Json, schema: Json): Json => {
  if (Array.isArray(schema)) return schema.map((inner) => resolved(description, inner));
  if (typeof schema !== "object" || schema === null) return schema;
  if (typeof schema.$ref === "string") return resolved(description, at(description, schema.$ref));
  const entries = Object.entries(schema).filter(([name]) => !["example", "examples", "description"].includes(name));
  const whole = Object.fromEntries(
    entries.map(([name, inner]) => [name, (name === "properties" ? fields : resolved)(description, inner)]),
  );
  return whole.properties && whole.type === "object" ? { additionalProperties: false, ...whole } : whole;
};

/** Here the names are those of fields: one may be called as a keyword is. */
const fields = (description: Json, properties: Json): Json =>
  Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, resolved(description, inner)]));

const at = (description: Json, reference: string): Json =>
  reference
    .slice(2)
    .split("/")
    .reduce((inner, name) => inner[name.replaceAll("~1", "/").replaceAll("~0", "~")], description);

const patternOf = (template: string): RegExp =>
  new RegExp(`^${template.replace(/[.+]/g, "\\$&").replace(/\{[^}]+\}/g, "([^/]+)")}$`);

/** Makes the checker of one kind of host. */
export const requestChecker = (kind: HostKind): RequestChecker => {
  const description = DESCRIPTIONS[kind]();
  const ajv = new Ajv({ strict: false, allErrors: true, coerceTypes: false });
  addFormats.default(ajv);
  const known = new Map<Json, ValidateFunction>();
  const paths = Object.keys(description.paths).map((template) => ({ template, pattern: patternOf(template) }));
  const errorsOf = (schema: Json, value: unknown, place: string): string[] => {
    const validate = known.get(schema) ?? ajv.compile(resolved(description, schema));
    known.set(schema, validate);
    validate(value);
    return (validate.errors ?? []).map(({ instancePath, message }) => `${place}${instancePath} ${message}`);
  };
  const parameterProblems = (parameters: Json[], place: string, given: Map<string, string>): string[] => {
    const wanted = parameters.filter((one) => one.in === place);
    const unknown = [...given.keys()].filter((name) => !wanted.some((one) => one.name === name));
    const missing = wanted.filter((one) => one.required && !given.has(one.name));
    const wrong = wanted.flatMap(({ name, schema }) => {
      const text = given.get(name);
      if (text === undefined) return [];
      const isNumber = resolved(description, schema).type === "integer" && /^\d+$/.test(text);
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
    const parameters = [...shared, ...(operation.parameters ?? [])].map((one) => resolved(description, one));
    const names = [...found.template.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name ?? "");
    const values = found.pattern.exec(path)?.slice(1).map(decodeURIComponent) ?? [];
    const inPath = new Map(names.map((name, index) => [name, values[index] ?? ""]));
    const schema = operation.requestBody?.content?.["application/json"]?.schema;
    const inBody = schema && (body !== undefined || operation.requestBody.required);
    return [
      ...parameterProblems(parameters, "path", inPath),
      ...parameterProblems(parameters, "query", new Map(query)),
      ...(inBody ? errorsOf(schema, body, "body") : []),
      ...(!schema && body !== undefined ? ["a body is not described"] : []),
    ];
  };
};
