import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

export const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Paths of the files below `folder` that contain any of the texts, also binary ones such as databases. */
export const filesWith = (folder: string, texts: string[]): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((path) => join(folder, path))
    .filter((path) => statSync(path).isFile())
    .filter((path) => {
      const bytes = readFileSync(path);
      return texts.some((text) => bytes.includes(text));
    });
