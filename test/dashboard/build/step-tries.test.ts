import { describe, expect, it } from "vitest";
import { triesInWords } from "../../../src/dashboard/build/step-waterfall.tsx";

describe("a retried step", () => {
  it.each([
    ["succeeded", 2, "passed on the second try"],
    ["succeeded", 11, "passed on the 11th try"],
    ["failed", 3, "failed 3 times"],
    ["running", 2, "the second try"],
    ["canceled", 2, "stopped on the second try"],
  ] as const)("that is %s with %i tries reads: %s", (status, tries, words) => {
    expect(triesInWords(status, tries)).toBe(words);
  });
});
