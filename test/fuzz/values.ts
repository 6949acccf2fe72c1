import * as fc from "fast-check";
import type { ApiDescription, JsonSchema } from "../../src/api/description/schemas.ts";

/** Placeholders, replaced when a request is sent: an id from an earlier answer, the organization, the lease. */
export const SOME_ID = "@id";
export const OWN_ORG = "@org";
export const LEASE = "@lease";

/** Values by field name that random generation would hardly find: valid ones, and some that are almost valid. */
const INTERESTING: Record<string, unknown[]> = {
  orgId: [OWN_ORG, OWN_ORG, OWN_ORG, "another-org"],
  cloneUrl: ["https://git.example/a/b.git", "git@git.example:a/b.git", "https://u:p@git.example/a.git", "ext::x.git"],
  branch: ["main", "feature/x", "refs/tags/v1", "-x", "a..b", "x.lock"],
  defaultBranch: ["main", "trunk", "@{"],
  configPath: [".millrace.yml", "ci/build.yml", "../x", "/x"],
  definition: ["steps:\n  - run: make\n", "steps: []", "steps: [", "env: {A: 1}\nsteps:\n  - run: x\n    shel: y\n"],
  key: ["A", "B", "TOKEN", "constructor", "PATH", "MILLRACE_X"],
  name: ["one", "two", "three"],
  expiresAt: ["2099-01-01T00:00:00Z", "2001-01-01T00:00:00Z", "2099-02-30T00:00:00Z"],
  labels: [["a"], ["a", "b"], []],
  kind: ["api", "registration", "token", "ssh-key"],
  offset: ["0", "0", "0", "6"],
  wait: ["0", "0", "0", "61", "x"],
  since: ["2020-01-01T00:00:00Z", "2020"],
  until: ["2099-01-01T00:00:00Z", ""],
};

/** Fields without random values: with a valid one the service would wait for up to a minute. */
const NO_RANDOM_VALUES = new Set(["wait"]);

const HOSTILE_TEXTS = [
  "__proto__",
  "constructor",
  "\u0000",
  "\ud800",
  "\u202e",
  "' OR 1=1 --",
  "${{ x }}",
  "%0a",
  "é".repeat(300),
];

export const anyValue: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom<unknown>(...HOSTILE_TEXTS, null, -1, 0, 2 ** 53, 1e308, "", [], {}),
);

const matching = (pattern: string): fc.Arbitrary<unknown> => {
  try {
    return fc.stringMatching(new RegExp(pattern), { size: "small" });
  } catch {
    return fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 });
  }
};

/** Generates values for JSON schemas, most of them valid. */
export class Values {
  readonly #schemas: ApiDescription["components"]["schemas"];
  readonly #known = new Map<string, fc.Arbitrary<unknown>>();

  constructor({ components }: ApiDescription) {
    this.#schemas = components.schemas;
  }

  /** A value for the field: mostly valid, sometimes an interesting one, rarely any JSON. */
  field(name: string, schema: JsonSchema): fc.Arbitrary<unknown> {
    const interesting = INTERESTING[name];
    if (interesting && NO_RANDOM_VALUES.has(name)) return fc.constantFrom(...interesting);
    const fitting = this.of(schema);
    return fc.oneof(
      { weight: interesting ? 6 : 24, arbitrary: fitting },
      ...(interesting ? [{ weight: 18, arbitrary: fc.constantFrom(...interesting) }] : []),
      { weight: 1, arbitrary: anyValue },
    );
  }

  of(schema: JsonSchema): fc.Arbitrary<unknown> {
    if (schema.$ref) return this.#named(schema.$ref.split("/").at(-1) ?? "");
    const { enum: allowed, anyOf } = schema as { enum?: unknown[]; anyOf?: JsonSchema[] };
    if (allowed) return fc.constantFrom(...allowed);
    if (anyOf) return fc.oneof(...anyOf.map((one) => this.of(one)));
    const types = [schema.type ?? "any"].flat();
    return fc.oneof(...types.map((type) => this.#ofType(type, schema)));
  }

  #named(name: string): fc.Arbitrary<unknown> {
    const known = this.#known.get(name) ?? this.of(this.#schemas[name] ?? {});
    this.#known.set(name, known);
    return known;
  }

  #ofType(type: string, schema: JsonSchema): fc.Arbitrary<unknown> {
    const number = (name: string): number | undefined => schema[name] as number | undefined;
    switch (type) {
      case "null":
        return fc.constant(null);
      case "boolean":
        return fc.boolean();
      case "integer": {
        const min = Math.max(number("minimum") ?? 0, -1000);
        const max = Math.max(min, 0) + 1000;
        return fc.integer({ min, max: Math.min(number("maximum") ?? max, max) });
      }
      case "number":
        return fc.double({ noNaN: true, noDefaultInfinity: true });
      case "array":
        return fc.array(this.of(schema.items ?? {}), { maxLength: Math.min(number("maxItems") ?? 3, 3) });
      case "object":
        return this.#object(schema);
      case "string":
        if (schema.format === "uuid") return fc.oneof({ weight: 9, arbitrary: fc.constant(SOME_ID) }, fc.uuid());
        if (schema.format === "date-time") return fc.constantFrom(...(INTERESTING.expiresAt ?? []));
        if (schema.pattern) return matching(schema.pattern as string);
        return fc.string({ unit: "grapheme", minLength: number("minLength") ?? 0, maxLength: 20 });
      default:
        return anyValue;
    }
  }

  #object({ properties = {}, required = [], ...schema }: JsonSchema): fc.Arbitrary<unknown> {
    const fields = Object.entries(properties).filter(([, property]) => !property.readOnly);
    const known = fc.record(Object.fromEntries(fields.map(([name, property]) => [name, this.field(name, property)])), {
      requiredKeys: required,
    });
    const others = schema.additionalProperties;
    if (typeof others !== "object" || others === null) return known;
    const names = fc.oneof(fc.constantFrom("A", "B", "STAGE"), fc.string({ maxLength: 5 }));
    return fc.dictionary(names, this.of(others as JsonSchema), { maxKeys: 3 });
  }
}
