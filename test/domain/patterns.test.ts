import * as fc from "fast-check";
import picomatch from "picomatch";
import { describe, expect, it } from "vitest";
import {
  firstPatternProblem,
  isRefIn,
  isTouched,
  nameMatcher,
  PATTERN_LIMITS,
  patternProblem,
} from "../../src/domain/patterns.ts";

const OPTIONS = { dot: true, nobrace: true, noextglob: true, nonegate: true, strictSlashes: true };

const letters = fc.string({ unit: fc.constantFrom("a", "b", ".", "-"), minLength: 1, maxLength: 3 });
const isName = (text: string) => !/^\.{1,2}$/.test(text);
const name = fc.array(letters.filter(isName), { minLength: 1, maxLength: 4 }).map((parts) => parts.join("/"));
const part = fc.oneof(letters.filter(isName), fc.constantFrom("*", "**", "?", "a*", "*b", "a?", "*.a", "*a*b*", "?*"));
const pattern = fc.array(part, { minLength: 1, maxLength: 5 }).map((parts) => parts.join("/"));

type Matcher = typeof nameMatcher;

/** Reports whether the oracle agrees with a matcher of single patterns, in this many random cases. */
const agrees = (matcher: Matcher): boolean => {
  const { failed } = fc.check(
    fc.property(pattern, name, (one, text) => matcher([one])(text) === picomatch.isMatch(text, one, OPTIONS)),
    { numRuns: 10_000, seed: 1, endOnFailure: true },
  );
  return !failed;
};

describe("a pattern", () => {
  it("matches what picomatch matches", () => {
    fc.assert(
      fc.property(pattern, name, (one, text) => {
        expect(nameMatcher([one])(text)).toBe(picomatch.isMatch(text, one, OPTIONS));
      }),
      { numRuns: 10_000 },
    );
  });

  it.each<[string, Matcher]>([
    ["* goes past /", (patterns) => nameMatcher(patterns.map((one) => one.replaceAll("*", "**")))],
    ["** stays before /", (patterns) => nameMatcher(patterns.map((one) => one.replaceAll("**", "*")))],
    ["? is any number", (patterns) => nameMatcher(patterns.map((one) => one.replaceAll("?", "*")))],
    ["** has at least one part", (patterns) => nameMatcher(patterns.map((one) => one.replaceAll("**", "**/*")))],
  ])("is tested so that a wrong reading fails: %s", (_, mutant) => {
    expect(agrees(mutant)).toBe(false);
  });

  it.each([
    ["main", "main", true],
    ["main", "Main", false],
    ["release/*", "release/1", true],
    ["release/*", "release/1/a", false],
    ["release/**", "release/1/a", true],
    ["docs/**", "docs", false],
    ["docs/**", "docsy", false],
    ["a/**/b", "a/b", true],
    ["a/**/b", "ab", false],
    ["**/README.md", "README.md", true],
    ["**.ts", "src/a/b.ts", true],
    ["src**", "src/a/b.ts", true],
    ["v?.?", "v1.2", true],
    ["v?.?", "v1.22", false],
    ["?", "\u{1f600}", true],
    ["app/[slug]/page.tsx", "app/[slug]/page.tsx", true],
    ["a.c", "abc", false],
    ["(a+)+$", "aaaa", false],
    [".github/**", ".github/a", true],
    ["**", "a/.b", true],
  ])("%j on %j matches: %s", (one, text, expected) => expect(nameMatcher([one])(text)).toBe(expected));

  it("matches classes in refs as a regular expression does", () => {
    const sign = fc.constantFrom("a", "1", ".", "+", "*", "?", "[0-9]", "[0-9]+", "[ab1]", "[a-c]+", "[A-Za-z1-3]+");
    const ref = fc.array(sign, { minLength: 1, maxLength: 5 }).map((signs) => signs.join(""));
    const names = fc.string({ unit: fc.constantFrom("a", "b", "Z", "1", "7", ".", "+"), minLength: 1, maxLength: 6 });
    const toRegExp = (text: string) =>
      text.replaceAll(/\[[^\]]+\]\+?|./g, (part) =>
        part.length > 1 ? part : ({ "*": ".*", "?": "." }[part] ?? `\\${part}`),
      );
    fc.assert(
      fc.property(ref, names, (one, text) => {
        fc.pre(!one.includes("**") && patternProblem(one, "ref") === null);
        expect(isRefIn([one], text)).toBe(
          new RegExp(`^(?:${toRegExp(one).replaceAll(/\\([a-z1])/g, "$1")})$`).test(text),
        );
      }),
      { numRuns: 5000 },
    );
  });

  it.each([
    ["v[0-9]+.[0-9]+", "v1.20", true],
    ["v[0-9]+.[0-9]+", "v1.x", false],
    ["v[0-9]", "v12", false],
    ["release/c++", "release/c++", true],
    ["release/c++", "release/ccc", false],
  ])("%j and the ref %j: %s", (one, text, expected) => expect(isRefIn([one], text)).toBe(expected));

  it.each(["v[9-0]", "v[]", "v[^a]", "v[a", "[a-Z]"])("rejects the class in %s", (one) => {
    expect(patternProblem(one, "ref")).toContain("classes such as [0-9] and [0-9]+");
    expect(patternProblem(one, "path")).toBe(null);
  });

  it("takes one step for each name if it is only a prefix", () => {
    const work = { left: 1000 };
    expect(isTouched(["src/**"], ["docs/a", `src/${"a".repeat(10_000)}`], work)).toBe(true);
    expect(work.left).toBe(998);
  });

  it("takes at most as many steps as its characters times those of the name", () => {
    const evil = `${"**a*".repeat(62)}b`;
    expect(evil.length).toBeLessThanOrEqual(PATTERN_LIMITS.characters);
    expect(nameMatcher([evil])(`${"a".repeat(10_000)}ba`)).toBe(false);
  });
});

