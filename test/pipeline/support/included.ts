import { formatMistake } from "../../../src/pipeline/mistake.ts";
import { KnownFiles, type ToInclude } from "../../../src/pipeline/parse/included-files.ts";
import { parsePlan } from "../../../src/pipeline/parse/parse.ts";
import type { Plan } from "../../../src/pipeline/parse/plan.ts";

/** Returns files by their paths, as a commit has them. */
export const filesOf = (files: Record<string, string>): KnownFiles =>
  new KnownFiles(
    new Map(Object.entries(files).map(([path, text]): [string, ToInclude] => [path, { text }])),
    (path) => ({ problem: `no file ${path}` }),
  );

export const planWith = (text: string, files: Record<string, string>): Plan => {
  const { plan, mistakes } = parsePlan(text, filesOf(files).find);
  if (!plan) throw new Error(JSON.stringify(mistakes));
  return plan;
};

/** Returns mistakes as people read them, in a pipeline file called `p`. */
export const toldWith = (text: string, files: Record<string, string> = {}): string[] =>
  (parsePlan(text, filesOf(files).find).mistakes ?? []).map((mistake) => formatMistake("p", mistake));
