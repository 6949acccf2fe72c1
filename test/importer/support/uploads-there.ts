import { readdirSync } from "node:fs";
import { dirname, relative } from "node:path";

/*
 * Which files `actions/upload-artifact` takes, and by which names, as its README says
 * (https://github.com/actions/upload-artifact#usage): a path is a file, a folder with all in it or a pattern; one with `!`
 * takes away; hidden files are left out; and names begin below the one path, or below what several have in common.
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

/** The path up to its first wildcard: there the search begins. */
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
