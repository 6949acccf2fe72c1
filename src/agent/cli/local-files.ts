import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { byteSize, LIMITS } from "../../protocol/limits.ts";
import type { BuildFile } from "../build-files.ts";
import { EXIT, ExitError } from "./exit-codes.ts";

/** Bytes of the largest file that a variable can hold: text as it is, other bytes as base64. */
const MOST_BYTES = LIMITS.valueBytes;

const bytesOf = (path: string): Uint8Array => {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new ExitError(`cannot read ${path} (${(error as NodeJS.ErrnoException).code})`, EXIT.usage);
  }
};

/** Reads the files of a run's variables, by their names. @throws ExitError for one that cannot be read, or is too large */
export const readLocalFiles = (paths: Record<string, string>): BuildFile[] =>
  Object.entries(paths).map(([key, path]) => {
    const bytes = bytesOf(path);
    if (bytes.length > MOST_BYTES)
      throw new ExitError(`${path} is larger than ${byteSize(MOST_BYTES)}: no variable can hold it`, EXIT.usage);
    return { key, name: basename(path), bytes };
  });
