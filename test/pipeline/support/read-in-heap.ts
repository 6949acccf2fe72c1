import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { LineCounter, parseDocument } from "yaml";
import { parseExpression } from "../../../src/pipeline/expression/parse.ts";
import { parsePlan } from "../../../src/pipeline/parse/parse.ts";
import { replaceExpressions } from "../../../src/pipeline/shell/references.ts";

/**
 * Ways to read a file: as a plan, with the YAML library alone, or with each alias read again as if nothing were cached.
 */
const WAYS = {
  plan: (text: string) => parsePlan(text),
  yaml: (text: string) =>
    parseDocument(text, { lineCounter: new LineCounter(), prettyErrors: false, logLevel: "error" }),
  "each alias again": (text: string) => {
    const block = /\|\n(.*?)^steps:/ms.exec(text)![1]!;
    return text
      .match(/\*r/g)!
      .map(() => replaceExpressions(block, "bash").expressions.map((one) => parseExpression(one.expression)));
  },
};
export type Way = keyof typeof WAYS;

/** Separates two files on the standard input. */
const END = "\0";

/**
 * Returns the milliseconds that each file took to read, one after the other, in a process with a heap of this many
 * megabytes. The first file that does not fit is missing, and so are all later ones. Does not use a thread, because one
 * that runs out of memory may take its process down.
 */
export const readInHeap = async (texts: string[], way: Way, megabytes: number): Promise<number[]> => {
  const options = ["--no-warnings", `--max-old-space-size=${megabytes}`, "--max-semi-space-size=1"];
  const child = spawn(process.execPath, [...options, fileURLToPath(import.meta.url), way]);
  child.stderr.resume();
  child.stdin.on("error", () => {});
  child.stdin.end(texts.join(END));
  let told = "";
  child.stdout.on("data", (chunk: Buffer) => {
    told += chunk;
  });
  const [code, signal] = (await once(child, "close")) as [number | null, string | null];
  if (code !== 0 && signal === null && code !== 134) throw new Error(`Reading ended with ${code}`);
  return told.split("\n").slice(0, -1).map(Number);
};

if (import.meta.main) {
  // Its bytes are not on the heap.
  const input = readFileSync(0);
  for (let at = 0, end = 0; end !== -1; at = end + 1) {
    end = input.indexOf(END, at);
    const text = input.toString("utf8", at, end === -1 ? input.length : end);
    const begun = performance.now();
    WAYS[process.argv[2] as Way](text);
    writeSync(1, `${performance.now() - begun}\n`);
  }
}
