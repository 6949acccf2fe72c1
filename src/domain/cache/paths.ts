import { artifactPathProblem } from "../artifact/chosen-paths.ts";

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
