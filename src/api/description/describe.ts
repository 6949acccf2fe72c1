import type * as z from "zod/mini";
import { byteSize, DEFAULTS, LIMITS } from "../../protocol/limits.ts";
import { PROBLEMS } from "../../protocol/problem.ts";
import { VERSION } from "../../protocol/version.ts";
import type { Access } from "../../services/core/access.ts";
import { methodsOf, type Route } from "../route.ts";
import { attachExamples, type Example } from "./examples.ts";
import { type DocumentedRoute, documented, TAGS } from "./operations.ts";
import {
  headerReferences,
  listProblems,
  problemResponses,
  REQUEST_HEADERS,
  RESPONSE_HEADERS,
  successResponses,
} from "./responses.ts";
import {
  type ApiDescription,
  findSchemaName,
  type JsonSchema,
  type Operation,
  type Parameter,
  type Response,
  reach,
  referenceTo,
  type Schemas,
  type WireSchemas,
  wireSchemas,
} from "./schemas.ts";
import { putWords } from "./words/apply.ts";
import { PARAMETERS, SUBJECTS } from "./words/parameters.ts";

const INFO = {
  title: "Millrace",
  version: VERSION,
  summary: "Runs the builds of your repositories on your own agents, and manages their variables and secrets.",
  description: `Millrace runs builds on build agents. It stores the environment variables and secrets that builds need, and the repositories and pipelines that they belong to.

**Tokens.** Send \`Authorization: Bearer <token>\` with every request. A token belongs to one organization and has a role. A viewer reads; a member also triggers, cancels and retries builds; a maintainer also changes variables, groups, repositories, pipelines and agents; an admin also manages tokens and reads the audit log.

**Lists** are plain arrays, in pages of ${DEFAULTS.pageLength} records or as many as \`limit\` says. The \`Link\` header has the URL of the next page. Pages of builds and of the audit log have ${DEFAULTS.newestPageLength} records, newest first. The list of agents is complete unless you set \`limit\`.

**Changes.** PUT changes the fields that you send and leaves the others unchanged; PATCH does the same. \`null\` clears a field that may be empty. If you send the ETag that you read as \`If-Match\`, the service rejects the request when the record has changed since. The service rejects unknown fields, and suggests a known field with a similar name.

**Problems** are \`application/problem+json\` (RFC 9457). \`type\` is the address of a page that explains the problem and its remedy. No answer repeats values from the request.

**Retries.** You can send every request again. If a request that creates a build has an \`Idempotency-Key\`, its repeats return the same build.

**Limits.** The \`RateLimit-Policy\` header says how many requests per minute a token and its organization may send. A body may have ${byteSize(LIMITS.bodyBytes)}, a log chunk ${byteSize(LIMITS.logChunkBytes)}, and a variable's value ${byteSize(LIMITS.valueBytes)}.

**Versions.** New releases add routes, fields and filters, but never change or remove them: ignore unknown fields. An enum marked \`x-extensible-enum\` may get new values in answers: treat an unknown value as "other". If a breaking change is ever needed, a client opts in with the header \`Millrace-Version: DATE\`; the old behavior stays for six months, with a \`Sunset\` header.

**Codes.** An agent's \`platform\` is 0 other, 1 macOS, 2 Linux, 3 Windows; its \`status\` is 0 offline, 1 idle, 2 busy, 3 draining.`,
  contact: { name: "The operator of this deployment" },
  license: { name: "All rights reserved", identifier: "LicenseRef-Millrace" },
};

const bearer = (prefix: string, description: string) => ({
  type: "http",
  scheme: "bearer",
  bearerFormat: `${prefix}_...`,
  description,
});

const SECURITY_SCHEMES = {
  apiToken: bearer("mrt", "A person's or program's token, with a role in one organization."),
  registrationToken: bearer("mrr", "A token that can only register agents."),
  agentToken: bearer("mra", "An agent's own token, from its registration."),
  operatorToken: bearer("mro", "The operator's token: the Worker secret OPERATOR_TOKEN."),
};

const toSecurity = ({ role, operator, registration, agent }: Access): Operation["security"] => [
  ...(role ? [{ apiToken: [] }] : []),
  ...(registration ? [{ registrationToken: [] }] : []),
  ...(agent ? [{ agentToken: [] }] : []),
  ...(operator ? [{ operatorToken: [] }] : []),
];

const pathParameters = ({ path, verb }: Route): Parameter[] =>
  Object.entries((verb.params as z.ZodMiniObject | undefined)?.shape ?? {}).map(([name, schema]) => ({
    name,
    in: "path",
    required: true,
    description: SUBJECTS[name] ?? SUBJECTS[path.split("/:")[0] ?? ""],
    schema: referenceTo(findSchemaName(schema) ?? ""),
  }));

const queryParameters = ({ properties = {}, required }: JsonSchema, operation: string): Parameter[] =>
  Object.entries(properties).map(([name, { description: _, ...schema }]) => ({
    name,
    in: "query",
    required: required?.includes(name) || undefined,
    description: PARAMETERS[`${operation} ${name}`] ?? PARAMETERS[name],
    schema: schema as JsonSchema,
  }));

const requestBody = (
  { documentation, bodySchema, verb }: DocumentedRoute,
  wire: WireSchemas,
): Operation["requestBody"] => {
  if (documentation.bytes) return { required: true, content: { "application/octet-stream": { schema: {} } } };
  if (bodySchema === undefined) return undefined;
  const schema = referenceTo(wire.sentName(bodySchema));
  return { required: !verb.mayLackBody, content: { "application/json": { schema } } };
};

