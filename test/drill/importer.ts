import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { importerProgram } from "../../src/assets/programs.ts";
import type * as Importer from "../../src/importer/main.ts";
import { MARKS, type MarkKind } from "../../src/importer/marks.ts";
import { parseFile } from "../../src/pipeline/parse/parse.ts";

/** The workflow in a file, which may have documents for other programs before and after it. */
const workflowIn = (text: string): string => {
  const documents = text.split(/^---[ \t]*$/m);
  return documents.find((one) => /^["']?(?:on|jobs)["']?[ \t]*:/m.test(one)) ?? text;
};

type Outcome = "clean" | "marked" | "refused" | "wrong";

/** Whether none crashes the importer, and what it prints of each is a file without mistakes. */
export const drill = async ({ folder }: { folder?: string }): Promise<boolean> => {
  if (folder === undefined) {
    console.log("--folder DIR names the folder whose workflows are imported");
    return false;
  }
  const place = mkdtempSync(join(tmpdir(), "millrace-importer-"));
  writeFileSync(join(place, "importer.mjs"), (await importerProgram()).text);
  const { importWorkflow }: typeof Importer = await import(pathToFileURL(join(place, "importer.mjs")).href);
  rmSync(place, { recursive: true });
  const outcomes: Record<Outcome, number> = { clean: 0, marked: 0, refused: 0, wrong: 0 };
  const kinds = new Map<MarkKind, number>();
  const refusals = new Map<string, number>();
  const more = <Key>(counts: Map<Key, number>, key: Key) => counts.set(key, (counts.get(key) ?? 0) + 1);
  for (const file of globSync("**/*.{yml,yaml}", { cwd: folder }).sort()) {
    try {
      const {
        text,
        marks = [],
        refusal,
      } = await importWorkflow(workflowIn(readFileSync(join(folder, file), "utf8")), file);
      const [mistake] = text === undefined ? [] : (parseFile(text).mistakes ?? []);
      if (mistake) throw new Error(`its translation has a mistake: ${mistake.message}`);
      outcomes[refusal !== undefined ? "refused" : marks.length > 0 ? "marked" : "clean"]++;
      if (refusal !== undefined) more(refusals, refusal.split(/[:(]/)[0]!);
      for (const { kind } of marks) more(kinds, kind);
    } catch (error) {
      outcomes.wrong++;
      console.log(`${file}: ${(error as Error).stack}`);
    }
  }
  const sorted = <Key>(counts: Map<Key, number>) => [...counts].sort((a, b) => b[1] - a[1]);
  console.log(
    Object.entries(outcomes)
      .map(([outcome, count]) => `${outcome} ${count}`)
      .join(", "),
  );
  for (const [kind, count] of sorted(kinds)) console.log(`  marked ${count} ${kind}: ${MARKS[kind]}`);
  for (const [refusal, count] of sorted(refusals)) console.log(`  refused ${count}: ${refusal}`);
  return outcomes.wrong === 0 && outcomes.clean + outcomes.marked + outcomes.refused > 0;
};
