import { describe, expect, it } from "vitest";
import * as z from "zod/mini";
import { atMost, intBetween, queryNumber } from "../../src/protocol/checks.ts";
import { byteSize, withCommas } from "../../src/protocol/limits.ts";

const problemOf = (schema: z.ZodMiniType, value: unknown): string | undefined =>
  schema.safeParse(value).error?.issues[0]?.message;

describe("a limit in text for people", () => {
  it.each([
    [0, "0"],
    [999, "999"],
    [1000, "1,000"],
    [86_400, "86,400"],
    [1_234_567, "1,234,567"],
    [-1000, "-1,000"],
  ])("%d is %s", (count, text) => expect(withCommas(count)).toBe(text));

  it.each([
    [500, "500 bytes"],
    [48 * 1024, "48 KiB"],
    [1024 * 1024, "1 MiB"],
    [1025, "1,025 bytes"],
    [1025 * 1024, "1,025 KiB"],
  ])("%d bytes are %s", (bytes, text) => expect(byteSize(bytes)).toBe(text));

  it("appears in the message of its check", () => {
    expect(problemOf(intBetween(1, 86_400), 0)).toBe("must be 1 to 86,400");
    expect(problemOf(intBetween(1, 86_400), 86_401)).toBe("must be 1 to 86,400");
    expect(problemOf(intBetween(1, 86_400), 86_400)).toBeUndefined();
    expect(problemOf(queryNumber(0, 60), "61")).toBe("must be 0 to 60");
    expect(problemOf(queryNumber(0, Number.MAX_SAFE_INTEGER), "-1")).toBe("must be a whole number");
    expect(problemOf(z.string().check(atMost(2000)), "x".repeat(2001))).toBe("must have at most 2,000 characters");
  });
});
