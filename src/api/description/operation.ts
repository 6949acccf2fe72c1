import type { Access } from "../../services/core/access.ts";
import type { Route } from "../routes.ts";
import { requestHeaders } from "./headers.ts";
import type { Operation, Parameter, Response } from "./openapi.ts";
import type { Operation as Words } from "./operations.ts";
import { problemsOf, refusalsOf, successesOf } from "./responses.ts";
import { type JsonSchema, nameOf, referenceTo, type WireSchemas } from "./schemas.ts";
import { PARAMETERS, SUBJECTS } from "./words/parameters.ts";

/** A route with its words and the names its schemas go by in the document. */
export interface Described {
  route: Route;
  words: Words;
  query?: string;
  body?: string;
  answer?: string;
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Schemas of the wire have names; the others are called after the operation, an update's body after its record. */
export const described = (route: Route, words: Words): Described => {
  const { query, body, output } = route.verb;
  const name = capital(words.id);
  const record = nameOf(output);
  const isUpdate = route.method === "PUT" && record !== undefined;
  return {
    ...{ route, words },
    query: query && (nameOf(query) ?? `${name}Query`),
    body: body && (nameOf(body) ?? (isUpdate ? `${record}Update` : `${name}Body`)),
    answer: output && (record ?? `${name}Answer`),
  };
};

const securityOf = ({ role, operator, registration, agent }: Access): Operation["security"] => [
  ...(role ? [{ apiToken: [] }] : []),
  ...(registration ? [{ registrationToken: [] }] : []),
  ...(agent ? [{ agentToken: [] }] : []),
  ...(operator ? [{ operatorToken: [] }] : []),
];

const pathParameters = (path: string): Parameter[] =>
  [...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => {
    const schema = referenceTo(path.startsWith("/organization") ? "OrgId" : "Id");
    return { name, in: "path", required: true, description: SUBJECTS[path.split("/:")[0] ?? ""], schema };
  });

const queryParameters = ({ properties = {}, required }: JsonSchema, operation: string): Parameter[] =>
  Object.entries(properties).map(([name, { description: _, ...schema }]) => ({
    ...{ name, in: "query" as const, required: required?.includes(name) || undefined },
    ...{ description: PARAMETERS[`${operation} ${name}`] ?? PARAMETERS[name], schema: schema as JsonSchema },
  }));

const requestBody = ({ words, body }: Described, wire: WireSchemas): Operation["requestBody"] => {
  if (words.bytes) return { required: true, content: { "application/octet-stream": { schema: {} } } };
  if (body === undefined) return undefined;
  const schema = referenceTo(wire.sentName(body));
  return { required: true, content: { "application/json": { schema } } };
};

/** One operation; the refusals it shares with others are added to `shared`. */
export const operationOf = (one: Described, wire: WireSchemas, shared: Record<string, Response>): Operation => {
  const { route, words } = one;
  const query = wire.schemas[one.query ?? ""] ?? {};
  const answer = one.answer === undefined ? undefined : wire.schemas[one.answer];
  const answerSchema = answer && (nameOf(route.verb.output) ? referenceTo(one.answer ?? "") : answer);
  const role = route.verb.access.role && `Needs the role **${route.verb.access.role}** or more.`;
  return {
    ...{ operationId: words.id, tags: [words.tag], summary: words.summary },
    description: [words.description, role].filter(Boolean).join("\n\n") || undefined,
    security: securityOf(route.verb.access),
    parameters: [...pathParameters(route.path), ...queryParameters(query, words.id), ...requestHeaders(route, words)],
    requestBody: requestBody(one, wire),
    responses: {
      ...successesOf(route, words, answerSchema, query.properties?.cursor !== undefined),
      ...refusalsOf(problemsOf(route, words), shared),
    },
  };
};
