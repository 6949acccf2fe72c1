import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT } from "../../src/assets/output-files.ts";
import { importerProgram } from "../../src/assets/programs.ts";
import type * as Importer from "../../src/importer/main.ts";
import { MARKS, type Mark, type MarkKind, minutesOf } from "../../src/importer/marks.ts";
import { parseFile } from "../../src/pipeline/parse/parse.ts";

/** Returns the workflow in a file. Documents for other programs may surround it. */
const workflowIn = (text: string): string => {
  const documents = text.split(/^---[ \t]*$/m);
  return documents.find((one) => /^["']?(?:on|jobs)["']?[ \t]*:/m.test(one)) ?? text;
};

interface Imported {
  file: string;
  marks: readonly Mark[];
}

/**
 * Returns the workflows from test/importer/workflows.txt below the folder, in folders called OWNER+NAME. Without any,
 * returns all workflows.
 */
const filesIn = (folder: string): string[] => {
  const listed = readFileSync(join(ROOT, "test/importer/workflows.txt"), "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => line.split(" "))
    .map(([repository = "", path = ""]) => join(repository.replace("/", "+"), path))
    .filter((file) => existsSync(join(folder, file)));
  return listed.length > 0 ? listed : globSync("**/*.{yml,yaml}", { cwd: folder }).sort();
};

/** Reads other files from a workflow's repository, if the workflow's path is one inside a repository. */
const besideOf = (path: string): ((other: string) => string | undefined) | undefined => {
  const [root, name] = path.split("/.github/workflows/");
  if (name === undefined) return undefined;
  return (other) => {
    const place = join(root!, other);
    return existsSync(place) ? readFileSync(place, "utf8") : undefined;
  };
};

const increment = <Key>(counts: Map<Key, number>, key: Key) => counts.set(key, (counts.get(key) ?? 0) + 1);

const printSorted = <Key>(counts: Map<Key, number>, most: number, print: (key: Key, count: number) => string): void => {
  for (const [key, count] of [...counts].sort((a, b) => b[1] - a[1]).slice(0, most)) console.log(print(key, count));
};

/** Prints how much work people still have to do, by the minutes for each kind of mark. */
const printShares = (all: readonly Imported[], refused: number): void => {
  const total = all.length + refused;
  const share = (name: string, isMeant: (one: Imported) => boolean) => {
    const count = all.filter(isMeant).length;
    console.log(`  ${name}: ${count} of ${total} (${Math.round((100 * count) / total)} %)`);
  };
  share("untouched", ({ marks }) => marks.length === 0);
  share("need only a cache change", ({ marks }) => marks.every(({ kind }) => kind === "cache"));
  share("within ten minutes", ({ marks }) => minutesOf(marks) <= 10);
};

/** Returns the marked construct, without the parts that differ from file to file. */
const constructOf = ({ kind, message }: Mark): string => `${kind}: ${message.split(": ")[0]!.slice(0, 80)}`;

/** Reports whether no workflow crashes the importer, and whether each translation is a file without mistakes. */
export const drill = async ({ folder }: { folder?: string }): Promise<boolean> => {
  if (folder === undefined) {
    console.log("Set --folder DIR to the folder with the workflows to import");
    return false;
  }
  const place = mkdtempSync(join(tmpdir(), "millrace-importer-"));
  writeFileSync(join(place, "importer.mjs"), (await importerProgram()).text);
  const { importWorkflow }: typeof Importer = await import(pathToFileURL(join(place, "importer.mjs")).href);
  rmSync(place, { recursive: true });
  const imported: Imported[] = [];
  const refusals = new Map<string, number>();
  let wrong = 0;
  for (const file of filesIn(folder)) {
    const path = join(folder, file);
    try {
      const { text, marks, refusal } = await importWorkflow(
        workflowIn(readFileSync(path, "utf8")),
        file,
        besideOf(path),
      );
      const [mistake] = text === undefined ? [] : (parseFile(text).mistakes ?? []);
      if (mistake) throw new Error(`The translation has a mistake: ${mistake.message}`);
      if (refusal === undefined) imported.push({ file, marks });
      else increment(refusals, refusal.split(/[:(]/)[0]!);
    } catch (error) {
      wrong++;
      console.log(`${file}: ${(error as Error).stack}`);
    }
  }
  const refused = [...refusals.values()].reduce((sum, count) => sum + count, 0);
  console.log(`translated ${imported.length}, rejected ${refused}, wrong ${wrong}`);
  printShares(imported, refused);
  const kinds = new Map<MarkKind, number>();
  const constructs = new Map<string, number>();
  for (const { marks } of imported) {
    for (const { kind } of marks) increment(kinds, kind);
    for (const one of new Set(marks.map(constructOf))) increment(constructs, one);
  }
  printSorted(kinds, kinds.size, (kind, count) => `  marked ${count} ${kind}: ${MARKS[kind].reason}`);
  printSorted(constructs, 20, (construct, count) => `  in ${count} files: ${construct}`);
  printSorted(refusals, refusals.size, (refusal, count) => `  refused ${count}: ${refusal}`);
  return wrong === 0 && imported.length + refused > 0;
};
