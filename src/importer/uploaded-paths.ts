import { NoEqual } from "./marks.ts";

/*
 * Translates the paths of `actions/upload-artifact` to an artifact's paths here. Two things differ. GitHub names a file
 * from the folder that all paths have in common
 * (https://github.com/actions/upload-artifact#upload-using-multiple-paths-and-exclusions); here the name starts at the
 * folder before the first wildcard of the file's own path. GitHub also omits hidden files
 * (https://github.com/actions/upload-artifact#uploading-hidden-files).
 */

interface UploadedPath {
  /** Its parts, without the slash at a folder's end. */
  parts: string[];
  /** The number of parts before the first wildcard. */
  fixed: number;
  isTaking: boolean;
}

const WILDCARD = /[*?]/;

const readPath = (line: string): UploadedPath => {
  const isTaking = line.startsWith("!");
  const text = isTaking ? line.slice(1) : line;
  if (/[[\]\\]/.test(text)) throw new NoEqual(`the path ${line}`, "artifact");
  const parts = text.split("/").filter((part) => part !== "" && part !== ".");
  const first = parts.findIndex((part) => WILDCARD.test(part));
  return { parts, fixed: first < 0 ? parts.length : first, isTaking };
};

const beginning = ({ parts, fixed }: UploadedPath): string[] => parts.slice(0, fixed);

const isWithin = (inner: string[], outer: string[]): boolean => outer.every((part, index) => inner[index] === part);

/** Returns the folders and files that GitHub searches: none is within another. */
const searchedIn = (paths: UploadedPath[]): string[][] => {
  const all = paths.map(beginning);
  return all.filter(
    (one, index) =>
      !all.some((other, at) => at !== index && isWithin(one, other) && (other.length < one.length || at < index)),
  );
};

const commonOf = ([first = [], ...others]: string[][]): string[] => {
  const differing = first.findIndex((part, index) => others.some((other) => other[index] !== part));
  return differing < 0 ? first : first.slice(0, differing);
};

/** Reports whether the path is a file's, judging by an extension. A folder would get other names here. */
const isOfFile = ({ parts }: UploadedPath): boolean => /[^.*?]\.\w{1,10}$|^\*+\.\w{1,10}$/.test(parts.at(-1) ?? "");

const isLiteral = ({ parts, fixed }: UploadedPath): boolean => fixed === parts.length;

/** Reports whether files are named from this folder here too. */
const isNamedFrom = (path: UploadedPath, folder: string[]): boolean =>
  path.fixed === folder.length || (isLiteral(path) && isOfFile(path) && path.fixed === folder.length + 1);

/**
 * Returns patterns for the same files, named from a folder above. A wildcard right below that folder makes names start
 * there. A second pattern excludes what the wildcard finds deeper down. That is exact only for files, whose depth is
 * known.
 */
const namedFrom = (path: UploadedPath, folder: string[], line: string): string[] => {
  const rest = path.parts.slice(folder.length);
  if (folder.length === 0 || !isOfFile(path) || rest.some((part) => part.includes("**"))) {
    const from = folder.length === 0 ? "the checkout" : folder.join("/");
    throw new NoEqual(
      `${line}, whose file names begin at ${from} on GitHub (write an artifact for each path)`,
      "artifact",
    );
  }
  const below = (...between: string[]) => [...folder, ...between, ...rest].join("/");
  return [below("**"), `!${below("*", "**")}`];
};

/** @throws {NoEqual} */
export const translateUploadedPaths = (lines: string[], keepsHidden: boolean): string[] => {
  const paths = lines.map(readPath);
  const kept = paths.filter(({ isTaking }) => !isTaking);
  const searched = searchedIn(kept);
  const seen = searched.filter((parts) => keepsHidden || !parts.at(-1)?.startsWith("."));
  if (seen.length === 0 && kept.length > 0)
    throw new NoEqual("a hidden file, which GitHub omits too without `include-hidden-files`", "artifact");
  if (seen.length < searched.length) throw new NoEqual("hidden files together with others", "artifact");
  const root = searched.length === 1 ? searched[0]! : commonOf(searched);
  const isAlike = kept.every(
    (path) => isNamedFrom(path, root) || (searched.length === 1 && path.fixed === root.length),
  );
  if (!isAlike && kept.length < paths.length) throw new NoEqual("paths of several folders with exclusions", "artifact");
  // A shallower path excludes nothing from later paths.
  const inOrder = isAlike ? paths : paths.toSorted((a, b) => a.parts.length - b.parts.length);
  const written = inOrder.flatMap((path) => {
    const line = lines[paths.indexOf(path)]!;
    return isAlike || isNamedFrom(path, root) ? [line] : namedFrom(path, root, line);
  });
  const hidden = keepsHidden ? [] : kept.filter((path) => !(isLiteral(path) && isOfFile(path)));
  const folders = searchedIn(hidden).map((parts) => ["!", ...parts.flatMap((part) => [part, "/"]), "**/.**"].join(""));
  return [...written, ...new Set(folders)];
};