describe("several patterns", () => {
  it.each([
    [["**", "!docs/**"], "docs/a", false],
    [["**", "!docs/**"], "src/a", true],
    [["**", "!docs/**", "docs/b"], "docs/b", true],
    [["docs/b", "!docs/**"], "docs/b", false],
    [["a"], "b", false],
    [[], "a", false],
  ])("%j on %j: the last match decides: %s", (patterns, text, expected) => {
    expect(nameMatcher(patterns)(text)).toBe(expected);
  });

  it("give the same result as single patterns, tried from the last", () => {
    const signed = fc.tuple(fc.boolean(), pattern).map(([isTaking, one]) => (isTaking ? `!${one}` : one));
    fc.assert(
      fc.property(fc.array(signed, { maxLength: 6 }), name, (patterns, text) => {
        const last = patterns.findLast((one) => picomatch.isMatch(text, one.replace(/^!/, ""), OPTIONS));
        expect(nameMatcher(patterns)(text)).toBe(last !== undefined && !last.startsWith("!"));
      }),
    );
  });
});

describe("a text that is not a pattern", () => {
  it.each([
    ["", "A pattern must not be empty"],
    ["!", "A pattern must not be empty"],
    ["a".repeat(251), "A pattern must have at most 250 characters"],
    ["\ud800", "A pattern must be valid Unicode"],
    ["src/*.{ts,tsx}", "A pattern cannot have lists in braces: write one pattern for each"],
    ["/docs/**", "A pattern must not begin with / or ./: leave it out"],
    ["!./docs", "A pattern must not begin with / or ./: leave it out"],
    ["docs/", "A pattern must not end with /: write /** to match everything below it"],
  ])("%j gets a message that says what to write", (text, problem) => {
    expect(patternProblem(text, "path")).toBe(problem);
    expect(patternProblem(text, "ref")).toBe(problem);
  });

  it.each(["v[0-*", "a b", "refs/heads/main", "a\\b"])(
    "%j is not a pattern for branches, but is one for paths",
    (text) => {
      expect(patternProblem(text, "ref")).not.toBeNull();
      expect(patternProblem(text, "path")).toBeNull();
    },
  );

  it("cannot begin a list with !", () => {
    expect(firstPatternProblem("!docs/**")).toContain("'**'");
    expect(firstPatternProblem("docs/**")).toBeNull();
  });
});
