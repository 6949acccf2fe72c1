import { readFileSync } from "node:fs";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Matrix } from "../../../src/domain/jobs/graph.ts";
import { expandMatrix, type WrittenMatrix } from "../../../src/domain/jobs/matrix.ts";
import { parsePlan } from "../../../src/domain/plan/parse.ts";
import { type Fault, slowMatrix } from "./slow-matrix.ts";

type Scalar = string | number | boolean;
interface Case {
  id: string;
  source?: string;
  matrix: Record<string, unknown>;
  expect: { combinations?: Record<string, Scalar>[]; error?: string };
}
const { cases, loose } = JSON.parse(readFileSync("test/domain/jobs/matrix-cases.json", "utf8")) as {
  cases: Case[];
  loose: { id: string; matrix: Record<string, unknown>; github: number }[];
};

const read = (matrix: unknown) => {
  const { plan, mistakes = [] } = parsePlan(JSON.stringify({ jobs: { a: { matrix, steps: [{ run: "x" }] } } }));
  return { combinations: plan?.jobs?.[0]?.matrix?.combinations, told: mistakes.map(({ message }) => message) };
};

/** Scalars as this language reads them: texts as written, but for true and false. */
const asTexts = (one: Record<string, Scalar>): Matrix =>
  Object.fromEntries(Object.entries(one).map(([key, value]) => [key, typeof value === "boolean" ? value : `${value}`]));

/** Pairs in their order: `toEqual` on an object would not see it. */
const pairs = (all: readonly Matrix[] | undefined) => all?.map((one) => Object.entries(one));

/** Refused here, and why. */
const REFUSED: Record<string, string> = {
  "exclude-all": "No combination is left",
  "nested-values": "A value of a matrix is a text, true or false: it has no parts",
  "err-empty-vector": "This must not be empty",
  "err-exclude-unknown-key": "Only axes can be excluded, and one of these keys is none",
  "err-exclude-empty": "An item of `exclude` has no keys",
  "err-include-empty": "An item of `include` has no keys",
  "limit-257": "This must have at most 100 items",
};

describe("the combinations of other systems' own examples", () => {
  it.each(cases.map((one) => [one.id, one] as const))("%s", (id, { matrix, expect: expected }) => {
    const { combinations, told } = read(matrix);
    if (id in REFUSED) expect(told).toEqual([REFUSED[id]]);
    else {
      expect(expected.combinations).toBeDefined();
      expect(pairs(combinations)).toEqual(pairs(expected.combinations?.map(asTexts)));
    }
  });

  it("are many", () => expect(cases.length).toBeGreaterThan(35));

  it("differ from GitHub's where that compares loosely: here 12 and '12' are one text, and letter case counts", () => {
    expect(loose.map(({ id, matrix }) => [id, read(matrix).combinations?.length ?? read(matrix).told])).toEqual([
      ["loose-number-text", 1],
      ["loose-letter-case", ["No combination of the axes has these values"]],
      ["loose-null-text", ["No combination of the axes has these values"]],
    ]);
  });
});

const value = fc.constantFrom<string | boolean>("a", "b", "A", "1", "1.0", "true", true, false);
const NAMES = ["os", "node", "arch", "extra", "flag", "constructor"];
const written: fc.Arbitrary<WrittenMatrix> = fc
  .uniqueArray(fc.constantFrom(...NAMES.slice(0, 3)), { maxLength: 3 })
  .chain((names) =>
    fc.record({
      axes: fc.tuple(
        ...names.map((name) =>
          fc.record({ name: fc.constant(name), values: fc.uniqueArray(value, { minLength: 1, maxLength: 3 }) }),
        ),
      ),
      include: fc.array(fc.dictionary(fc.constantFrom(...NAMES), value, { minKeys: 1, maxKeys: 3 }), { maxLength: 4 }),
      exclude:
        names.length === 0
          ? fc.constant([])
          : fc.array(fc.dictionary(fc.constantFrom(...names), value, { minKeys: 1, maxKeys: 2 }), { maxLength: 3 }),
    }),
  );

/** Whether the expansion is what the rule says, also where it is a problem here. */
const agrees = (matrix: WrittenMatrix, fault?: Fault): boolean => {
  const { combinations, problems = [] } = expandMatrix(matrix);
  const slow = slowMatrix(matrix, fault);
  if (combinations) return JSON.stringify(pairs(combinations)) === JSON.stringify(pairs(slow));
  const alone = (exclude: Matrix[]) => slowMatrix({ ...matrix, exclude, include: [] }, fault).length;
  const isIdle = matrix.exclude.some((item) => alone([item]) === alone([]));
  return problems.length > 0 && (slow.length === 0 || isIdle);
};

describe("the expansion of a matrix", () => {
  it("is the rule written a second time, over 5,000 matrices", () => {
    let expanded = 0;
    fc.assert(
      fc.property(written, (matrix) => {
        if (expandMatrix(matrix).combinations) expanded++;
        return agrees(matrix);
      }),
      { numRuns: 5000 },
    );
    expect(expanded).toBeGreaterThan(1000);
  });

  it.each<Fault>([
    ...(["first axis fastest", "include before exclude", "original values change", "the first extra wins"] as const),
    ...(["items meet each other", "one key is enough to exclude", "an item without axes is appended"] as const),
    ...(["fitting items are appended too", "values are compared loosely"] as const),
  ])("would be seen to be wrong: %s", (fault) => {
    const { failed } = fc.check(
      fc.property(written, (matrix) => agrees(matrix, fault)),
      { numRuns: 5000 },
    );
    expect(failed).toBe(true);
  });

  it("never makes a product that is too large", () => {
    const axis = (name: string) => ({ name, values: Array.from({ length: 100 }, (_, index) => `${index}`) });
    const many = Array.from({ length: 100 }, (_, index) => ({ [`key${index}`]: "x" }));
    const wide = expandMatrix({ axes: [{ name: "a", values: ["1"] }], include: many, exclude: [] });
    expect(wide.problems?.map(({ message }) => message)).toEqual(["A matrix has at most 100 different keys"]);
    const huge = { axes: ["a", "b", "c", "d", "e", "f", "g", "h"].map(axis), include: [], exclude: [] };
    expect(expandMatrix(huge).problems).toEqual([
      { at: "matrix", index: 0, message: "A build has at most 256 jobs: this matrix has far more combinations" },
    ]);
  });

  it("may be larger before exclude than after it", () => {
    const values = Array.from({ length: 17 }, (_, index) => `${index}`);
    const axes = [
      { name: "a", values },
      { name: "b", values },
    ];
    const of = (exclude: Matrix[]) => expandMatrix({ axes, include: [], exclude });
    expect(of([]).problems?.[0]?.message).toBe("A build has at most 256 jobs: this matrix has 289 combinations");
    expect(of([{ a: "3" }, { b: "4" }]).combinations).toHaveLength(256);
  });
});
