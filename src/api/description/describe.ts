import type * as z from "zod/mini";
import { PROBLEMS } from "../../protocol/problem.ts";
import { methodsOf, type Route } from "../routes.ts";
import { attachExamples } from "./attach-examples.ts";
import type { Example } from "./example.ts";
import { REQUEST_HEADERS, RESPONSE_HEADERS } from "./headers.ts";
import { INFO, SECURITY_SCHEMES } from "./introduction.ts";
import type { Description, Operation, Response } from "./openapi.ts";
import { type Described, described, operationOf } from "./operation.ts";
import { OPERATIONS, TAGS } from "./operations.ts";
import { reach } from "./references.ts";
import { nameOf, type Schemas, wireSchemas } from "./schemas.ts";
import { putWords } from "./words/apply.ts";

const describeRoute = (route: Route): Described => {
  const words = OPERATIONS[`${route.method} ${route.path}`];
  if (!words) throw new Error(`src/api/description/operations.ts has no entry for ${route.method} ${route.path}`);
  return described(route, words);
};

/** The operation under a method of its: PATCH is the second name of PUT. */
const called = (operation: Operation, method: string): Operation => {
  if (method !== "PATCH") return operation;
  const operationId = operation.operationId.replace(/^update/, "patch");
  return { ...operation, operationId, summary: `${operation.summary} (a second name of PUT)` };
};

type Unnamed = [string, z.ZodMiniType];
const unnamed = (name: string | undefined, schema: z.ZodMiniType | undefined): Unnamed[] =>
  name && schema && !nameOf(schema) ? [[name, schema]] : [];

/** An update's body may carry the service's own fields, as long as they are what was read. */
const withOwnFields = (schemas: Schemas, { route, body, answer }: Described): void => {
  const update = route.method === "PUT" ? schemas[body ?? ""] : undefined;
  const record = schemas[answer ?? ""]?.properties ?? {};
  for (const [name, property] of Object.entries(update?.properties ?? {})) {
    if (Object.keys(property).length === 0) Object.assign(property, record[name], { readOnly: true });
  }
};

/** Problems' types are a closed list. */
const withProblemTypes = ({ Problem }: Schemas): void => {
  Object.assign(Problem?.properties?.type ?? {}, { enum: Object.keys(PROBLEMS).map((kind) => `/problems/${kind}`) });
};

const only = <T>(kind: string, components: Record<string, T>, used: Set<string>): Record<string, T> =>
  Object.fromEntries(Object.entries(components).filter(([name]) => used.has(`#/components/${kind}/${name}`)));

/** The OpenAPI document of these routes: made of the schemas that check requests, with examples that are replayed. */
export const describe = (routes: Route[], examples: Example[]): Description => {
  const all = routes.map(describeRoute);
  const wire = wireSchemas(
    all.flatMap(({ route: { verb }, body, query }) => [...unnamed(body, verb.body), ...unnamed(query, verb.query)]),
    all.flatMap(({ route: { verb }, answer }) => unnamed(answer, verb.output)),
    ["Problem", ...all.flatMap(({ answer }) => answer ?? [])],
  );
  for (const one of all) withOwnFields(wire.schemas, one);
  withProblemTypes(wire.schemas);
  putWords(wire.schemas);
  const responses: Record<string, Response> = {};
  const paths: Description["paths"] = {};
  for (const one of all) {
    const path = one.route.path.replace(/:(\w+)/g, "{$1}");
    const operation = operationOf(one, wire, responses);
    const named = methodsOf(one.route).map((method) => [method.toLowerCase(), called(operation, method)]);
    paths[path] = { ...paths[path], ...Object.fromEntries(named) };
  }
  attachExamples(paths, responses, examples);
  const components = { parameters: REQUEST_HEADERS, headers: RESPONSE_HEADERS, responses, schemas: wire.schemas };
  const used = reach(paths, (reference) => {
    const [, , kind = "", name = ""] = reference.split("/");
    return components[kind as keyof typeof components]?.[name];
  });
  return {
    ...{ openapi: "3.1.0", info: INFO, servers: [{ url: "/", description: "This deployment" }] },
    tags: Object.entries(TAGS)
      .filter(([name]) => all.some(({ words }) => words.tag === name))
      .map(([name, description]) => ({ name, description })),
    ...{ security: [{ apiToken: [] }], paths },
    components: {
      securitySchemes: SECURITY_SCHEMES,
      parameters: only("parameters", components.parameters, used),
      headers: only("headers", components.headers, used),
      responses: only("responses", components.responses, used),
      schemas: only("schemas", components.schemas, used),
    },
  };
};
