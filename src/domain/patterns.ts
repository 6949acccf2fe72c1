import { spend, type Work } from "./work.ts";

/** Limits of one list of patterns. */
export const PATTERN_LIMITS = { patterns: 100, characters: 250 } as const;

/** What the patterns of a list are compared with: names of branches and tags, or paths of files. */
export type NameKind = "ref" | "path";

/** What no branch or tag can have in its name: a pattern with it would never match. */
const NOT_IN_A_REF = /[[\]\\^~: \x00-\x1f\x7f]/;

/** Why a text is no pattern, as a sentence that says what to write; null when it is one. */
export const patternProblem = (pattern: string, kind: NameKind): string | null => {
  const name = pattern.startsWith("!") ? pattern.slice(1) : pattern;
  if (name === "") return "A pattern must not be empty";
  if (pattern.length > PATTERN_LIMITS.characters)
    return `A pattern must have at most ${PATTERN_LIMITS.characters} characters`;
  if (!pattern.isWellFormed()) return "A pattern must be valid Unicode";
  if (/\{[^}]*,[^}]*\}/.test(name)) return "A pattern has no lists in braces: write one pattern for each";
  if (name.startsWith("/") || name.startsWith("./")) return "A pattern must not begin with / or ./: leave it out";
  if (name.endsWith("/")) return "A pattern must not end with /: write /** for all below it";
  if (kind === "path") return null;
  if (name.startsWith("refs/")) return "A pattern is for the name alone: leave out refs/heads/ or refs/tags/";
  if (NOT_IN_A_REF.test(name))
    return "No name of a branch or tag has a space or any of [ ] \\ ^ ~ : in it: a pattern has *, ** and ?";
  return null;
};

/** Why a pattern may not be the first of a list; null when it may. */
export const firstPatternProblem = (pattern: string): string | null =>
  pattern.startsWith("!") ? "A pattern with ! takes away from those before it: write '**' as the first" : null;

/** One character, `?`, `*`, `**`, or a mark that the next two tokens may be left out together. */
type Token = { character: string } | "one" | "within" | "across" | "optional";

const SIGNS = /(?<=^|\/)\*{2,}\/|\*{2,}|./gsu;

const tokenize = (pattern: string): Token[] =>
  (pattern.match(SIGNS) ?? []).flatMap((sign): Token[] => {
    if (sign === "*") return ["within"];
    if (sign === "?") return ["one"];
    if (!sign.startsWith("**")) return [{ character: sign }];
    return sign.endsWith("/") ? ["optional", "across", { character: "/" }] : ["across"];
  });

/** Adds a token's index, and those that can be reached from it without a character. */
const reach = (tokens: Token[], index: number, reached: Set<number>): void => {
  if (reached.has(index)) return;
  reached.add(index);
  const token = tokens[index];
  if (token === "within" || token === "across" || token === "optional") reach(tokens, index + 1, reached);
  if (token === "optional") reach(tokens, index + 3, reached);
};

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
      else if (typeof token === "object" && token.character === character) reach(tokens, index + 1, next);
    }
    if (next.size === 0) return false;
    reached = next;
  }
  return reached.has(tokens.length);
};

/** The texts between the signs: a name without all of them, in this order, needs no closer look. */
const splitAtSigns = (pattern: string): string[] =>
  pattern.split(/(?<=^|\/)\*{2,}\/|[*?]+/).filter((text) => text !== "");

const hasInOrder = (texts: string[], name: string): boolean => {
  let from = 0;
  return texts.every((text) => {
    const at = name.indexOf(text, from);
    from = at + text.length;
    return at >= 0;
  });
};

/** Steps, of a character by a token, for the names that one list of patterns is compared with: half a second's worth. */
export const PATTERN_WORK = 5_000_000;

/** A test for names by one pattern without `!`. What it begins with is compared as text. */
const patternMatcher = (pattern: string, work: Work): ((name: string) => boolean) => {
  const all = tokenize(pattern);
  const first = all.findIndex((token) => typeof token !== "object");
  const tokens = first < 0 ? [] : all.slice(first);
  const head = all
    .slice(0, all.length - tokens.length)
    .map((token) => (typeof token === "object" ? token.character : ""));
  const begin = head.join("");
  const texts = splitAtSigns(pattern);
  return (name) => {
    if (!spend(work, 1) || !name.startsWith(begin) || !hasInOrder(texts, name)) return false;
    if (tokens.length === 1 && tokens[0] === "across") return true;
    const rest = name.slice(begin.length);
    return spend(work, rest.length * tokens.length) && matches(tokens, rest);
  };
};

/**
 * A test for names: of the patterns that match, the last one decides. `*` is any characters but `/`, `**` any at all,
 * `?` one that is not `/`. A whole part `**` before a `/` may be no folder at all. Once there is no `work` left no name
 * matches.
 */
export const nameMatcher = (
  patterns: readonly string[],
  work: Work = { left: PATTERN_WORK },
): ((name: string) => boolean) => {
  const read = patterns.map((pattern) => {
    const isTaking = pattern.startsWith("!");
    return { isTaking, isMatch: patternMatcher(isTaking ? pattern.slice(1) : pattern, work) };
  });
  return (name) => read.findLast(({ isMatch }) => isMatch(name))?.isTaking === false;
};

/** Whether a file matches. Null when that is not known: without a list of files, or where it is too much work. */
export const isTouched = (
  patterns: readonly string[],
  files: readonly string[] | null,
  work: Work = { left: PATTERN_WORK },
): boolean | null => {
  const isFound = files?.some(nameMatcher(patterns, work)) ?? null;
  return work.left < 0 ? null : isFound;
};
