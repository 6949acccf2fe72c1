import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

export const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Lists the files below `folder` that contain any of the texts, including binary ones such as databases. */
export const filesWith = (folder: string, texts: string[]): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((path) => join(folder, path))
    // SQLite removes the files beside a database when it closes it.
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile())
    .filter((path) => {
      const bytes = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
      return texts.some((text) => bytes.includes(text));
    });
