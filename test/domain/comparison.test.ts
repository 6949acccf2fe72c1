import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { environmentChanges, logDifference, maskLine } from "../../src/domain/comparison.ts";
import { commitAddress, compareAddress } from "../../src/githosts/core/host-address.ts";
import type { EnvironmentKey } from "../../src/protocol/build.ts";

const line = fc.constantFrom("a", "b", "c", "took 12.5s", "took 13s", "");
const lines = fc.array(line, { maxLength: 25 });

/** Returns the length of the longest common subsequence, by trying all of them. */
const common = (one: string[], other: string[]): number => {
  const [[first, ...rest], at] = [one, other.indexOf(one[0] ?? "")];
  if (first === undefined) return 0;
  const without = common(rest, other);
  return at < 0 ? without : Math.max(without, 1 + common(rest, other.slice(at + 1)));
};

describe("the difference of two logs", () => {
  it("has all lines of both in order, and is as short as possible", () => {
    fc.assert(
      fc.property(lines, lines, (older, newer) => {
        const found = logDifference(older, newer);
        expect(found.filter(({ kind }) => kind !== "removed").map(({ text }) => text)).toEqual(newer);
        expect(found.filter(({ kind }) => kind !== "added").map(({ text }) => maskLine(text))).toEqual(
          older.map(maskLine),
        );
      }),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 9 }), fc.array(line, { maxLength: 9 }), (older, newer) => {
        const same = logDifference(older, newer).filter(({ kind }) => kind === "same").length;
        expect(same).toBe(common(older.map(maskLine), newer.map(maskLine)));
      }),
    );
  });

  it("ignores times, numbers and hashes", () => {
    const older = ["12:00:01 checkout 77ab12c0", "ran 1,204 tests in 4.31s", "ok"];
    const newer = ["13:10:59 checkout 9f2c1e0d", "ran 1,205 tests in 4m 10s", "expected 118.99 to be 119"];
    expect(logDifference(older, newer).map(({ kind }) => kind)).toEqual([
      "same",
      "removed",
      "removed",
      "added",
      "added",
    ]);
  });
});

describe("the changes in an environment", () => {
  const of = (key: string, more: Partial<EnvironmentKey> = {}): EnvironmentKey => ({
    ...{ key, scope: "repository", isSecret: false, version: 1, ...more },
  });

  it("contain keys and versions, never values", () => {
    const before = [of("GONE"), of("SAME"), of("NEWER"), of("MOVED"), of("HIDDEN")];
    const now = [
      of("SAME"),
      of("NEWER", { version: 2 }),
      of("MOVED", { scope: "pipeline" }),
      of("HIDDEN", { isSecret: true }),
      of("NEW"),
    ];
    expect(environmentChanges(before, now)).toEqual([
      { key: "GONE", change: "removed", how: null },
      { key: "HIDDEN", change: "changed", how: "now a secret" },
      { key: "MOVED", change: "changed", how: "from pipeline, was repository" },
      { key: "NEW", change: "added", how: null },
      { key: "NEWER", change: "changed", how: "version 2, was 1" },
    ]);
    expect(environmentChanges(now, now)).toEqual([]);
  });
});

it("compare and commit links match each kind of host, whatever is in the names", () => {
  const at = (kind: "github" | "gitlab" | "gitea") =>
    compareAddress(kind, "https://git.example/", 'a/b"<c>', "0a", "1b");
  expect(at("github")).toBe("https://git.example/a/b%22%3Cc%3E/compare/0a...1b");
  expect(at("gitlab")).toBe("https://git.example/a/b%22%3Cc%3E/-/compare/0a...1b");
  expect(at("gitea")).toBe("https://git.example/a/b%22%3Cc%3E/compare/0a...1b");
  expect(commitAddress("gitlab", "https://git.example", "a/b", "0a")).toBe("https://git.example/a/b/-/commit/0a");
});
