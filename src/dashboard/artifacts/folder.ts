import type { ArtifactFile } from "../../protocol/artifact.ts";

/** What a folder of an artifact has directly in it. Names end where the next folder begins. */
export interface Folder {
  folders: { name: string; path: string; files: number; bytes: number }[];
  files: { name: string; path: string; bytes: number }[];
}

/** The folder at this path; the whole artifact where it is empty. */
export const folderAt = (list: readonly ArtifactFile[], path: string): Folder => {
  const prefix = path === "" ? "" : `${path}/`;
  const folders = new Map<string, Folder["folders"][number]>();
  const files: Folder["files"] = [];
  for (const { path: whole, size } of list) {
    if (!whole.startsWith(prefix)) continue;
    const [name = "", ...below] = whole.slice(prefix.length).split("/");
    if (below.length === 0) {
      files.push({ name, path: whole, bytes: size });
      continue;
    }
    const known = folders.get(name) ?? { name, path: prefix + name, files: 0, bytes: 0 };
    folders.set(name, { ...known, files: known.files + 1, bytes: known.bytes + size });
  }
  return { folders: [...folders.values()], files };
};

/** The page that a report opens with: the `index.html` that lies highest; undefined where there is none. */
export const reportOf = (list: readonly ArtifactFile[]): string | undefined =>
  list
    .map(({ path }) => path)
    .filter((path) => path === "index.html" || path.endsWith("/index.html"))
    .sort((one, other) => one.split("/").length - other.split("/").length || (one < other ? -1 : 1))[0];
