import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FILE_LIMITS } from "../../../src/pipeline/fields/limits.ts";
import { parsePlan } from "../../../src/pipeline/parse/parse.ts";

const parse = (retry: string) => parsePlan(`steps: [{ run: x, retry: ${retry} }]`);
const retryOf = (retry: string) => parse(retry).plan?.job.steps[0]?.retry;
const mistakesOf = (retry: string): string[] => (parse(retry).mistakes ?? []).map(({ message }) => message);

describe("retry of a step", () => {
  it("is a number of tries after the first one, or a mapping", () => {
    expect(retryOf("2")).toEqual({ times: 2, on: null, waitSeconds: 0 });
    expect(retryOf("{ times: 1 }")).toEqual({ times: 1, on: null, waitSeconds: 0 });
    expect(retryOf("{ times: 10, on: [1, 255], wait-seconds: 3600 }")).toEqual({
      ...{ times: 10, on: [1, 255], waitSeconds: 3600 },
    });
    expect(parsePlan("steps: [{ run: x }]").plan?.job.steps[0]?.retry).toBeNull();
  });

  it("accepts only numbers of tries and seconds within its limits", () => {
    const number = fc.oneof(fc.integer({ min: -2, max: 12 }), fc.integer({ min: 3598, max: 3602 }), fc.double());
    const isWhole = (value: number, least: number, most: number) =>
      Number.isInteger(value) && value >= least && value <= most;
    fc.assert(
      fc.property(number, number, (times, wait) => {
        const isGood = isWhole(times, 1, FILE_LIMITS.retryTimes) && isWhole(wait, 0, FILE_LIMITS.retryWaitSeconds);
        expect(mistakesOf(`{ times: ${times}, wait-seconds: ${wait} }`).length === 0).toBe(isGood);
      }),
    );
  });

  it.each([
    ["0", "This must be a whole number from 1 to 10"],
    ["11", "This must be a whole number from 1 to 10"],
    ["true", "This must be a whole number from 1 to 10"],
    ["'2'", "This must be a whole number from 1 to 10"],
    ["[1]", "This must be a whole number from 1 to 10"],
    ["{ wait-seconds: 5 }", "The key `times` is missing here"],
    ["{ times: 1, on: [] }", "This must not be empty"],
    ["{ times: 1, on: [0] }", "This must be a whole number from 1 to 255"],
    ["{ times: 1, on: [256] }", "This must be a whole number from 1 to 255"],
    ["{ times: 1, on: 1 }", "This must be a list, with `- ` before each item"],
    [`{ times: 1, on: [${Array(21).fill(1).join()}] }`, "This must have at most 20 items"],
    ["{ max: 1 }", "`max` is not a key of `retry`. Write `times`: the tries after the first one"],
    ["{ times: 1, delay: 1 }", "`delay` is not a key of `retry`. Write `wait-seconds`"],
    ["{ times: 1, tims: 1 }", "`tims` is not a key of `retry`"],
  ])("%s is a mistake", (retry, message) => {
    expect(mistakesOf(retry)).toContain(message);
  });
});
