import { spend, type Work } from "./work.ts";

/** Limits of one list of patterns. */
export const PATTERN_LIMITS = { patterns: 100, characters: 250 } as const;

/** The kind of names that a list matches: branches and tags, or paths of files. */
export type NameKind = "ref" | "path";

/** Characters that no name of a branch or tag contains. A pattern with such a character would never match. */
const NOT_IN_A_REF = /[[\]\\^~: \x00-\x1f\x7f]/;

/** A class of characters, which may repeat. Only patterns for refs have it: in a path, brackets are characters. */
const CLASS = /\[(?:\d-\d|[a-z]-[a-z]|[A-Z]-[A-Z]|[A-Za-z0-9])+\]\+?/g;

type Range = [from: string, to: string];

const rangesIn = (text: string): Range[] => (text.match(/\w-\w|\w/g) ?? []).map((part) => [part[0]!, part.at(-1)!]);

/** Returns the pattern without its classes, except for those with a range that is the wrong way round. */
const withoutClasses = (pattern: string): string =>
  pattern.replaceAll(CLASS, (text) => (rangesIn(text).every(([from, to]) => from <= to) ? "" : text));

/** Returns why a text is not a valid pattern, as a sentence that says what to write; null if it is valid. */
export const patternProblem = (pattern: string, kind: NameKind): string | null => {
  const name = pattern.startsWith("!") ? pattern.slice(1) : pattern;
  if (name === "") return "A pattern must not be empty";
  if (pattern.length > PATTERN_LIMITS.characters)
    return `A pattern must have at most ${PATTERN_LIMITS.characters} characters`;
  if (!pattern.isWellFormed()) return "A pattern must be valid Unicode";
  if (/\{[^}]*,[^}]*\}/.test(name)) return "A pattern cannot have lists in braces: write one pattern for each";
  if (name.startsWith("/") || name.startsWith("./")) return "A pattern must not begin with / or ./: leave it out";
  if (name.endsWith("/")) return "A pattern must not end with /: write /** to match everything below it";
  if (kind === "path") return null;
  if (name.startsWith("refs/")) return "A pattern matches the name alone: leave out refs/heads/ or refs/tags/";
  if (NOT_IN_A_REF.test(withoutClasses(name)))
    return "The name of a branch or tag cannot have a space or any of [ ] \\ ^ ~ : in it. A pattern can have *, **, ? and classes such as [0-9] and [0-9]+";
  return null;
};

/** Returns why a pattern cannot be the first of a list; null if it can. */
export const firstPatternProblem = (pattern: string): string | null =>
  pattern.startsWith("!") ? "A pattern with ! excludes matches of earlier ones: write '**' first" : null;

/** One character, a class, `?`, `*`, `**`, or a mark that the next two tokens are optional together. */
type Token = { character: string } | { ranges: Range[]; repeats: boolean } | "one" | "within" | "across" | "optional";

const SIGNS = {
  path: /(?<=^|\/)\*{2,}\/|\*{2,}|./gsu,
  ref: new RegExp(`(?<=^|/)\\*{2,}/|\\*{2,}|${CLASS.source}|.`, "gsu"),
};

const tokenize = (pattern: string, kind: NameKind): Token[] =>
  (pattern.match(SIGNS[kind]) ?? []).flatMap((sign): Token[] => {
    if (sign.length > 2 && sign.startsWith("[")) return [{ ranges: rangesIn(sign), repeats: sign.endsWith("+") }];
    if (sign === "*") return ["within"];
    if (sign === "?") return ["one"];
    if (!sign.startsWith("**")) return [{ character: sign }];
    return sign.endsWith("/") ? ["optional", "across", { character: "/" }] : ["across"];
  });

/** Adds a token's index, and the indexes that can be reached from it without a character. */
const reach = (tokens: Token[], index: number, reached: Set<number>): void => {
  if (reached.has(index)) return;
  reached.add(index);
  const token = tokens[index];
  if (token === "within" || token === "across" || token === "optional") reach(tokens, index + 1, reached);
  if (token === "optional") reach(tokens, index + 3, reached);
};

