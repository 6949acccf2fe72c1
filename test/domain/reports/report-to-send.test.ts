import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type IdentifiedTest, reportToSend } from "../../../src/domain/reports/report-to-send.ts";
import { contradictionIn, listTexts, withTexts } from "../../../src/domain/reports/stored-report.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";
import { ReportedTests, testsInWords } from "../../../src/protocol/test-report.ts";

let made = 0;
const result = (more: Partial<IdentifiedTest> = {}): IdentifiedTest => ({
  ...{
    id: (++made).toString(16).padStart(16, "0"),
    suite: "s",
    className: "c",
    name: `n${made}`,
    file: null,
    line: null,
  },
  ...{ seconds: 1, outcome: "passed", failedTries: 0, tries: 1, isFlaky: false, message: "", text: "" },
  ...more,
});
const failed = (more: Partial<IdentifiedTest> = {}) => result({ outcome: "failed", ...more });
const same = (text: string): string => text;

describe("a report to send", () => {
  it("has failed, flaky and slow tests, and counts all", () => {
    const slow = Array.from({ length: 30 }, (_, index) => result({ seconds: 100 + index }));
    const bad = failed({ seconds: 0 });
    const flaky = result({ isFlaky: true, tries: 2, seconds: null });
    const { counts, tests } = reportToSend([...slow, flaky, bad, result({ outcome: "skipped" })], [], same);
    expect(counts).toMatchObject({ total: 33, failed: 1, skipped: 1, flaky: 1 });
    const slowest = slow.slice(-20).reverse();
    expect(tests.map(({ id }) => id)).toEqual([bad, flaky, ...slowest].map(({ id }) => id));
  });

  it("is masked before it is cut, and has no terminal codes", () => {
    const mask = (text: string): string => text.replaceAll("SECRET", "***");
    const text = `${"x".repeat(LIMITS.testTextCharacters - 3)}SECRET`;
    const { tests } = reportToSend([failed({ name: "SECRET", message: "\u001b[31mSEC\u001b[0mRET", text })], [], mask);
    expect(tests[0]).toMatchObject({ name: "***", message: "***", text: expect.stringMatching(/x\*\*\*$/) });
  });

  it("always fits into a request, and shortens its texts first", () => {
    const wide = "\u4e00".repeat(20_000);
    const many = Array.from({ length: 600 }, () => failed({ name: wide, suite: wide, text: wide, message: wide }));
    const report = reportToSend(many, [], same);
    const bytes = new TextEncoder().encode(JSON.stringify(report)).length;
    expect(bytes).toBeLessThanOrEqual(LIMITS.bodyBytes);
    expect(ReportedTests.safeParse(report).success).toBe(true);
    expect(report.counts.failed).toBe(600);
    expect(report.warnings).toEqual([{ file: null, message: "120 more failures are counted but not listed" }]);
    const few = reportToSend([failed({ text: wide })], [], same);
    expect(few.tests[0]?.text).toHaveLength(LIMITS.testTextCharacters);
  });

  it("never contradicts itself, and the service accepts it", () => {
    const text = fc.string({ unit: "binary", maxLength: 40 });
    const one = fc.record({
      ...{ suite: text, name: text, message: text, text, tries: fc.integer({ min: 1, max: 5 }) },
      ...{ outcome: fc.constantFrom("passed" as const, "failed" as const, "skipped" as const), isFlaky: fc.boolean() },
      seconds: fc.option(fc.double({ min: 0, max: 1e6, noNaN: true })),
    });
    fc.assert(
      fc.property(fc.array(one, { maxLength: 60 }), (all) => {
        const results = all.map((more) => result({ ...more, isFlaky: more.isFlaky && more.outcome === "passed" }));
        const report = reportToSend(results, [{ file: "a.xml", message: "wrong" }], same);
        expect(ReportedTests.safeParse(report).error).toBeUndefined();
        expect(contradictionIn(report)).toBeNull();
        const kept = withTexts(report, listTexts(report));
        expect(kept.tests.map(({ id }) => id)).toEqual(report.tests.map(({ id }) => id));
        expect(withTexts(kept, listTexts(kept))).toEqual(kept);
      }),
    );
  });
});

describe("counts in words", () => {
  it.each([
    [{ total: 1204, failed: 3, skipped: 0, flaky: 1 }, "3 of 1,204 tests failed, 1 flaky"],
    [{ total: 1204, failed: 0, skipped: 4, flaky: 0 }, "1,200 of 1,204 tests passed, 4 skipped"],
    [{ total: 1, failed: 1, skipped: 0, flaky: 0 }, "1 of 1 test failed"],
    [{ total: 0, failed: 0, skipped: 0, flaky: 0 }, "no tests"],
  ])("are %j: %s", (counts, words) => {
    expect(testsInWords(counts)).toBe(words);
  });
});
