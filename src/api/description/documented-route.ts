import type { Route } from "../route.ts";
import { documentationOf, type TaggedDocumentation } from "./operations.ts";
import { nameOf } from "./schemas.ts";

/** A route with its documentation, and the names of its schemas in the document. */
export interface DocumentedRoute extends Route {
  documentation: TaggedDocumentation;
  querySchema?: string;
  bodySchema?: string;
  answerSchema?: string;
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Schemas of the protocol keep their names; others are named after the operation, an update's body after its record. */
export const documented = (route: Route): DocumentedRoute => {
  const { id, method } = route;
  const { query, body, output } = route.verb;
  const record = nameOf(output);
  const isUpdate = method === "PUT" && record !== undefined;
  return {
    ...route,
    documentation: documentationOf(id),
    querySchema: query && (nameOf(query) ?? `${capital(id)}Query`),
    bodySchema: body && (nameOf(body) ?? (isUpdate ? `${record}Update` : `${capital(id)}Body`)),
    answerSchema: output && (record ?? `${capital(id)}Answer`),
  };
};
