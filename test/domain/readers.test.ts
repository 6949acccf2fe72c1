import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";

const countWork = (...args: string[]): { of: string; once: number; twice: number }[] =>
  JSON.parse(execFileSync(process.execPath, ["test/support/readers/count-work.ts", ...args], { encoding: "utf8" }));

/** Sorting adds a tenth for each doubling, and some steps do not depend on size. */
const isDoubleAtMost = ({ once, twice }: { once: number; twice: number }): boolean => twice <= 2.2 * once + 1000;

it("a text that others wrote takes at most twice the work when it is twice as long", () => {
  const found = countWork();
  expect(found.length).toBeGreaterThan(30);
  expect(found.filter((one) => !isDoubleAtMost(one))).toEqual([]);
});

it("a reader that takes four times the work fails the test", () => {
  const found = countWork("test/support/readers/slow-reader.ts");
  expect(found.map(isDoubleAtMost)).toEqual([false, false, false]);
});
