import { describe, expect, it } from "vitest";
import { triesInWords } from "../../../src/dashboard/build/step-waterfall.tsx";

describe("a step that was begun more than once", () => {
  it.each([
    ["succeeded", 2, "passed on the second try"],
    ["succeeded", 11, "passed on the 11th try"],
    ["failed", 3, "failed 3 times"],
    ["running", 2, "the second try"],
    ["canceled", 2, "stopped at the second try"],
  ] as const)("and is %s after %i says so", (status, tries, words) => {
    expect(triesInWords(status, tries)).toBe(words);
  });
});
