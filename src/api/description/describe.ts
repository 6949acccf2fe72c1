import type * as z from "zod/mini";
import { PROBLEMS } from "../../protocol/problem.ts";
import type { Access } from "../../services/core/access.ts";
import { methodsOf, type Route } from "../route.ts";
import { type DocumentedRoute, documented } from "./documented-route.ts";
import { attachExamples, type Example } from "./examples.ts";
import { headerReferences, REQUEST_HEADERS, RESPONSE_HEADERS } from "./headers.ts";
import { INFO, SECURITY_SCHEMES } from "./introduction.ts";
import type { ApiDescription, Operation, Parameter, Response } from "./openapi.ts";
import { TAGS } from "./operations.ts";
import { problemResponses, problemsOf, successResponses } from "./responses.ts";
import { type JsonSchema, nameOf, reach, referenceTo, type Schemas, type WireSchemas, wireSchemas } from "./schemas.ts";
import { putWords } from "./words/apply.ts";
import { PARAMETERS, SUBJECTS } from "./words/parameters.ts";

const securityOf = ({ role, operator, registration, agent }: Access): Operation["security"] => [
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
    schema: referenceTo(nameOf(schema) ?? ""),
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

/** One operation. The problem responses that it shares with others are added to `shared`. */
const operationOf = (route: DocumentedRoute, wire: WireSchemas, shared: Record<string, Response>): Operation => {
  const { id, documentation, verb, querySchema = "", answerSchema = "" } = route;
  const { tag, summary, description } = documentation;
  const query = wire.schemas[querySchema] ?? {};
  const answer = nameOf(verb.output) ? referenceTo(answerSchema) : wire.schemas[answerSchema];
  const role = verb.access.role && `Needs the role **${verb.access.role}** or higher.`;
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: [description, role].filter(Boolean).join("\n\n") || undefined,
    security: securityOf(verb.access),
    parameters: [...pathParameters(route), ...queryParameters(query, id), ...headerReferences(route)],
    requestBody: requestBody(route, wire),
    responses: {
      ...successResponses(route, answer, query.properties?.cursor !== undefined),
      ...problemResponses(problemsOf(route), shared),
    },
  };
};

type NamedSchema = [name: string, schema: z.ZodMiniType];

/** A schema that has a name in the document alone. */
const unnamed = (name: string | undefined, schema: z.ZodMiniType | undefined): NamedSchema[] =>
  name && schema && !nameOf(schema) ? [[name, schema]] : [];

/** In the body of an update, the service's own fields have the schemas of the record and are read-only. */
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

/** The schemas of these routes and of the protocol, with their words. */
const schemasOf = (routes: DocumentedRoute[]): WireSchemas => {
  const sent = routes.flatMap(({ verb, bodySchema, querySchema }) => [
    ...unnamed(bodySchema, verb.body),
    ...unnamed(querySchema, verb.query),
  ]);
  const answered = routes.flatMap(({ verb, answerSchema }) => unnamed(answerSchema, verb.output));
  const answers = ["Problem", ...routes.flatMap(({ answerSchema }) => answerSchema ?? [])];
  const wire = wireSchemas(sent, answered, answers);
  for (const route of routes) addReadOnlyFields(wire.schemas, route);
  addProblemTypes(wire.schemas);
  putWords(wire.schemas);
  return wire;
};

/** The operation under one of the route's methods: PATCH is the second name of PUT and has an id of its own. */
const under = (method: string, operation: Operation): Operation => {
  if (method !== "PATCH") return operation;
  const operationId = operation.operationId.replace(/^update/, "patch");
  return { ...operation, operationId, summary: `${operation.summary} (same as PUT)` };
};

const pathsOf = (
  routes: DocumentedRoute[],
  wire: WireSchemas,
  responses: Record<string, Response>,
): ApiDescription["paths"] => {
  const paths: ApiDescription["paths"] = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, "{$1}");
    const operation = operationOf(route, wire, responses);
    const methods = methodsOf(route).map((method) => [method.toLowerCase(), under(method, operation)]);
    paths[path] = { ...paths[path], ...Object.fromEntries(methods) };
  }
  return paths;
};

type Components = Pick<ApiDescription["components"], "parameters" | "headers" | "responses" | "schemas">;

/** The components that the paths refer to, directly or through others. */
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

/** The OpenAPI document of these routes, made from the schemas that check requests, with recorded examples. */
export const describeApi = (routes: Route[], examples: Example[]): ApiDescription => {
  const described = routes.map(documented);
  const wire = schemasOf(described);
  const responses: Record<string, Response> = {};
  const paths = pathsOf(described, wire, responses);
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