/** Describes an operation. Adds to `shared` the problem responses that this operation has in common with others. */
const describeOperation = (route: DocumentedRoute, wire: WireSchemas, shared: Record<string, Response>): Operation => {
  const { id, documentation, verb, querySchema = "", answerSchema = "" } = route;
  const { tag, summary, description } = documentation;
  const query = wire.schemas[querySchema] ?? {};
  const answer = findSchemaName(verb.output) ? referenceTo(answerSchema) : wire.schemas[answerSchema];
  const role = verb.access.role && `Requires the role **${verb.access.role}** or higher.`;
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: [description, role].filter(Boolean).join("\n\n") || undefined,
    security: toSecurity(verb.access),
    parameters: [...pathParameters(route), ...queryParameters(query, id), ...headerReferences(route)],
    requestBody: requestBody(route, wire),
    responses: {
      ...successResponses(route, answer, query.properties?.cursor !== undefined),
      ...problemResponses(listProblems(route), shared),
    },
  };
};

type NamedSchema = [name: string, schema: z.ZodMiniType];

/** Returns a schema that has a name only in the document. */
const unnamed = (name: string | undefined, schema: z.ZodMiniType | undefined): NamedSchema[] =>
  name && schema && !findSchemaName(schema) ? [[name, schema]] : [];

/** Makes the service's own fields in an update's body read-only, and gives them the record's schemas. */
const addReadOnlyFields = (schemas: Schemas, { method, bodySchema = "", answerSchema = "" }: DocumentedRoute): void => {
  const update = method === "PUT" ? schemas[bodySchema] : undefined;
  const record = schemas[answerSchema]?.properties ?? {};
  for (const [name, property] of Object.entries(update?.properties ?? {})) {
    if (Object.keys(property).length === 0) Object.assign(property, record[name], { readOnly: true });
  }
};

const addProblemTypes = ({ Problem }: Schemas): void => {
  Object.assign(Problem?.properties?.type ?? {}, { enum: Object.keys(PROBLEMS).map((kind) => `/problems/${kind}`) });
};

/** Returns the schemas of these routes and of the protocol, with their descriptions. */
const describeSchemas = (routes: DocumentedRoute[]): WireSchemas => {
  const sentSchemas = routes.flatMap(({ verb, bodySchema, querySchema }) => [
    ...unnamed(bodySchema, verb.body),
    ...unnamed(querySchema, verb.query),
  ]);
  const answeredSchemas = routes.flatMap(({ verb, answerSchema }) => unnamed(answerSchema, verb.output));
  const answers = ["Problem", ...routes.flatMap(({ answerSchema }) => answerSchema ?? [])];
  const wire = wireSchemas(sentSchemas, answeredSchemas, answers);
  for (const route of routes) addReadOnlyFields(wire.schemas, route);
  addProblemTypes(wire.schemas);
  putWords(wire.schemas);
  return wire;
};

/**
 * Returns the operation for one of the route's methods. PATCH is the second name of PUT and has its own operation id.
 */
const under = (method: string, operation: Operation): Operation => {
  if (method !== "PATCH") return operation;
  const operationId = operation.operationId.replace(/^update/, "patch");
  return { ...operation, operationId, summary: `${operation.summary} (same as PUT)` };
};

const describePaths = (
  routes: DocumentedRoute[],
  wire: WireSchemas,
  responses: Record<string, Response>,
): ApiDescription["paths"] => {
  const paths: ApiDescription["paths"] = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, "{$1}");
    const operation = describeOperation(route, wire, responses);
    const methods = methodsOf(route).map((method) => [method.toLowerCase(), under(method, operation)]);
    paths[path] = { ...paths[path], ...Object.fromEntries(methods) };
  }
  return paths;
};

type Components = Pick<ApiDescription["components"], "parameters" | "headers" | "responses" | "schemas">;

/** Returns the components that the paths refer to, directly or through others. */
const usedComponents = (paths: ApiDescription["paths"], components: Components): Components => {
  const used = reach(paths, (reference) => {
    const [, , kind = "", name = ""] = reference.split("/");
    return components[kind as keyof Components]?.[name];
  });
  const only = <T>(kind: keyof Components, all: Record<string, T>): Record<string, T> =>
    Object.fromEntries(Object.entries(all).filter(([name]) => used.has(`#/components/${kind}/${name}`)));
  return {
    parameters: only("parameters", components.parameters),
    headers: only("headers", components.headers),
    responses: only("responses", components.responses),
    schemas: only("schemas", components.schemas),
  };
};

/** Creates these routes' OpenAPI document from the schemas that check requests, with recorded examples. */
export const describeApi = (routes: Route[], examples: Example[]): ApiDescription => {
  const described = routes.map(documented);
  const wire = describeSchemas(described);
  const responses: Record<string, Response> = {};
  const paths = describePaths(described, wire, responses);
  attachExamples(paths, responses, examples);
  const tags = new Set(described.map(({ documentation }) => documentation.tag));
  return {
    openapi: "3.1.0",
    info: INFO,
    servers: [{ url: "/", description: "This deployment" }],
    tags: TAGS.filter(({ name }) => tags.has(name)),
    security: [{ apiToken: [] }],
    paths,
    components: {
      securitySchemes: SECURITY_SCHEMES,
      ...usedComponents(paths, {
        parameters: REQUEST_HEADERS,
        headers: RESPONSE_HEADERS,
        responses,
        schemas: wire.schemas,
      }),
    },
  };
};
