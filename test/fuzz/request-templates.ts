import * as fc from "fast-check";
import type { ApiDescription, Media, Operation, Parameter } from "../../src/api/description/schemas.ts";
import { anyValue, LEASE, OWN_ORG, SOME_ID, type Values } from "./values.ts";

export type Sender = "apiToken" | "registrationToken" | "agentToken" | "operatorToken" | "anonymous";

/** A request with placeholders for what is known only when it is sent. */
export interface RequestTemplate {
  operation: string;
  method: string;
  path: string;
  sender: Sender;
  id: string;
  query: Record<string, unknown>;
  headers: Record<string, string>;
  /** JSON, or any text. */
  body: { json: unknown } | { raw: string } | null;
  type: string;
}

const SENDERS: Sender[] = ["apiToken", "registrationToken", "agentToken", "operatorToken", "anonymous"];

/** `usual` that many times as often as `unusual`. */
const mostly = <T>(times: number, usual: fc.Arbitrary<T>, unusual: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.oneof({ weight: times, arbitrary: usual }, { weight: 1, arbitrary: unusual });

const parametersOf = ({ parameters = [] }: Operation, { components }: ApiDescription): Parameter[] =>
  parameters.map((one) => ("$ref" in one ? components.parameters[one.$ref.split("/").at(-1) ?? ""]! : one));

const HEADERS: Record<string, string[]> = {
  "X-Lease": [LEASE, LEASE, LEASE, "1", "x"],
  "If-Match": ['"v1"', '"v2"', "*", "x"],
  "If-None-Match": ['"v1"', "*"],
  "Idempotency-Key": ["a", "b", "c", "a b"],
  "Millrace-Bookmark": ["0-0-0-0", "0-0-0-0", "first-primary", "x"],
  Range: ["bytes=0-3", "bytes=-5", "bytes=9-", "x"],
  "If-Range": ['"v1"', "x"],
  "Last-Event-ID": ["0", "x"],
  "X-Boot-Id": ["boot-1"],
};

const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The bodies of the description's examples, with placeholders for ids and the organization. */
const exampleBodies = ({ examples = {} }: Media): fc.Arbitrary<RequestTemplate["body"]>[] =>
  Object.values(examples).map(({ value }) => {
    const text = JSON.stringify(value, (_, inner) => (ID.test(inner) ? SOME_ID : inner === "acme" ? OWN_ORG : inner));
    return fc.constant({ json: JSON.parse(text) });
  });

const bodyOf = (operation: Operation, values: Values): fc.Arbitrary<RequestTemplate["body"]> => {
  const [type, media] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  if (!type || !media) return mostly(30, fc.constant(null), fc.constant({ raw: "x" }));
  const raw = fc.oneof(fc.string({ maxLength: 200 }), fc.constantFrom("", "{", "null", '{"__proto__":1}', "[]"));
  if (type !== "application/json") return raw.map((text) => ({ raw: text }));
  const fitting = values.of(media.schema).map((json) => ({ json }));
  const extended = fc
    .tuple(values.of(media.schema), fc.string({ maxLength: 12 }), anyValue)
    .map(([json, name, value]) => ({ json: { ...(json as object), [name]: value } }));
  return fc.oneof(
    { weight: 20, arbitrary: fitting },
    ...exampleBodies(media).map((arbitrary) => ({ weight: 4, arbitrary })),
    { weight: 1, arbitrary: extended },
    { weight: 1, arbitrary: anyValue.map((json) => ({ json })) },
    { weight: 1, arbitrary: raw.map((text) => ({ raw: text })) },
  );
};

const templateOf = (
  description: ApiDescription,
  values: Values,
  path: string,
  method: string,
  operation: Operation,
): fc.Arbitrary<RequestTemplate> => {
  const parameters = parametersOf(operation, description);
  const inQuery = parameters.filter((one) => one.in === "query");
  const inHeader = parameters.filter((one) => one.in === "header");
  // A sequence that deleted its own organization would have all other requests refused.
  const isOfOwn = path.startsWith("/organization") && operation.operationId !== "deleteOrganization";
  const [right = "apiToken"] = operation.security.flatMap((one) => Object.keys(one) as Sender[]);
  const type = Object.keys(operation.requestBody?.content ?? {})[0] ?? "application/json";
  return fc.record({
    operation: fc.constant(operation.operationId),
    method: fc.constant(method),
    path: fc.constant(path),
    sender: mostly(30, fc.constant(right), fc.constantFrom(...SENDERS)),
    id: fc.oneof(
      { weight: 20, arbitrary: fc.constant(isOfOwn ? OWN_ORG : SOME_ID) },
      { weight: 1, arbitrary: fc.uuid() },
      { weight: 1, arbitrary: fc.constantFrom("x", "%00", "..%2f..", "é", "0".repeat(300)) },
    ),
    query: fc.record(Object.fromEntries(inQuery.map(({ name, schema }) => [name, values.field(name, schema)])), {
      requiredKeys: inQuery.filter(({ required }) => required).map(({ name }) => name),
    }),
    headers: fc.record(
      Object.fromEntries(inHeader.map(({ name }) => [name, fc.constantFrom(...(HEADERS[name] ?? ["x"]))])),
      { requiredKeys: inHeader.filter(({ required }) => required).map(({ name }) => name) },
    ) as fc.Arbitrary<Record<string, string>>,
    body: bodyOf(operation, values),
    type: mostly(60, fc.constant(type), fc.constantFrom("text/plain", "application/json; charset=utf-16", "x")),
  });
};

/** More requests create than delete, so that later ones find something. */
const WEIGHTS: Record<string, number> = { post: 30, put: 14, patch: 6, get: 15, delete: 3 };

/** Requests to every operation. Those of the operator are rare, since each affects all organizations. */
export const requestTemplates = (description: ApiDescription, values: Values): fc.Arbitrary<RequestTemplate> =>
  fc.oneof(
    ...Object.entries(description.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        weight: operation.tags.includes("Operator") ? 1 : (WEIGHTS[method] ?? 10),
        arbitrary: templateOf(description, values, path, method.toUpperCase(), operation),
      })),
    ),
  );
