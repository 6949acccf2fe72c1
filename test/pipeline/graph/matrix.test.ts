import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Matrix } from "../../../src/pipeline/graph/graph.ts";
import { expandMatrix, type WrittenMatrix } from "../../../src/pipeline/graph/matrix.ts";
import { parsePlan } from "../../../src/pipeline/parse/parse.ts";
import { type Fault, slowMatrix } from "./slow-matrix.ts";

const read = (matrix: unknown) => {
  const { plan, mistakes = [] } = parsePlan(JSON.stringify({ jobs: { a: { matrix, steps: [{ run: "x" }] } } }));
  return { combinations: plan?.jobs?.[0]?.matrix?.combinations, told: mistakes.map(({ message }) => message) };
};

/** Returns pairs in their order, which `toEqual` on an object would ignore. */
const pairs = (all: readonly Matrix[] | undefined) => all?.map((one) => Object.entries(one));

/** Reads a combination such as `system=mac size=9`, in the order of its keys. */
const combination = (text: string): Matrix =>
  Object.fromEntries(
    text.split(" ").map((pair) => {
      const [key = "", value = ""] = pair.split("=");
      return [key, value === "true" || value === "false" ? value === "true" : value];
    }),
  );

const SHOPS = { shop: ["north", "south"], till: [1, 2] };

const EXPANDED: [title: string, matrix: object, combinations: string[]][] = [
  ["one axis, in its order", { size: [9, 10, "s"] }, ["size=9", "size=10", "size=s"]],
  [
    "the last axis first",
    { ...SHOPS, open: [true, false] },
    [
      ...["shop=north till=1 open=true", "shop=north till=1 open=false"],
      ...["shop=north till=2 open=true", "shop=north till=2 open=false"],
      ...["shop=south till=1 open=true", "shop=south till=1 open=false"],
      ...["shop=south till=2 open=true", "shop=south till=2 open=false"],
    ],
  ],
  [
    "without one, by all of its values",
    { ...SHOPS, exclude: [{ shop: "south", till: 1 }] },
    ["shop=north till=1", "shop=north till=2", "shop=south till=2"],
  ],
  ["without all of a value", { ...SHOPS, exclude: [{ till: 2 }] }, ["shop=north till=1", "shop=south till=1"]],
  [
    "with a key more where the item fits",
    { ...SHOPS, include: [{ shop: "north", clerk: "Ada" }] },
    ["shop=north till=1 clerk=Ada", "shop=north till=2 clerk=Ada", "shop=south till=1", "shop=south till=2"],
  ],
  [
    "with an extra key everywhere, which a later item changes in one place",
    { till: [1, 2], include: [{ lamp: "on" }, { till: 2, lamp: "off" }] },
    ["till=1 lamp=on", "till=2 lamp=off"],
  ],
  [
    "and one of its own where an item fits none",
    { shop: ["north"], include: [{ shop: "west", till: 7 }] },
    ["shop=north", "shop=west till=7"],
  ],
  [
    "and items of their own never meet each other",
    { shop: ["north"], include: [{ shop: "west" }, { shop: "west", lamp: "on" }] },
    ["shop=north", "shop=west", "shop=west lamp=on"],
  ],
  [
    "and an item brings back what was excluded",
    { ...SHOPS, exclude: [{ shop: "south" }], include: [{ shop: "south", till: 2 }] },
    ["shop=north till=1", "shop=north till=2", "shop=south till=2"],
  ],
  ["of items alone", { include: [{ a: "x" }, { a: "y", b: false }] }, ["a=x", "a=y b=false"]],
  ["with numbers as written", { swift: [6.1, "6.10"] }, ["swift=6.1", "swift=6.10"]],
];

const REFUSED: [title: string, matrix: object, told: string][] = [
  ["nothing left", { till: [1], exclude: [{ till: 1 }] }, "No combination is left"],
  ["an empty axis", { till: [], shop: ["north"] }, "This must not be empty"],
  [
    "a value with parts",
    { till: [{ lamp: "on" }] },
    "A matrix value must be text, true or false, not a list or a mapping",
  ],
  [
    "an exclude of no axis",
    { till: [1, 2], exclude: [{ lamp: "on" }] },
    "Only axes can be excluded, and one of these keys is not an axis",
  ],
  ["an exclude without keys", { till: [1, 2], exclude: [{}] }, "An item of `exclude` has no keys"],
  ["an include without keys", { till: [1, 2], include: [{}] }, "An item of `include` has no keys"],
  ["101 values", { till: Array.from({ length: 101 }, (_, index) => index) }, "This must have at most 100 items"],
  // Another system compares loosely here.
  [
    "another letter case",
    { shop: ["North"], exclude: [{ shop: "north" }] },
    "No combination of the axes has these values",
  ],
];

describe("the combinations of a matrix", () => {
  it.each(EXPANDED)("are %s", (_, matrix, combinations) => {
    expect(pairs(read(matrix).combinations)).toEqual(pairs(combinations.map(combination)));
  });

  it.each(REFUSED)("are rejected with %s", (_, matrix, told) => {
    expect(read(matrix).told).toEqual([told]);
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

/** Reports whether the expansion agrees with the rule, even where the result is a problem here. */
const agrees = (matrix: WrittenMatrix, fault?: Fault): boolean => {
  const { combinations, problems = [] } = expandMatrix(matrix);
  const slow = slowMatrix(matrix, fault);
  if (combinations) return JSON.stringify(pairs(combinations)) === JSON.stringify(pairs(slow));
  const alone = (exclude: Matrix[]) => slowMatrix({ ...matrix, exclude, include: [] }, fault).length;
  const isIdle = matrix.exclude.some((item) => alone([item]) === alone([]));
  return problems.length > 0 && (slow.length === 0 || isIdle);
};

describe("the expansion of a matrix", () => {
  it("agrees with a second version of the rule, over 5,000 matrices", () => {
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
  ])("is tested so that a wrong rule fails: %s", (fault) => {
    const { failed } = fc.check(
      fc.property(written, (matrix) => agrees(matrix, fault)),
      { numRuns: 5000 },
    );
    expect(failed).toBe(true);
  });

  it("never computes too large a product", () => {
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
