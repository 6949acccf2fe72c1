import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { compile, Masker } from "../../src/mask/mask.ts";

setFlagsFromString("--expose-gc");
const collect: () => void = runInNewContext("gc");

const used = (): number => {
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
};

it("the mask fits in 32 MB with 1,000 secrets that total 256 KiB and need many escapes", () => {
  const secrets = Array.from({ length: 1000 }, (_, n) => `${n}/"a$b'<${n}>&% `.repeat(20).slice(0, 256));
  const before = used();
  const masker = new Masker(compile(secrets));
  masker.push(new TextEncoder().encode(`${secrets[7]!.repeat(10)} and what is not secret\n`.repeat(300)));
  expect(used() - before).toBeLessThan(32 * 2 ** 20);
  expect(masker.hits).toBeGreaterThan(0);
});
