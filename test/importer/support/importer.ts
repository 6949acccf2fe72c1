import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "vitest";
import { importerProgram } from "../../../src/assets/programs.ts";
import type * as Importer from "../../../src/importer/main.ts";
import { parseFile } from "../../../src/pipeline/parse/parse.ts";

/** Loads the importer as users get it, from one file. */
export const deliveredImporter = async (): Promise<typeof Importer> => {
  const folder = mkdtempSync(join(tmpdir(), "millrace-importer-"));
  try {
    const file = join(folder, "importer.mjs");
    writeFileSync(file, (await importerProgram()).text);
    return await import(/* @vite-ignore */ pathToFileURL(file).href);
  } finally {
    rmSync(folder, { recursive: true });
  }
};

/** Returns the mistakes that `check` finds in a pipeline file. */
export const mistakesIn = (text: string): string[] => (parseFile(text).mistakes ?? []).map(({ message }) => message);

export interface Translated {
  text: string;
  kinds: string[];
}

/** Translates a workflow. The importer must accept it, and the translation must have no mistakes. */
export const translate = async (
  { importWorkflow }: typeof Importer,
  workflow: string,
  files?: Record<string, string>,
): Promise<Translated> => {
  const made = await importWorkflow(workflow, "ci.yml", files && ((path) => files[path]));
  expect(made.refusal).toBeUndefined();
  expect(mistakesIn(made.text ?? "")).toEqual([]);
  return { text: made.text ?? "", kinds: (made.marks ?? []).map(({ kind }) => kind) };
};
