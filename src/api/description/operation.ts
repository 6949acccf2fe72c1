import type * as z from "zod/mini";
import type { Access } from "../../services/core/access.ts";
import type { Route } from "../routes/route.ts";
import type { DocumentedRoute } from "./documented-route.ts";
import { requestHeaders } from "./headers.ts";
import type { Operation, Parameter, Response } from "./openapi.ts";
import { problemResponses, problemsOf, successResponses } from "./responses.ts";
import { type JsonSchema, nameOf, referenceTo, type WireSchemas } from "./schemas.ts";
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
export const operationOf = (route: DocumentedRoute, wire: WireSchemas, shared: Record<string, Response>): Operation => {
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
    parameters: [...pathParameters(route), ...queryParameters(query, id), ...requestHeaders(route)],
    requestBody: requestBody(route, wire),
    responses: {
      ...successResponses(route, answer, query.properties?.cursor !== undefined),
      ...problemResponses(problemsOf(route), shared),
    },
  };
};
