import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

export const ROOT = join(import.meta.dirname, "../..");
export const DIST = join(ROOT, "dist");
/** The folder of static files that are served beside the Worker. */
export const SERVED = join(DIST, "assets");

/** Replaces the file at once, because tests build at the same time. A file with the same bytes is not touched. */
export const writeIfChanged = (path: string, bytes: Uint8Array | string): void => {
  const content = Buffer.from(bytes);
  if (existsSync(path) && readFileSync(path).equals(content)) return;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.${process.pid}`, content);
  renameSync(`${path}.${process.pid}`, path);
};
