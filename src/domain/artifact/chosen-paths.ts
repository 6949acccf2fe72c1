import { nameMatcher, patternProblem } from "../patterns.ts";

/*
 * Which files of a checkout a list of paths means. A path is a file, a folder with all that is in it, or a pattern;
 * one that begins with `!` takes away from those before it, and the last that matches decides.
 */

/** Without `./` at its beginning; all that is below a folder that is written with `/` at its end. */
const plain = (path: string): string => {
  const short = path.replace(/^(?:\.\/)+/, "").replace(/\/{2,}/g, "/");
  if (short === "." || short === "") return "**";
  return short.endsWith("/") ? `${short}**` : short;
};

const isTakingAway = (path: string): boolean => path.startsWith("!");
const withoutSign = (path: string): string => plain(isTakingAway(path) ? path.slice(1) : path);

/** Why a text is no path of files, as a sentence; null when it is one. */
export const artifactPathProblem = (path: string): string | null => {
  if (path === "" || path === "!") return "A path must not be empty";
  if (path.includes("${{")) return "A path is plain text: nothing is put in place of ${{ }} here";
  const text = withoutSign(path);
  if (text.startsWith("/") || text.startsWith("~")) return "A path is relative to the checkout";
  if (text.split("/").includes("..")) return "A path is inside the checkout: it must not have .. in it";
  return patternProblem(text, "path");
};

const WILDCARD = /[*?]/;

/** The folders before the first part with a wildcard; all parts of a path without one. */
const fixedParts = (path: string): string[] => {
  const parts = path.split("/");
  const first = parts.findIndex((part) => WILDCARD.test(part));
  return first < 0 ? parts : parts.slice(0, first);
};

/** The name below what is fixed: a file that is named in full keeps its last part. */
const nameBelow = (fixed: string[], path: string): string => {
  const parts = path.split("/");
  return parts.slice(Math.min(fixed.length, parts.length - 1)).join("/");
};

const NO_LIMIT = { left: Number.POSITIVE_INFINITY };

export interface ChosenPaths {
  /** Where files may be: the parts of files and folders, none of them within another. */
  places: string[][];
  /** The name that a file or folder at this path is kept by; null where the paths do not mean it. */
  nameOf(path: string): string | null;
  /** Whether it stands in a path as it is: as the path, or before the first wildcard. */
  isNamed(path: string): boolean;
}

/** The same files, each by its whole path. */
export const byWholePaths = ({ nameOf, ...chosen }: ChosenPaths): ChosenPaths => ({
  ...chosen,
  nameOf: (path) => (nameOf(path) === null ? null : path),
});

const isWithin = (inner: string[], outer: string[]): boolean => outer.every((part, index) => inner[index] === part);

/** Each path must have been checked with `artifactPathProblem`. Only the file helper asks: a cancel ends what is too long. */
export const choosePaths = (paths: readonly string[]): ChosenPaths => {
  const read = paths.map((path) => {
    const text = withoutSign(path);
    const isMatch = nameMatcher(text.endsWith("**") ? [text] : [text, `${text}/**`], NO_LIMIT);
    return { isTaking: isTakingAway(path), isMatch, fixed: fixedParts(text) };
  });
  const all = read.filter(({ isTaking }) => !isTaking).map(({ fixed }) => fixed);
  const places = all.filter(
    (place, index) =>
      !all.some((other, at) => at !== index && isWithin(place, other) && (other.length < place.length || at < index)),
  );
  return {
    places,
    isNamed: (path) => all.some((place) => place.join("/") === path),
    nameOf(path) {
      const last = read.findLast(({ isMatch }) => isMatch(path));
      return last && !last.isTaking ? nameBelow(last.fixed, path) : null;
    },
  };
};

const HOME = /^~\/+/;

/** What nobody else's build may find: keys of people, and what an agent proves itself with. */
const NEVER = new Set([".ssh", ".gnupg", ".aws", ".kube", ".netrc", ".git-credentials", ".millrace"]);

/** Why a path cannot be cached, as a sentence; null when it can. */
export const cachePathProblem = (path: string): string | null => {
  if (path === "~" || path === "~/") return "Name a folder below ~/: not all of it is cached";
  if (!HOME.test(path)) {
    if (path.startsWith("/")) return "A path is relative to the checkout, or begins with ~/";
    return path.startsWith("!") ? "A path of a cache cannot be taken away with !" : artifactPathProblem(path);
  }
  const below = path.replace(HOME, "").replace(/^(?:\.\/+)+/, "");
  const [first = ""] = below.split("/");
  if (/[*?[]/.test(first)) return "The first folder below ~/ must be named in full";
  if (first === "" || first === "." || first.startsWith("!")) return "Name a folder below ~/: not all of it is cached";
  if (NEVER.has(first.toLowerCase())) return `~/${first} is never cached: it is there for secrets`;
  return artifactPathProblem(below);
};

/** The paths in the checkout, and those below HOME, each relative to it. */
export const cachePlaces = (paths: readonly string[]): { checkout: string[]; home: string[] } => ({
  checkout: paths.filter((path) => !HOME.test(path)),
  home: paths.filter((path) => HOME.test(path)).map((path) => path.replace(HOME, "").replace(/^(?:\.\/+)+/, "")),
});
