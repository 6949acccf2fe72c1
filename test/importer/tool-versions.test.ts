import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NoEqual } from "../../src/importer/marks.ts";
import { readVersion } from "../../src/importer/tool-versions.ts";

/*
 * A range on GitHub and its translation here choose the same version. GitHub takes the newest version in a node-semver
 * range (https://github.com/npm/node-semver#ranges, https://github.com/actions/setup-node#supported-version-syntax).
 * Here mise takes the newest version with this prefix (https://mise.jdx.dev/dev-tools/#tool-versions).
 */

type Version = readonly [number, number, number];
const compare = (a: Version, b: Version): number => a[0] - b[0] || a[1] - b[1] || a[2] - b[2];

interface Bounds {
  from: Version;
  /** The first version above the range. */
  to: Version;
}
const END: Version = [Number.POSITIVE_INFINITY, 0, 0];

const numbersIn = (text: string): number[] =>
  text
    .replace(/^[v^~>=\s]*/, "")
    .split(".")
    .flatMap((one) => (/^[x*]$/.test(one) ? [] : [Number(one)]));

/** Returns a range's bounds, as node-semver documents each form. */
const boundsOf = (range: string): Bounds => {
  const [major = 0, minor, patch] = numbersIn(range.split(/\s*</)[0]!);
  const from: Version = [major, minor ?? 0, patch ?? 0];
  const upper = range.includes("<") ? numbersIn(range.split("<")[1]!) : undefined;
  if (upper) return { from, to: [upper[0]!, upper[1] ?? 0, upper[2] ?? 0] };
  if (range.startsWith(">=")) return { from, to: END };
  if (range === "*" || range === "x") return { from: [0, 0, 0], to: END };
  if (minor === undefined) return { from, to: [major + 1, 0, 0] };
  if (range.startsWith("^") && major > 0) return { from, to: [major + 1, 0, 0] };
  if (range.startsWith("^") && (minor > 0 || patch === undefined)) return { from, to: [0, minor + 1, 0] };
  if (range.startsWith("~") || patch === undefined) return { from, to: [major, minor + 1, 0] };
  return { from, to: [major, minor, patch + 1] };
};

const newest = (versions: Version[]): string => [...versions].sort(compare).at(-1)?.join(".") ?? "none";

/** Returns the newest version in the range, or "none" unless each part of the range has a version. */
const chosenThere = (range: string, versions: Version[]): string => {
  const all = range.split("||").map((one) => boundsOf(one.trim()));
  const exists = all.every(({ from, to }) => versions.some((one) => compare(one, from) >= 0 && compare(one, to) < 0));
  if (!exists) return "none";
  return newest(versions.filter((one) => all.some(({ from, to }) => compare(one, from) >= 0 && compare(one, to) < 0)));
};

const chosenHere = (beginning: string, versions: Version[]): string =>
  newest(versions.filter((one) => beginning === "latest" || `${one.join(".")}.`.startsWith(`${beginning}.`)));

const number = fc.nat(3);
const versions = fc.uniqueArray(fc.tuple(number, number, number), { minLength: 1, maxLength: 12, selector: String });
const plain = fc.oneof(
  fc.tuple(number).map(String),
  fc.tuple(number, number).map((parts) => parts.join(".")),
  fc.tuple(number, number, number).map((parts) => parts.join(".")),
);
const one = fc.oneof(
  plain,
  plain.map((text) => `v${text}`),
  number.map((major) => `${major}.x`),
  fc.tuple(number, number).map(([major, minor]) => `${major}.${minor}.x`),
  fc.tuple(fc.constantFrom("^", "~", ">="), plain).map((parts) => parts.join("")),
  fc.tuple(plain, number).map(([from, to]) => `>=${from} <${to}`),
  fc.constantFrom("*", "x"),
);
const ranges = fc.array(one, { minLength: 1, maxLength: 2 }).map((all) => all.join(" || "));

const isDifferent = (range: string, beginning: string, all: Version[]): boolean => {
  const there = chosenThere(range, all);
  const here = chosenHere(beginning, all);
  // Without a match on GitHub, the workflow has never run. Without a match here, the build fails with a message.
  return there !== "none" && here !== "none" && there !== here;
};

describe("a range of versions", () => {
  it("chooses the same version as GitHub", () => {
    let translated = 0;
    fc.assert(
      fc.property(ranges, versions, (range, all) => {
        let beginning: string;
        try {
          beginning = readVersion(range, { tool: "node" });
        } catch (error) {
          expect(error).toBeInstanceOf(NoEqual);
          return;
        }
        translated++;
        expect([range, beginning, all, isDifferent(range, beginning, all)]).toEqual([range, beginning, all, false]);
      }),
      { numRuns: 3000 },
    );
    expect(translated).toBeGreaterThan(1000);
  });

  it.each([
    ["^1.2", "1.2"],
    [">=1", "1"],
    ["~1.2.0", "1"],
    ["^0.2.1", "0"],
    ["^1 || ^2", "1"],
    [">=1 <3", "3"],
  ])("would be seen to choose another: %s as %s", (range, wrong) => {
    const all = fc.sample(versions, { numRuns: 300, seed: 1 });
    expect(all.some((list) => isDifferent(range, wrong, list))).toBe(true);
  });

  it.each(["<20", ">18", "18 - 20", "!=3", ">=1.2 <1.5", "3.12-dev", "pypy3.11", "nightly", "", "18,20"])(
    "has none: %s",
    (range) => {
      expect(() => readVersion(range, { tool: "node" })).toThrow(NoEqual);
    },
  );
});
