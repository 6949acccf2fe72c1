import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Composition,
  compose,
  EnvironmentTooLarge,
  overridesRefused,
  type ScopedVariable,
  withoutSecret,
} from "../../src/domain/compose.ts";
import { LIMITS } from "../../src/protocol/limits.ts";

let serial = 0;
const variable = (scope: ScopedVariable["scope"], key: string, value: string, more: Partial<ScopedVariable> = {}) => ({
  ...{ id: `id-${serial++}`, scope, groupId: null, key, value, isSecret: false, isActive: true, allowOverride: true },
  ...{ version: 1, ...more },
});
const input = (variables: ScopedVariable[], more: Partial<Composition> = {}): Composition => ({
  ...{ variables, groupIds: [], run: {}, secretKeys: [], ...more },
});
const values = (composition: Composition) =>
  Object.fromEntries(compose(composition, "trusted").map((entry) => [entry.key, entry.value]));

const EVERYWHERE = [
  variable("pipeline", "K", "pipeline"),
  variable("group", "K", "second", { groupId: "g2" }),
  variable("organization", "K", "organization"),
  variable("repository", "K", "repository"),
  variable("group", "K", "first", { groupId: "g1" }),
];

describe("compose", () => {
  it("lets run win over pipeline, repository, later group, earlier group, organization", () => {
    const entry = compose(input(EVERYWHERE, { groupIds: ["g1", "g2"], run: { K: "run" } }), "trusted")[0];
    expect(entry?.value).toBe("run");
    expect(entry?.overrides.map((place) => place.groupId ?? place.scope)).toEqual([
      "pipeline",
      "repository",
      "g2",
      "g1",
      "organization",
    ]);
  });

  it("falls back to the next scope when one is removed", () => {
    const order = ["pipeline", "repository", "second", "first", "organization"];
    const left = [...EVERYWHERE];
    for (const winner of order) {
      expect(values(input(left, { groupIds: ["g1", "g2"] })).K).toBe(winner);
      left.splice(
        left.findIndex((one) => one.value === winner),
        1,
      );
    }
    expect(values(input(left))).toEqual({});
  });

  it("creates a file for the winning value only", () => {
    const forms = fc.array(fc.option(fc.constantFrom("text" as const, "base64" as const)), {
      minLength: 4,
      maxLength: 4,
    });
    const scopes = ["organization", "group", "repository", "pipeline"] as const;
    fc.assert(
      fc.property(forms, fc.boolean(), (encodings, hasRun) => {
        const variables = scopes.map((scope, index) => {
          const encoding = encodings[index];
          const more = { groupId: scope === "group" ? "g" : null, isSecret: encoding === "text" };
          return variable(scope, "K", scope, { ...more, ...(encoding && { file: { encoding, name: null } }) });
        });
        const run: Record<string, string> = hasRun ? { K: "run" } : {};
        const [entry] = compose(input(variables, { groupIds: ["g"], run }), "trusted");
        expect(entry?.file?.encoding).toBe(hasRun ? undefined : (encodings[3] ?? undefined));
        expect(entry?.isSecret).toBe(encodings.includes("text"));
      }),
    );
  });

  it("follows the pipeline's order of groups and ignores groups that it does not attach", () => {
    const groups = EVERYWHERE.filter((one) => one.scope === "group");
    expect(values(input(groups, { groupIds: ["g2", "g1"] }))).toEqual({ K: "first" });
    expect(values(input(groups, { groupIds: ["g2"] }))).toEqual({ K: "second" });
    expect(values(input(groups))).toEqual({});
  });

  it("ignores inactive variables and their secrecy", () => {
    const off = variable("pipeline", "K", "off", { isActive: false, isSecret: true });
    const [entry] = compose(input([variable("organization", "K", "on"), off]), "trusted");
    expect(entry).toMatchObject({ value: "on", isSecret: false, overrides: [] });
  });

  it("treats a key as secret if any of its variables is", () => {
    const secret = variable("organization", "K", "old", { isSecret: true });
    const plain = variable("repository", "K", "new");
    expect(compose(input([secret, plain]), "trusted")[0]).toMatchObject({ value: "new", isSecret: true });
    expect(compose(input([plain], { secretKeys: ["K"] }), "trusted")[0]?.isSecret).toBe(true);
    expect(compose(input([], { run: { K: "x" }, secretKeys: ["K"] }), "trusted")[0]?.isSecret).toBe(true);
    expect(compose(input([plain], { run: { K: "x" } }), "trusted")[0]?.isSecret).toBe(false);
  });

  it("gives an untrusted run no secrets", () => {
    const secret = variable("organization", "K", "old", { isSecret: true });
    const both = input([secret, variable("repository", "K", "new"), variable("repository", "P", "plain")]);
    expect(compose(both, "untrusted").map((entry) => entry.key)).toEqual(["P"]);
    expect(compose(both, "trusted").map((entry) => entry.key)).toEqual(["K", "P"]);
  });

  it("serves the preview, where secrets are not opened", () => {
    const closed = { ...variable("organization", "S", ""), isSecret: true, value: null };
    const shown = variable("organization", "P", "plain");
    const entries = compose<string | null>({ ...input([]), variables: [closed, shown], run: { S: "text" } }, "trusted");
    const preview = entries.map((entry) => withoutSecret(entry));
    expect(preview).toMatchObject([
      { key: "P", value: "plain", scope: "organization", variableId: shown.id, version: 1 },
      { key: "S", isSecret: true, scope: "run", variableId: null, version: null },
    ]);
    expect(preview[1]).not.toHaveProperty("value");
  });

  it("treats names of Object.prototype like any other name", () => {
    const names = ["constructor", "toString", "__proto__", "hasOwnProperty", "valueOf"];
    for (const scope of ["organization", "repository", "pipeline"] as const) {
      const entries = compose(input(names.map((name) => variable(scope, name, name))), "trusted");
      expect(entries.map((entry) => [entry.key, entry.value])).toEqual([...names].sort().map((name) => [name, name]));
    }
    const run = JSON.parse('{"__proto__":"a","constructor":"b"}');
    expect(compose(input([], { run }), "trusted").map((entry) => entry.value)).toEqual(["a", "b"]);
  });

  it("accepts 1,000 variables and 256 KiB, and rejects one more", () => {
    const many = (count: number) => Array.from({ length: count }, (_, i) => variable("organization", `K${i}`, ""));
    expect(compose(input(many(1000)), "trusted")).toHaveLength(1000);
    expect(() => compose(input(many(1001)), "trusted")).toThrow(EnvironmentTooLarge);
    expect(() => compose(input(many(1000), { run: { R: "" } }), "trusted")).toThrow(EnvironmentTooLarge);
    const full = "é".repeat((LIMITS.environmentBytes - 4) / 2);
    expect(compose(input([variable("pipeline", "KK", full)]), "trusted")).toHaveLength(1);
    expect(() => compose(input([variable("pipeline", "KKK", full)]), "trusted")).toThrow(EnvironmentTooLarge);
  });

  it("agrees with a plain walk over the layers, in any order of rows", () => {
    const key = fc.constantFrom("A", "B", "constructor");
    const row = fc.record({
      ...{ scope: fc.constantFrom("organization", "group", "repository", "pipeline"), key, value: fc.string() },
      ...{ groupId: fc.constantFrom("g1", "g2", "g3"), isSecret: fc.boolean(), isActive: fc.boolean() },
    });
    const rows = fc.uniqueArray(row, { selector: (one) => `${one.scope}/${one.groupId}/${one.key}` });
    fc.assert(
      fc.property(
        rows.map((all) => all.filter((one) => one.scope === "group" || one.groupId === "g1")),
        fc.dictionary(key, fc.string()),
        fc.shuffledSubarray(["g1", "g2", "g3"]),
        (all, run, groupIds) => {
          const variables = all.map((one) => variable(one.scope, one.key, one.value, one));
          const expected = new Map<string, string>();
          const secret = new Set<string>();
          const active = variables.filter((one) => one.isActive);
          const lay = (wanted: ScopedVariable[]) => {
            for (const one of wanted) {
              expected.set(one.key, one.value);
              if (one.isSecret) secret.add(one.key);
            }
          };
          lay(active.filter((one) => one.scope === "organization"));
          for (const id of groupIds) lay(active.filter((one) => one.scope === "group" && one.groupId === id));
          lay(active.filter((one) => one.scope === "repository"));
          lay(active.filter((one) => one.scope === "pipeline"));
          for (const [name, value] of Object.entries(run)) expected.set(name, value);
          const entries = compose(input(variables, { run, groupIds }), "trusted");
          expect(new Map(entries.map((entry) => [entry.key, entry.value]))).toEqual(expected);
          expect(new Set(entries.filter((entry) => entry.isSecret).map((entry) => entry.key))).toEqual(secret);
        },
      ),
    );
  });
});

describe("overridesRefused", () => {
  it("applies to values that are older than the variable's setting", () => {
    const variables = [
      variable("organization", "K", "kept", { allowOverride: false }),
      variable("group", "OTHER", "v", { allowOverride: false, groupId: "not of the build" }),
    ];
    const composed = compose({ variables, groupIds: [], run: { K: "x", OTHER: "y" }, secretKeys: [] }, "trusted");
    expect(composed.map(({ key, value }) => [key, value])).toEqual([
      ["K", "kept"],
      ["OTHER", "y"],
    ]);
  });

  it("names the keys that active variables reserve, at any scope", () => {
    const kept = variable("organization", "K", "v", { allowOverride: false });
    const free = variable("pipeline", "K", "v");
    const off = variable("pipeline", "OFF", "v", { allowOverride: false, isActive: false });
    expect(overridesRefused([kept, free, off], { K: "x", OFF: "x", constructor: "x" })).toEqual(["K"]);
    expect(overridesRefused([free, off], { K: "x", OFF: "x" })).toEqual([]);
  });
});
