import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { describeApi } from "../../src/api/description/describe.ts";
import { EXAMPLES } from "../../src/api/description/examples.ts";
import type { ApiDescription, JsonSchema, Operation } from "../../src/api/description/schemas.ts";
import { ROUTES } from "../../src/api/routes.ts";
import { ALLOWED, RESPELLED } from "../releases/allowed.ts";
import { breakingChanges } from "../releases/compare.ts";
import { lastReleaseWith } from "../releases/last.ts";

const served = JSON.parse(readFileSync(join(lastReleaseWith("openapi.json"), "openapi.json"), "utf8"));
const text = JSON.stringify(served, (name, value) => {
  if (name === "examples") return undefined;
  return name === "pattern" ? (RESPELLED[value] ?? value) : value;
});
const released = (): ApiDescription => JSON.parse(text);

/** Returns the released description with one change. */
const changed = (change: (description: ApiDescription) => void): ApiDescription => {
  const description = released();
  change(description);
  return description;
};

const schema = ({ components }: ApiDescription, name: string): JsonSchema & { enum?: unknown[] } =>
  components.schemas[name]!;
const field = (description: ApiDescription, name: string, property: string): JsonSchema =>
  schema(description, name).properties![property]!;
const operation = ({ paths }: ApiDescription, path: string, method: string): Operation => paths[path]![method]!;

describe("the API's description", () => {
  const today = JSON.parse(JSON.stringify(describeApi(ROUTES, EXAMPLES))) as ApiDescription;

  it("is compatible with the last release's, except for allowed changes", () => {
    const found = breakingChanges(released(), today);
    expect(found.filter((one) => !ALLOWED.some(({ what }) => what.test(one)))).toEqual([]);
    expect(ALLOWED.filter(({ what }) => !found.some((one) => what.test(one)))).toEqual([]);
  });

  it("has patterns that compile in other languages, with the same meaning", () => {
    const patterns = [...JSON.stringify(today).matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g)].map(
      ([, json = ""]) => JSON.parse(json) as string,
    );
    expect(patterns.length).toBeGreaterThan(10);
    expect(patterns.filter(isOfJavaScript)).toEqual([]);
    expect(Object.keys(RESPELLED).filter(isOfJavaScript)).toEqual(Object.keys(RESPELLED));
    for (const pattern of patterns) expect(new RegExp(pattern, "u").source).toBe(new RegExp(pattern).source);
    for (const [before, after] of Object.entries(RESPELLED)) {
      const [old, portable] = [new RegExp(before, "u"), new RegExp(after)];
      for (let point = 0; point <= 0x10ffff; point++) {
        const one = String.fromCodePoint(point);
        if (old.test(one) !== portable.test(one)) expect.fail(`${after} differs on U+${point.toString(16)}`);
      }
    }
  });
});

/**
 * Reports whether a pattern uses property classes, four-digit escapes, lookbehind or named groups: some languages lack
 * them.
 */
