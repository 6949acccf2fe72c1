import { NoEqual } from "./marks.ts";

/*
 * The paths of `actions/upload-artifact`, as those of an artifact here. Two things differ. There a file is named from the
 * folder that all paths have in common (https://github.com/actions/upload-artifact#upload-using-multiple-paths-and-exclusions),
 * and here from the folder before the first wildcard of its own path. And there hidden files are left out
 * (https://github.com/actions/upload-artifact#uploading-hidden-files).
 */

interface UploadedPath {
  /** Its parts, without those of a folder's end. */
  parts: string[];
  /** How many of them stand before the first wildcard. */
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

/** The folders and files that are searched there: none of them within another. */
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

/** A name with an ending is taken for that of a file: a folder would be named otherwise here. */
const isOfFile = ({ parts }: UploadedPath): boolean => /[^.*?]\.\w{1,10}$|^\*+\.\w{1,10}$/.test(parts.at(-1) ?? "");

const isLiteral = ({ parts, fixed }: UploadedPath): boolean => fixed === parts.length;

/** Whether its files are named from this folder here too. */
const isNamedFrom = (path: UploadedPath, folder: string[]): boolean =>
  path.fixed === folder.length || (isLiteral(path) && isOfFile(path) && path.fixed === folder.length + 1);

/**
 * The same files, named from a folder above. A wildcard right below that folder makes it the one that names are counted
 * from; what the wildcard finds deeper down is taken away again. That is exact for files alone, whose depth is known.
 */
const namedFrom = (path: UploadedPath, folder: string[], line: string): string[] => {
  const rest = path.parts.slice(folder.length);
  if (folder.length === 0 || !isOfFile(path) || rest.some((part) => part.includes("**"))) {
    const from = folder.length === 0 ? "the checkout" : folder.join("/");
    throw new NoEqual(
      `${line}, whose files are named from ${from} there (write an artifact for each path)`,
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
    throw new NoEqual("a hidden file, which is left out there too without `include-hidden-files`", "artifact");
  if (seen.length < searched.length) throw new NoEqual("hidden files beside others", "artifact");
  const root = searched.length === 1 ? searched[0]! : commonOf(searched);
  const isAlike = kept.every(
    (path) => isNamedFrom(path, root) || (searched.length === 1 && path.fixed === root.length),
  );
  if (!isAlike && kept.length < paths.length) throw new NoEqual("paths of several folders with exclusions", "artifact");
  // A path that lies less deep takes away nothing that comes after it.
  const inOrder = isAlike ? paths : paths.toSorted((a, b) => a.parts.length - b.parts.length);
  const written = inOrder.flatMap((path) => {
    const line = lines[paths.indexOf(path)]!;
    return isAlike || isNamedFrom(path, root) ? [line] : namedFrom(path, root, line);
  });
  const hidden = keepsHidden ? [] : kept.filter((path) => !(isLiteral(path) && isOfFile(path)));
  const folders = searchedIn(hidden).map((parts) => ["!", ...parts.flatMap((part) => [part, "/"]), "**/.**"].join(""));
  return [...written, ...new Set(folders)];
};
