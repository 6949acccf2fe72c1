import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { isEqual, textOfValue } from "../../src/importer/names.ts";
import { parseFile } from "../../src/pipeline/parse/parse.ts";
import { deliveredImporter, translate } from "./support/importer.ts";
import { type Combination, combinationsThere, type Value, type WrittenMatrix } from "./support/matrix-there.ts";

const importer = await deliveredImporter();

const asTexts = (all: Combination[]) =>
  all.map((one) =>
    Object.fromEntries(
      Object.entries(one).map(([key, value]) => [key, typeof value === "boolean" ? value : textOfValue(value)]),
    ),
  );

const workflow = ({ axes, include, exclude }: WrittenMatrix): string =>
  stringify({
    on: "push",
    jobs: {
      a: {
        "runs-on": "ubuntu-latest",
        strategy: {
          matrix: { ...axes, ...(include.length ? { include } : {}), ...(exclude.length ? { exclude } : {}) },
        },
        steps: [{ run: "make" }],
      },
    },
  });

/** Returns the combinations in the translation. */
const combinationsHere = async (written: WrittenMatrix) => {
  const { text } = await translate(importer, workflow(written));
  return parseFile(text).value?.plan.jobs?.[0]?.matrix?.combinations;
};

const values = fc.constantFrom<Value>(12, "12", 3.1, "3.10", "a", "A", "b", true, false, "true", 0);
const items = fc.array(fc.dictionary(fc.constantFrom("x", "y", "z"), values, { minKeys: 1, maxKeys: 3 }), {
  maxLength: 3,
});
/** Duplicates, which GitHub treats as equal, would be several combinations that nothing distinguishes. */
const axis = fc.uniqueArray(values, { minLength: 1, maxLength: 3, comparator: (a, b) => isEqual(a, b) });
const matrices = fc.record<WrittenMatrix>({ axes: fc.record({ x: axis, y: axis }), include: items, exclude: items });

describe("a matrix and its translation", () => {
  it("have the same combinations in the same order, for values of any type", async () => {
    await fc.assert(
      fc.asyncProperty(matrices, async (written) => {
        const expected = combinationsThere(written);
        const made = await combinationsHere(written);
        // Without a combination the job never runs.
        if (expected.length === 0) expect(made).toBeUndefined();
        else expect(made).toEqual(asTexts(expected));
      }),
      { numRuns: 300 },
    );
  });

  it("detects an exact comparison of values", () => {
    const written = { axes: { x: ["a", 12] }, include: [], exclude: [{ x: "A" }, { x: "12" }] } satisfies WrittenMatrix;
    expect(combinationsThere(written, (a, b) => a === b)).not.toEqual(combinationsThere(written));
  });

  it("omits an item that excludes nothing", async () => {
    expect(await combinationsHere({ axes: { x: ["a"] }, include: [], exclude: [{ x: "c" }] })).toEqual([{ x: "a" }]);
  });
});

describe("the needs of a job", () => {
  const jobs = (condition: string): string =>
    stringify({
      on: "push",
      jobs: {
        a: { "runs-on": "ubuntu-latest", steps: [{ run: "make" }] },
        b: { needs: "a", if: condition, "runs-on": "ubuntu-latest", steps: [{ run: "make" }] },
        c: { needs: "b", "runs-on": "ubuntu-latest", steps: [{ run: "make" }] },
      },
    });
  const needsOf = async (condition: string) => {
    const { text } = await translate(importer, jobs(condition));
    return parseFile(text).value?.plan.jobs?.[2]?.needs.map(({ job }) => job);
  };

  it("include ancestors if one may run after a failure", async () => {
    expect(await needsOf("always()")).toEqual(["b", "a"]);
    expect(await needsOf("${{ !cancelled() && github.ref == 'refs/heads/main' }}")).toEqual(["b", "a"]);
  });

  it("stay the same in any other workflow", async () => {
    expect(await needsOf("github.ref == 'refs/heads/main'")).toEqual(["b"]);
  });
});
