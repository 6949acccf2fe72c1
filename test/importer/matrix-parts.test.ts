import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { deliveredImporter, translate } from "./support/importer.ts";

/*
 * Matrix values with parts. On GitHub each combination has its axes' values as written
 * (https://docs.github.com/en/actions/how-tos/write-workflows/choose-what-workflows-do/run-job-variations), and
 * `matrix.os.image` is a part of one value. Here each part is a separate key.
 */

const importer = await deliveredImporter();

type Parts = Record<string, string>;
type Axes = Record<string, Parts[]>;

const workflow = (axes: Axes, more: object = {}, run = "make"): string =>
  stringify({
    on: "push",
    jobs: { a: { "runs-on": "ubuntu-latest", strategy: { matrix: { ...axes, ...more } }, steps: [{ run }] } },
  });

/** Returns each combination by its parts, sorted. */
const combinationsThere = (axes: Axes): string[] => {
  let all: Parts[] = [{}];
  for (const [axis, values] of Object.entries(axes))
    all = all.flatMap((one) =>
      values.map((parts) => ({
        ...one,
        ...Object.fromEntries(Object.entries(parts).map(([part, value]) => [`${axis}-${part}`, value])),
      })),
    );
  return all.map((one) => JSON.stringify(Object.entries(one).sort())).sort();
};

const combinationsHere = async (axes: Axes): Promise<string[]> => {
  const { text, kinds } = await translate(importer, workflow(axes));
  expect(kinds).toEqual([]);
  const { matrix } = parse(text).jobs.a;
  // Ignore the values' names: nothing on GitHub can read them.
  const names = new Set(Object.keys(axes));
  const all: Parts[] = Object.keys(matrix)
    .filter((key) => names.has(key))
    .reduce<Parts[]>(
      (list, key) => list.flatMap((one) => matrix[key].map((value: string) => ({ ...one, [key]: value }))),
      [{}],
    );
  const included = (matrix.include ?? []) as Parts[];
  return all
    .map((one) => {
      const fitting = included.filter((item) =>
        Object.entries(item).every(([key, value]) => !names.has(key) || one[key] === value),
      );
      const parts = Object.assign({}, ...fitting);
      return JSON.stringify(
        Object.entries(parts)
          .filter(([key]) => !names.has(key))
          .sort(),
      );
    })
    .sort();
};

const parts = fc.record({ id: fc.constantFrom("a", "b", "c"), n: fc.constantFrom("1", "2") });
const axes = fc.record({
  os: fc.uniqueArray(parts, { minLength: 1, maxLength: 3, selector: ({ id, n }) => id + n }),
  ruby: fc.uniqueArray(parts, { minLength: 1, maxLength: 3, selector: ({ id, n }) => id + n }),
});

describe("a matrix of values with parts", () => {
  it("has the same combinations as on GitHub", async () => {
    await fc.assert(
      fc.asyncProperty(axes, async (one) => {
        expect(await combinationsHere(one)).toEqual(combinationsThere(one));
      }),
      { numRuns: 60 },
    );
  });

  const OS: Axes = {
    os: [
      { image: "ubuntu-latest", name: "L" },
      { image: "macos-latest", name: "M" },
    ],
  };

  it("has parts that expressions, platforms and versions read", async () => {
    const text = workflow(OS, {}, 'echo "${{ matrix.os.name }}" "${{ matrix.os.none }}"').replace(
      "ubuntu-latest\n    strategy",
      "${{ matrix.os.image }}\n    strategy",
    );
    const made = await translate(importer, text);
    expect(made.kinds).toEqual([]);
    const { steps, requires } = parse(made.text).jobs.a;
    expect(steps[0].run).toBe('echo "${{ matrix.os-name }}" "${{ null }}"');
    expect(requires.platform).toBe("${{ case(matrix.os-image == 'ubuntu-latest', 'linux', 'macos') }}");
  });

  it.each([
    ["the whole of one is read", workflow(OS, {}, 'echo "${{ toJSON(matrix.os) }}"'), "matrix"],
    ["some are taken away by it", workflow(OS, { exclude: [{ os: { name: "L" } }] }), "matrix"],
    ["one is a list", workflow({ os: [{ list: ["a"] as unknown as string }] }), "matrix"],
    ["one is computed", workflow({ os: [{ image: "${{ vars.A }}" }] }), "matrix"],
  ])("is marked where %s", async (_, text, kind) => {
    expect((await translate(importer, text)).kinds).toEqual([kind]);
  });
});
