import { describe, expect, it } from "vitest";
import { describeApi } from "../../src/api/description/describe.ts";
import { EXAMPLES } from "../../src/api/description/examples.ts";
import { DESCRIBED } from "../../src/api/description/operations.ts";
import { type ApiDescription, GROWING, type Operation, type Parameter } from "../../src/api/description/schemas.ts";
import { eachField, findDescribingSchema, WORDS } from "../../src/api/description/words/apply.ts";
import { PARAMETERS, SUBJECTS } from "../../src/api/description/words/parameters.ts";
import { ROUTES } from "../../src/api/routes.ts";

const description = JSON.parse(JSON.stringify(describeApi(ROUTES, EXAMPLES))) as ApiDescription;

const operationsOf = ({ paths }: ApiDescription): [string, Operation][] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]): [string, Operation] => [`${method} ${path}`, one]),
  );

/** Returns the places whose description is missing or shorter than five characters. */
const unsaid = (of: ApiDescription): string[] => {
  const found: string[] = [];
  const see = (place: string, words: unknown) => {
    if (typeof words !== "string" || words.length < 5) found.push(place);
  };
  for (const [name, schema] of Object.entries(of.components.schemas)) {
    see(name, schema.description);
    eachField(schema, (path, field) => see(`${name}.${path}`, field.description));
  }
  for (const [place, operation] of operationsOf(of)) {
    see(place, operation.description);
    for (const one of operation.parameters ?? []) {
      if (!("$ref" in one)) see(`${place} ${one.name}`, one.description);
    }
  }
  for (const [name, one] of Object.entries(of.components.parameters)) see(name, (one as Parameter).description);
  return found;
};

describe("the API's descriptions", () => {
  it("exist for every schema, field, operation and parameter", () => {
    let fields = 0;
    for (const schema of Object.values(description.components.schemas)) eachField(schema, () => fields++);
    expect(fields).toBeGreaterThan(400);
    expect(unsaid(description)).toEqual([]);
  });

  it("fail the check if one is missing", () => {
    const without = structuredClone(description);
    delete without.components.schemas.Explanation?.properties?.agents?.items?.properties?.codes?.description;
    delete without.paths["/build"]?.get?.description;
    Object.assign(without.paths["/build"]?.get?.parameters?.[0] ?? {}, { description: undefined });
    expect(unsaid(without)).toEqual(["Explanation.agents[].codes", "get /build", "get /build repoId"]);
  });

  it("describe only what exists", () => {
    const used = new Set<string>();
    for (const [name, schema] of Object.entries(description.components.schemas)) {
      used.add(name.replace(/Sent$/, ""));
      eachField(schema, (path) => used.add(`${findDescribingSchema(name, path)}.${path}`));
    }
    const told = Object.entries(WORDS).flatMap(([name, { is: _, like: __, ...fields }]) => [
      name,
      ...Object.keys(fields).map((path) => `${name}.${path}`),
    ]);
    expect([...told, ...GROWING].filter((place) => !used.has(place))).toEqual([]);
    expect(DESCRIBED.toSorted()).toEqual(ROUTES.map(({ id }) => id).toSorted());
    const said = new Set(
      operationsOf(description).flatMap(([, { parameters = [] }]) =>
        parameters.flatMap((one) => ("$ref" in one ? [] : (one.description ?? ""))),
      ),
    );
    const words = { ...PARAMETERS, ...SUBJECTS };
    expect(Object.keys(words).filter((name) => !said.has(words[name] ?? ""))).toEqual([]);
  });

  it("explain null in each answer, and every code of an agent", () => {
    const { schemas } = description.components;
    const silent = Object.entries(schemas).flatMap(([name, schema]) => {
      const found: string[] = [];
      eachField(schema, (path, field) => {
        const forms = [
          field.type ?? [],
          ...((field.anyOf as { type?: string }[]) ?? []).map((form) => form.type),
        ].flat();
        if (
          forms.includes("null") &&
          schema.required?.includes(path) &&
          !/null|or left out/.test(String(field.description))
        ) {
          found.push(`${name}.${path}`);
        }
      });
      return found;
    });
    expect(silent).toEqual([]);
    for (const [code, word] of ["other", "macOS", "Linux", "Windows"].entries()) {
      expect(schemas.Platform?.description).toContain(`${code} ${word}`);
    }
    for (const [code, word] of ["offline", "idle", "busy", "draining"].entries()) {
      expect(schemas.AgentStatus?.description).toContain(`${code} ${word}`);
    }
  });

  it("name the enums that may grow, and bound no code in an answer", () => {
    const { schemas } = description.components;
    for (const name of ["Platform", "AgentStatus"]) {
      expect(schemas[name]).toMatchObject({ "x-extensible-enum": true });
      expect(schemas[name]).not.toHaveProperty("maximum");
    }
    expect(schemas.PlatformSent).toMatchObject({ maximum: 3 });
  });
});
