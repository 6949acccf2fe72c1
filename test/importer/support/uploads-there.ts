import { readdirSync } from "node:fs";
import { dirname, relative } from "node:path";

/*
 * The files that `actions/upload-artifact` uploads and their names, by its README
 * (https://github.com/actions/upload-artifact#usage). A path is a file, a whole folder or a pattern. A path with `!`
 * excludes files. The action skips hidden files. Names are relative to the only path, or to the paths' common folder.
 */

const toRegExp = (pattern: string): RegExp => {
  const signs = pattern.replaceAll(/\*\*\/|\*\*|\*|\?|[.+^${}()|[\]\\]/g, (sign) => {
    if (sign === "**/") return "(?:.*/)?";
    if (sign === "**") return ".*";
    if (sign === "*") return "[^/]*";
    return sign === "?" ? "[^/]" : `\\${sign}`;
  });
  return new RegExp(`^${signs}(?:/.*)?$`);
};

/** Returns the path up to its first wildcard. The search begins there. */
const searchedFrom = (pattern: string): string => {
  const parts = pattern.split("/");
  const first = parts.findIndex((part) => /[*?]/.test(part));
  return parts.slice(0, first < 0 ? parts.length : first).join("/");
};

const commonOf = (paths: string[]): string => {
  const [first = [], ...others] = paths.map((path) => path.split("/"));
  const common = first.filter((_, index) =>
    others.every((other) => other.slice(0, index + 1).join("/") === first.slice(0, index + 1).join("/")),
  );
  return common.join("/");
};

/** @returns each file, and its name in the artifact */
export const filesUploadedFrom = (
  folder: string,
  path: string,
  keepsHidden: boolean,
): [file: string, name: string][] => {
  const lines = path.split("\n").map((line) => line.trim().replace(/^\.\//, ""));
  const patterns = lines
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => ({ isTaking: line.startsWith("!"), text: line.replace(/^!/, "").replace(/\/$/, "") }));
  const searched = patterns.filter(({ isTaking }) => !isTaking).map(({ text }) => searchedFrom(text));
  const roots = [...new Set(searched)].filter(
    (one) => !searched.some((other) => other !== one && `${one}/`.startsWith(`${other}/`)),
  );
  const all = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, `${entry.parentPath}/${entry.name}`));
  const isHidden = (file: string) => {
    const root = roots.find((one) => one === "" || file === one || file.startsWith(`${one}/`)) ?? "";
    return file
      .slice(dirname(root) === "." ? 0 : dirname(root).length + 1)
      .split("/")
      .some((part) => part.startsWith("."));
  };
  const files = all.filter((file) => {
    const last = patterns.findLast(({ text }) => toRegExp(text).test(file));
    return last !== undefined && !last.isTaking && (keepsHidden || !isHidden(file));
  });
  const root =
    roots.length > 1
      ? commonOf(roots)
      : files.length === 1 && files[0] === roots[0]
        ? dirname(roots[0]!)
        : (roots[0] ?? "");
  return files.map((file) => [file, root === "" || root === "." ? file : file.slice(root.length + 1)]);
};
