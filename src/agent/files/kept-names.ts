import { sameName } from "../../domain/artifact/file-list.ts";

/** The first name that cannot stand beside the ones before it: as good as equal, or a file where those need a folder. */
export const clashIn = (paths: readonly string[]): string | null => {
  const files = new Set<string>();
  const folders = new Set<string>();
  for (const path of paths) {
    const name = sameName(path);
    const parents = name
      .split("/")
      .slice(0, -1)
      .map((_, index, parts) => parts.slice(0, index + 1).join("/"));
    if (files.has(name) || folders.has(name) || parents.some((parent) => files.has(parent))) return path;
    files.add(name);
    for (const parent of parents) folders.add(parent);
  }
  return null;
};

/** A name as a log may have it. */
export const shownPath = (path: string): string => JSON.stringify(path).slice(1, -1);

/** Folders that are only good as a whole, with their links and modes: each is kept as one tar. */
const BUNDLE = /\.(?:app|framework|xcframework|xcarchive|xcresult|dSYM)$/;
export const isBundle = (name: string): boolean => BUNDLE.test(name);
/** Whether a file is the tar of such a folder. */
export const isTarOfBundle = (path: string): boolean => path.endsWith(".tar") && isBundle(path.slice(0, -4));
