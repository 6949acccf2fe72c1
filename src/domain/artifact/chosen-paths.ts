import { nameMatcher, patternProblem } from "../patterns.ts";

/*
 * Chooses the files of a checkout that a list of paths names. A path is a file, a folder with everything in it, or a
 * pattern. A path that begins with `!` excludes matches of earlier paths. The last match decides.
 */

/**
 * Normalizes a path. Removes `./` at the beginning. A `/` at the end becomes a pattern for everything below the folder.
 */
const plain = (path: string): string => {
  const short = path.replace(/^(?:\.\/)+/, "").replace(/\/{2,}/g, "/");
  if (short === "." || short === "") return "**";
  return short.endsWith("/") ? `${short}**` : short;
};

const isTakingAway = (path: string): boolean => path.startsWith("!");
const withoutSign = (path: string): string => plain(isTakingAway(path) ? path.slice(1) : path);

/** Returns why a text is not a valid path of files, as a sentence; null if it is valid. */
export const artifactPathProblem = (path: string): string | null => {
  if (path === "" || path === "!") return "A path must not be empty";
  if (path.includes("${{")) return "A path is plain text: ${{ }} is not evaluated here";
  const text = withoutSign(path);
  if (text.startsWith("/") || text.startsWith("~")) return "A path is relative to the checkout";
  if (text.split("/").includes("..")) return "A path is inside the checkout: it must not have .. in it";
  return patternProblem(text, "path");
};

const WILDCARD = /[*?]/;

/** Returns the folders before the first part with a wildcard. Returns all parts of a path without a wildcard. */
const fixedParts = (path: string): string[] => {
  const parts = path.split("/");
  const first = parts.findIndex((part) => WILDCARD.test(part));
  return first < 0 ? parts : parts.slice(0, first);
};

/** Returns the name below the fixed part. If a pattern names the file in full, returns the path's last part. */
const nameBelow = (fixed: string[], path: string): string => {
  const parts = path.split("/");
  return parts.slice(Math.min(fixed.length, parts.length - 1)).join("/");
};

const NO_LIMIT = { left: Number.POSITIVE_INFINITY };

export interface ChosenPaths {
  /** The places where files may be: the parts of the paths of files and folders, none of them within another. */
  places: string[][];
  /** Returns the name under which to keep the file or folder at this path; null if the paths do not include it. */
  nameOf(path: string): string | null;
  /** Reports whether the list names this path literally: as a whole path, or before a path's first wildcard. */
  isNamed(path: string): boolean;
}

/** Returns the same files, each named by its full path. */
export const byWholePaths = ({ nameOf, ...chosen }: ChosenPaths): ChosenPaths => ({
  ...chosen,
  nameOf: (path) => (nameOf(path) === null ? null : path),
});

const isWithin = (inner: string[], outer: string[]): boolean => outer.every((part, index) => inner[index] === part);

/**
 * Chooses files by paths, each of which `artifactPathProblem` must have checked. Only the file helper calls this, so a
 * cancel ends a slow call.
 */
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

/** Folders that no other build may find, with people's keys or an agent's credentials. */
const NEVER = new Set([".ssh", ".gnupg", ".aws", ".kube", ".netrc", ".git-credentials", ".millrace"]);

/** Returns why a path cannot be cached, as a sentence; null if it can. */
export const cachePathProblem = (path: string): string | null => {
  if (path === "~" || path === "~/") return "Name a folder below ~/: you cannot cache all of ~/";
  if (!HOME.test(path)) {
    if (path.startsWith("/")) return "A path is relative to the checkout, or begins with ~/";
    return path.startsWith("!") ? "A cache path cannot be excluded with !" : artifactPathProblem(path);
  }
  const below = path.replace(HOME, "").replace(/^(?:\.\/+)+/, "");
  const [first = ""] = below.split("/");
  if (/[*?[]/.test(first)) return "The first folder below ~/ must be named in full";
  if (first === "" || first === "." || first.startsWith("!"))
    return "Name a folder below ~/: you cannot cache all of ~/";
  if (NEVER.has(first.toLowerCase())) return `~/${first} is never cached because it holds secrets`;
  return artifactPathProblem(below);
};

/** Splits the paths into those in the checkout and those below HOME. Each result is relative to its folder. */
export const cachePlaces = (paths: readonly string[]): { checkout: string[]; home: string[] } => ({
  checkout: paths.filter((path) => !HOME.test(path)),
  home: paths.filter((path) => HOME.test(path)).map((path) => path.replace(HOME, "").replace(/^(?:\.\/+)+/, "")),
});
