import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

export const ROOT = join(import.meta.dirname, "../..");
export const DIST = join(ROOT, "dist");
/** The folder of static files that the platform serves alongside the Worker. */
export const SERVED = join(DIST, "assets");

/** Replaces the file atomically, because tests build at the same time. Skips a file with the same bytes. */
export const writeIfChanged = (path: string, bytes: Uint8Array | string): void => {
  const content = Buffer.from(bytes);
  if (existsSync(path) && readFileSync(path).equals(content)) return;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.${process.pid}`, content);
  renameSync(`${path}.${process.pid}`, path);
};
