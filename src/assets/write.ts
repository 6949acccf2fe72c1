import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

export const ROOT = join(import.meta.dirname, "../..");
export const DIST = join(ROOT, "dist");
/** The folder that is served as it is, beside the Worker. */
export const SERVED = join(DIST, "assets");

/** Whoever builds at the same moment writes the same bytes: a file that is right already is left alone. */
export const write = (path: string, bytes: Uint8Array | string): void => {
  const wanted = Buffer.from(bytes);
  if (existsSync(path) && readFileSync(path).equals(wanted)) return;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.${process.pid}`, wanted);
  renameSync(`${path}.${process.pid}`, path);
};