const isOfJavaScript = (pattern: string): boolean => /\\[pPukBb]|\(\?[<=!]/.test(pattern);

/** The comparison must report each change, and only with messages that match. */
const BREAKING: [string, (description: ApiDescription) => unknown, RegExp][] = [
  ["a path is removed", ({ paths }) => delete paths["/secrets/unused"], /^GET \/secrets\/unused: is gone$/],
  ["a method is removed", ({ paths }) => delete paths["/pipeline/{id}"]?.put, /^PUT .*: is gone$/],
  [
    "an operation is renamed",
    (all) => Object.assign(operation(all, "/build", "get"), { operationId: "builds" }),
    /operationId$/,
  ],
  [
    "a kind of token is rejected",
    (all) => Object.assign(operation(all, "/buildagent/{id}", "get"), { security: [{ apiToken: [] }] }),
    /no longer takes agentToken$/,
  ],
  ["a status is removed", (all) => delete operation(all, "/repository", "post").responses[201], /201: is gone$/],
  [
    "a success is added",
    (all) => Object.assign(operation(all, "/repository", "post").responses, { 202: { description: "Later" } }),
    /202: is a new success$/,
  ],
  [
    "a header of an answer is removed",
    (all) =>
      delete (operation(all, "/repository", "post").responses[201] as { headers: object }).headers["Location" as never],
    /header Location is gone$/,
  ],
  ["a filter is removed", (all) => operation(all, "/build", "get").parameters?.splice(0, 1), /query \w+: is gone$/],
  [
    "a filter becomes required",
    (all) => operation(all, "/build", "get").parameters?.push({ name: "x", in: "query", required: true, schema: {} }),
    /query x: is newly required$/,
  ],
  [
    "a field of an answer is removed",
    (all) => delete schema(all, "Repository").properties?.fullName,
    /\.fullName: is gone$/,
  ],
  [
    "a field of an answer becomes optional",
    (all) => schema(all, "Repository").required?.pop(),
    /\.updatedAt: may be missing$/,
  ],
  [
    "a field of an answer becomes nullable",
    (all) => Object.assign(field(all, "Repository", "fullName"), { type: ["string", "null"] }),
    /\.fullName: type null$/,
  ],
  [
    "a field of an answer changes its type",
    (all) => Object.assign(field(all, "Repository", "gitHostRepoId"), { type: "string" }),
    /\.gitHostRepoId: type string$/,
  ],
  [
    "an enum in an answer gets a new value",
    (all) => schema(all, "Role").enum?.push("owner"),
    /\.(role|approval|gate|by): enum$/,
  ],
  [
    "a number in an answer gets a higher maximum",
    (all) => Object.assign(schema(all, "AgentStatus"), { maximum: 4 }),
    /\.status: maximum$/,
  ],
  [
    "a field of a request is removed",
    (all) => delete schema(all, "NewGroup").properties?.description,
    /body\.description: is gone$/,
  ],
  [
    "a field of a request becomes required",
    (all) => schema(all, "NewGroup").required?.push("description"),
    /body\.description: is newly required$/,
  ],
  [
    "a request no longer accepts null",
    (all) => Object.assign(schema(all, "NewGroup").properties ?? {}, { orgId: { $ref: "#/components/schemas/OrgId" } }),
    /body\.orgId: type null$/,
  ],
  ["an enum in a request loses a value", (all) => schema(all, "LocationHint").enum?.pop(), /locationHint: enum$/],
  [
    "a list in a request gets a lower maximum",
    (all) => Object.assign(schema(all, "Labels"), { maxItems: 9 }),
    /labels: maxItems$/,
  ],
  [
    "a request gets a minimum length",
    (all) => Object.assign(schema(all, "Value"), { minLength: 1 }),
    /value: minLength$/,
  ],
  ["a request changes its pattern", (all) => Object.assign(schema(all, "Key"), { pattern: "^[A-Z]+$" }), /: pattern$/],
  ["a request gets a format", (all) => Object.assign(schema(all, "Value"), { format: "uri" }), /value: format$/],
  ["a default changes", (all) => Object.assign(field(all, "Rewrap", "limit"), { default: 1 }), /body\.limit: default$/],
];

/** Changes that clients are required to expect. */
const ADDED: [string, (description: ApiDescription) => unknown][] = [
  [
    "a path",
    ({ paths }) => Object.assign(paths, { "/new": { get: { operationId: "x", responses: {}, security: [] } } }),
  ],
  ["a field of an answer", (all) => Object.assign(schema(all, "Repository").properties ?? {}, { x: {} })],
  ["an optional field of a request", (all) => Object.assign(schema(all, "NewGroup").properties ?? {}, { x: {} })],
  [
    "an optional filter",
    (all) => operation(all, "/build", "get").parameters?.push({ name: "x", in: "query", schema: {} }),
  ],
  ["a higher maximum in a request", (all) => Object.assign(field(all, "Rewrap", "limit"), { maximum: 1000 })],
  ["an error status", (all) => Object.assign(operation(all, "/build", "get").responses, { 418: { description: "x" } })],
  ["a new description", (all) => Object.assign(schema(all, "Repository"), { description: "x" })],
];

describe("the comparison of two descriptions", () => {
  it.each(BREAKING)("rejects: %s", (_, change, expected) => {
    const found = breakingChanges(released(), changed(change));
    expect(found).not.toEqual([]);
    expect(found.filter((one) => !expected.test(one))).toEqual([]);
  });

  it.each(ADDED)("accepts %s as an addition", (_, change) => {
    expect(breakingChanges(released(), changed(change))).toEqual([]);
  });

  it("accepts new values only of an extensible enum in answers", () => {
    const growing = changed((all) => Object.assign(schema(all, "Role"), { "x-extensible-enum": true }));
    const grown = changed((all) => schema(all, "Role").enum?.push("owner"));
    const inAnswers = breakingChanges(growing, grown).filter((one) => !one.includes("body"));
    expect(inAnswers).toEqual([]);
    expect(breakingChanges(released(), grown)).not.toEqual([]);
  });

  it("rejects the removal of any field of any schema", () => {
    const before = released();
    const { schemas } = before.components;
    // Checks one path at a time, starting with the path that showed the previous field: it shows most of the schema's
    // fields.
    let paths = Object.entries(before.paths);
    const isSeen = (without: ApiDescription): boolean => {
      const shown = paths.find(
        (path) => breakingChanges({ ...before, paths: Object.fromEntries([path]) }, without).length > 0,
      );
      if (shown) paths = [shown, ...paths.filter((path) => path !== shown)];
      return shown !== undefined;
    };
    const unseen = Object.entries(schemas).flatMap(([name, one]) =>
      Object.keys(one.properties ?? {}).filter((property) => {
        const { [property]: _, ...properties } = one.properties ?? {};
        const changed = { ...schemas, [name]: { ...one, properties } };
        return !isSeen({ ...before, components: { ...before.components, schemas: changed } });
      }),
    );
    expect(unseen).toEqual([]);
  });

  it("fails on an unknown keyword", () => {
    const unknown = changed((all) => Object.assign(schema(all, "Value"), { not: {} }));
    expect(() => breakingChanges(released(), unknown)).toThrow("cannot judge not");
  });
});