const accepts = (token: Extract<Token, object>, character: string): boolean =>
  "ranges" in token
    ? token.ranges.some(([from, to]) => character >= from && character <= to)
    : token.character === character;

/** Follows all ways through the tokens at once, so that the time is at most characters times tokens. */
const matches = (tokens: Token[], text: string): boolean => {
  let reached = new Set<number>();
  reach(tokens, 0, reached);
  for (const character of text) {
    const next = new Set<number>();
    for (const index of reached) {
      const token = tokens[index];
      if (token === "across" || (token === "within" && character !== "/")) reach(tokens, index, next);
      else if (token === "one" && character !== "/") reach(tokens, index + 1, next);
      else if (typeof token === "object" && accepts(token, character)) {
        reach(tokens, index + 1, next);
        if ("ranges" in token && token.repeats) reach(tokens, index, next);
      }
    }
    if (next.size === 0) return false;
    reached = next;
  }
  return reached.has(tokens.length);
};

/** Returns the texts between the wildcards. A name that lacks them in this order cannot match. */
const splitAtSigns = (pattern: string, kind: NameKind): string[] =>
  (kind === "ref" ? pattern.replaceAll(CLASS, "?") : pattern)
    .split(/(?<=^|\/)\*{2,}\/|[*?]+/)
    .filter((text) => text !== "");

const hasInOrder = (texts: string[], name: string): boolean => {
  let from = 0;
  return texts.every((text) => {
    const at = name.indexOf(text, from);
    from = at + text.length;
    return at >= 0;
  });
};

/**
 * The maximum number of steps for comparing all names with one list of patterns. One step compares one character with
 * one token. This many steps take half a second.
 */
export const PATTERN_WORK = 5_000_000;

/** Returns a test for names by one pattern without `!`. It compares the pattern's beginning as text. */
const patternMatcher = (pattern: string, work: Work, kind: NameKind): ((name: string) => boolean) => {
  const all = tokenize(pattern, kind);
  const first = all.findIndex((token) => typeof token !== "object" || "ranges" in token);
  const tokens = first < 0 ? [] : all.slice(first);
  const head = all
    .slice(0, all.length - tokens.length)
    .map((token) => (typeof token === "object" && "character" in token ? token.character : ""));
  const begin = head.join("");
  const texts = splitAtSigns(pattern, kind);
  return (name) => {
    if (!spend(work, 1) || !name.startsWith(begin) || !hasInOrder(texts, name)) return false;
    if (tokens.length === 1 && tokens[0] === "across") return true;
    const rest = name.slice(begin.length);
    return spend(work, rest.length * tokens.length) && matches(tokens, rest);
  };
};

/**
 * Returns a test for names: the last pattern that matches decides. `*` matches any characters except `/`, `**` any at
 * all, `?` one character except `/`. A whole part `**` before a `/` may match no folder at all. In patterns for
 * refs, `[0-9]` matches one of these characters and `[0-9]+` one or more. When `work` runs out, no name matches.
 */
export const nameMatcher = (
  patterns: readonly string[],
  work: Work = { left: PATTERN_WORK },
  kind: NameKind = "path",
): ((name: string) => boolean) => {
  const read = patterns.map((pattern) => {
    const isTaking = pattern.startsWith("!");
    return { isTaking, isMatch: patternMatcher(isTaking ? pattern.slice(1) : pattern, work, kind) };
  });
  return (name) => read.findLast(({ isMatch }) => isMatch(name))?.isTaking === false;
};

/**
 * Reports whether a file matches. Returns null if the answer is unknown: without a list of files, or when `work` runs
 * out.
 */
export const isTouched = (
  patterns: readonly string[],
  files: readonly string[] | null,
  work: Work = { left: PATTERN_WORK },
): boolean | null => {
  const isFound = files?.some(nameMatcher(patterns, work)) ?? null;
  return work.left < 0 ? null : isFound;
};

/** Reports whether a branch or tag matches. */
export const isRefIn = (patterns: readonly string[], name: string): boolean =>
  nameMatcher(patterns, undefined, "ref")(name);
