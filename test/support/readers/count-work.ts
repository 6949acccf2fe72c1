import { Session } from "node:inspector/promises";
import { resolve } from "node:path";
import { READERS } from "./readers.ts";

/*
 * Prints the work of each reader for n and for 2n of its worst input, as JSON. It is a separate program, because a
 * function that ran before the count began has no counters.
 *
 * V8 counts from outside how often each block of the project's and its packages' code ran. This count does not include
 * native code within one call, so the scans and copies of strings, arrays and buffers below are counted by their
 * lengths, including `[...list]`. It does not see backtracking in a regex (a rule of test/house finds the worst kind),
 * texts joined with `+`, and the work of sorting beyond its comparisons.
 */

// biome-ignore lint/suspicious/noExplicitAny: a text, a list or a buffer, and what its method makes.
type Anything = any;

let scanned = 0;

const count = (
  owner: object,
  name: string,
  cost: (self: Anything, result: Anything, args: Anything[]) => number,
): void => {
  const native = (owner as Record<string, (...args: unknown[]) => unknown>)[name]!;
  Object.defineProperty(owner, name, {
    configurable: true,
    writable: true,
    value(this: unknown, ...args: unknown[]) {
      const result = native.apply(this, args);
      scanned += cost(this, result, args);
      return result;
    },
  });
};

/** Counts the characters up to a match, or all following ones without a match. */
const passed = (self: { length: number }, found: number, from = 0): number => (found < 0 ? self.length : found) - from;
for (const { prototype } of [Array, String]) {
  count(prototype, "indexOf", (self, found, [, from]) => passed(self, found, from));
  count(prototype, "includes", (self, isFound, [, from]) => (isFound ? 0 : passed(self, -1, from)));
}
for (const name of ["slice", "concat"]) count(Array.prototype, name, (_, made) => made.length);
for (const name of ["join"]) count(Array.prototype, name, (self, made) => self.length + made.length);
for (const name of ["split", "replace", "replaceAll", "trim", "toLowerCase", "normalize"])
  count(String.prototype, name, (self) => self.length);
count(Buffer, "concat", (_, made) => made.length);

// This counts `[...list]`.
Array.prototype[Symbol.iterator] = function* (this: unknown[]) {
  for (let index = 0; index < this.length; index++) {
    scanned++;
    yield this[index];
  }
} as typeof Array.prototype.values;

// A stand-in for the page's elements.
class Drawn {
  classList = { add() {} };
  style = {};
  append(): void {}
}
Object.assign(globalThis, { Text: Drawn, document: { createElement: () => new Drawn() } });

const session = new Session();
session.connect();
await session.post("Profiler.enable");
await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });

/** Returns the blocks that ran since the last call, in the project and its packages. */
const blocks = async (): Promise<number> => {
  const { result } = await session.post("Profiler.takePreciseCoverage");
  return result
    .filter(({ url }) => /\/(?:src|node_modules)\//.test(url) || url.endsWith("/slow-reader.ts"))
    .flatMap(({ functions }) => functions.flatMap(({ ranges }) => ranges.map((range) => range.count)))
    .reduce((sum, ran) => sum + ran, 0);
};

const workOf = async (act: () => void): Promise<number> => {
  await blocks();
  scanned = 0;
  act();
  const inNative = scanned;
  return (await blocks()) + inNative;
};

const SIZE = 1000;
const HELPERS = ["src/agent/files/tar.ts", "src/pipeline/parse/parse.ts"];
const load = (file: string): Promise<object> => import(resolve(file));
const helpers = Object.assign({}, ...(await Promise.all(HELPERS.map(load))));
const found: { of: string; once: number; twice: number }[] = [];
for (const { file, worst } of process.argv[2] ? [(await import(resolve(process.argv[2]))).SLOW] : READERS) {
  const exports = { ...helpers, ...(await load(file)) };
  for (const [name, read] of Object.entries<(exports: object, size: number) => void>(worst)) {
    // Create anything that is created once now, such as tables of characters.
    read(exports, SIZE);
    const once = await workOf(() => read(exports, SIZE));
    found.push({ of: `${file}: ${name}`, once, twice: await workOf(() => read(exports, 2 * SIZE)) });
  }
}
process.stdout.write(JSON.stringify(found));
