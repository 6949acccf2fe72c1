import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { LineCounter, parseDocument } from "yaml";
import { parseExpression } from "../../../../src/domain/expression/parse.ts";
import { parsePlan } from "../../../../src/domain/plan/parse.ts";
import { referencesOf } from "../../../../src/domain/plan/references.ts";

/** Ways to read a file: as a plan, by the YAML library alone, or each alias anew as if nothing were kept. */
const WAYS = {
  plan: (text: string) => parsePlan(text),
  yaml: (text: string) =>
    parseDocument(text, { lineCounter: new LineCounter(), prettyErrors: false, logLevel: "error" }),
  "each alias anew": (text: string) => {
    const block = /\|\n(.*?)^steps:/ms.exec(text)![1]!;
    return text
      .match(/\*r/g)!
      .map(() => referencesOf(block, "bash").expressions.map((one) => parseExpression(one.expression)));
  },
};
export type Way = keyof typeof WAYS;

/**
 * Milliseconds a file took to read in a process with a heap of so many megabytes; null when that did not do. Not in a
 * thread: one that runs out of memory may take its process along.
 */
export const readInHeap = async (text: string, way: Way, megabytes: number): Promise<number | null> => {
  const options = ["--no-warnings", `--max-old-space-size=${megabytes}`, "--max-semi-space-size=1"];
  const child = spawn(process.execPath, [...options, fileURLToPath(import.meta.url), way]);
  child.stderr.resume();
  child.stdin.on("error", () => {});
  child.stdin.end(text);
  let told = "";
  child.stdout.on("data", (chunk: Buffer) => {
    told += chunk;
  });
  const [code, signal] = (await once(child, "close")) as [number | null, string | null];
  if (code === 0) return Number(told);
  if (signal !== null || code === 134) return null;
  throw new Error(`Reading ended with ${code}`);
};

if (import.meta.main) {
  const text = readFileSync(0, "utf8");
  const begun = performance.now();
  WAYS[process.argv[2] as Way](text);
  process.stdout.write(String(performance.now() - begun));
}
