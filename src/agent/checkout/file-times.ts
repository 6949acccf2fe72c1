import { lstatSync, lutimesSync } from "node:fs";

/** The time of files of which it is not known when they changed, in seconds: 2000-01-01. */
export const BEFORE = 946_684_800;

/** What archives and file systems can keep: from 1980 on. A time to come would make tools wait for it. */
const OLDEST = 315_532_800;

const bytesOf = (path: string): Buffer => Buffer.from(path, "latin1");

/**
 * Sets the times of files below a folder, along no link: paths and names come from the repository. `paths` and the keys
 * of `seconds` are bytes as latin1.
 */
export const fileTimes = (root: string, paths: readonly string[], seconds: ReadonlyMap<string, number>): void => {
  const base = Buffer.from(`${root}/`).toString("latin1");
  const now = Math.floor(Date.now() / 1000);
  const folders = new Map<string, boolean>([["", true]]);
  const isFolder = (path: string): boolean => {
    const known = folders.get(path);
    if (known !== undefined) return known;
    const parent = path.slice(0, Math.max(0, path.lastIndexOf("/")));
    const is = isFolder(parent) && (stat(base + path)?.isDirectory() ?? false);
    folders.set(path, is);
    return is;
  };
  for (const path of paths) {
    if (!isFolder(path.slice(0, Math.max(0, path.lastIndexOf("/"))))) continue;
    const found = stat(base + path);
    if (!found || found.isDirectory()) continue;
    const time = Math.min(Math.max(seconds.get(path) ?? BEFORE, OLDEST), now);
    lutimesSync(bytesOf(base + path), time, time);
  }
};

const stat = (path: string) => lstatSync(bytesOf(path), { throwIfNoEntry: false });
