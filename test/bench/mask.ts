import { pathToFileURL } from "node:url";
import { allForms } from "../../src/mask/forms.ts";
import { compile, Masker } from "../../src/mask/mask.ts";

const CHUNK = 64 * 1024;
const RUNS = 5;

/** Returns a seeded generator of numbers from 0 to below 1 (mulberry32). */
const random = (seed: number) => () => {
  seed = (seed + 0x6d2b79f5) | 0;
  const mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  const more = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((more ^ (more >>> 14)) >>> 0) / 2 ** 32;
};

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+/";
const WORDS =
  "Compiling Downloading module resolved /usr/lib/node_modules/react-native/Libraries/index.js warning deprecated test passed in ms > Task :app:mergeReleaseResources UP-TO-DATE [INFO] 2026-11-01T09:15:22.114Z sha256-4QyQ error: cannot find symbol at com.example.Main.run(Main.java:42) === building target App of project (x86_64) ✓".split(
    " ",
  );

const secretsOf = (count: number): string[] => {
  const next = random(count);
  return Array.from({ length: count }, () =>
    Array.from({ length: 20 + Math.floor(next() * 44) }, () => ALPHABET[Math.floor(next() * 64)]).join(""),
  );
};

/** Returns a log like a build's: words, paths and digests, with a secret about every 50 KB. */
const logOf = (megabytes: number, secrets: string[]): Uint8Array => {
  const next = random(7);
  const lines: string[] = [];
  for (let size = 0; size < megabytes * 1e6; size += lines.at(-1)!.length + 1) {
    const words = Array.from({ length: 4 + Math.floor(next() * 12) }, () => WORDS[Math.floor(next() * WORDS.length)]);
    if (next() < 0.002) words.push(secrets[Math.floor(next() * secrets.length)]);
    lines.push(words.join(" "));
  }
  return new TextEncoder().encode(lines.join("\n"));
};

/** Returns megabytes per second, the median of several runs. */
const throughput = (bytes: number, work: () => void): number => {
  work();
  const seconds = Array.from({ length: RUNS }, () => {
    const start = performance.now();
    work();
    return (performance.now() - start) / 1000;
  }).sort((a, b) => a - b);
  return bytes / 1e6 / seconds[RUNS >> 1]!;
};

export interface MaskFigures {
  secrets: number;
  needles: number;
  megabytesPerSecond: number;
  replaceAll: number;
  timesReplaceAll: number;
  copy: number;
  partOfCopy: number;
  compileMilliseconds: number;
}

/** Compares the masker with a `replaceAll` for each form (which leaks at chunk borders) and with a plain copy. */
export const benchMask = (counts = [1, 100, 1000]): MaskFigures[] =>
  counts.map((count) => {
    const secrets = secretsOf(count);
    const text = logOf(16, secrets);
    const chunks = Array.from({ length: Math.ceil(text.length / CHUNK) }, (_, n) =>
      text.subarray(n * CHUNK, (n + 1) * CHUNK),
    );
    const started = performance.now();
    const needles = compile(secrets);
    const compileMilliseconds = performance.now() - started;
    const masked = throughput(text.length, () => {
      const masker = new Masker(needles);
      for (const chunk of chunks) masker.push(chunk);
      masker.end();
    });
    const copy = throughput(text.length, () => {
      for (const chunk of chunks) chunk.slice();
    });
    const forms = allForms(secrets).map((form) => Buffer.from(form).toString("latin1"));
    const part = Buffer.from(text.subarray(0, count > 100 ? 500_000 : 4_000_000)).toString("latin1");
    const replaceAll = throughput(part.length, () => {
      let out = part;
      for (const form of forms) out = out.replaceAll(form, "***");
    });
    return {
      secrets: count,
      needles: needles.plain.size + needles.wrapped.size,
      megabytesPerSecond: masked,
      replaceAll,
      timesReplaceAll: masked / replaceAll,
      copy,
      partOfCopy: masked / copy,
      compileMilliseconds,
    };
  });

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  console.table(
    benchMask().map((figures) =>
      Object.fromEntries(Object.entries(figures).map(([name, figure]) => [name, Number(figure.toPrecision(4))])),
    ),
  );
}
