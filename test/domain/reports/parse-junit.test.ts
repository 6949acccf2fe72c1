import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { JUnitReader, parseJUnit, REPORT_LIMITS, ReportRefused } from "../../../src/domain/reports/parse-junit.ts";

const suite = (inside: string, name = "math"): string => `<testsuite name="${name}">${inside}</testsuite>`;
const refusal = (report: string, maxCases?: number): string => {
  try {
    parseJUnit(report, maxCases);
  } catch (error) {
    expect(error).toBeInstanceOf(ReportRefused);
    return (error as Error).message;
  }
  return "taken";
};

describe("a JUnit report", () => {
  it("can have only a few characters that XML forbids", () => {
    const told = (number: number): string =>
      suite(`<testcase name="a"><failure>${"\u0001".repeat(number)}</failure></testcase>`);
    expect(refusal(told(10_000))).toBe("taken");
    expect(refusal(told(10_001))).toMatch(/^has too many characters that XML forbids \(line 1/);
    expect(refusal("\0".repeat(5_000_000))).not.toBe("taken");
  });

  it("has the facts of each test case", () => {
    const report = suite(
      '<testcase classname="Sum" name="adds" time="1,234.5" file="sum.ts" line="7"/>' +
        '<testcase class="Sum" name="fails"><failure message="1 is not 2" type="E">at sum.ts:9</failure></testcase>' +
        '<testcase name="breaks"><error type="TypeError"/></testcase>' +
        '<testcase name="later"><skipped message="todo"/></testcase>' +
        '<testcase name="off" status="disabled"/>',
    );
    expect(parseJUnit(report)).toMatchObject([
      { suite: "math", className: "Sum", name: "adds", seconds: 1234.5, file: "sum.ts", line: 7, outcome: "passed" },
      { className: "Sum", name: "fails", outcome: "failed", message: "1 is not 2", text: "at sum.ts:9", seconds: null },
      { name: "breaks", outcome: "failed", message: "TypeError", text: "" },
      { name: "later", outcome: "skipped" },
      { name: "off", outcome: "skipped" },
    ]);
  });

  it("may have suites within suites, and a root of suites without a name", () => {
    const report = `<testsuites>${suite(suite('<testcase name="a"/>', "inner"), "outer")}${suite('<testcase name="b"/>')}</testsuites>`;
    expect(parseJUnit(report).map(({ suite, name }) => [suite, name])).toEqual([
      ["outer > inner", "a"],
      ["math", "b"],
    ]);
  });

  it("joins several failures in a case to one text, without the test's output", () => {
    const failures =
      "<failure>one</failure><system-out>noise</system-out><failure><![CDATA[<two>]]><stackTrace>at x</stackTrace><system-err>noise</system-err></failure>";
    expect(parseJUnit(suite(`<testcase name="a">${failures}</testcase>`))).toMatchObject([
      { message: "one", text: "one\n<two>at x" },
    ]);
  });

  it("counts the tries that Surefire writes into a case", () => {
    const report = suite(
      '<testcase name="flaky"><flakyFailure message="no"><stackTrace>at</stackTrace></flakyFailure><flakyError/></testcase>' +
        '<testcase name="red"><failure message="no"/><rerunFailure/></testcase>',
    );
    expect(parseJUnit(report)).toMatchObject([
      { outcome: "passed", failedTries: 2, message: "no", text: "at" },
      { outcome: "failed", failedTries: 1, message: "no" },
    ]);
  });

  it.each([
    ["a colour in a message", suite('<testcase name="a"><failure>\u001b[31mred</failure></testcase>')],
    ["< in an attribute", suite('<testcase name="a" time="<<computed>>"/>')],
  ])("may have %s, because tools write it", (_, report) => {
    expect(parseJUnit(report)).toMatchObject([{ name: "a", seconds: null }]);
  });

  it.each([
    ["the number of a character that XML forbids", "&#27;[31mred &#x1B;[0m&#0;&#65;", "\ufffd[31mred \ufffd[0m\ufffdA"],
    ["a & that stands for itself", "a & b &; c&d &lt; R&D", "a & b &; c&d < R&D"],
  ])("may have %s", (_, written, message) => {
    const report = suite(`<testcase name="a"><failure message="${written}">${written}</failure></testcase>`);
    expect(parseJUnit(report)).toMatchObject([{ name: "a", message, text: message }]);
  });

  it("keeps a text without references unchanged", () => {
    const [test] = parseJUnit(
      suite('<!-- & --><testcase name="a"><failure><![CDATA[a & &#27; b]]></failure></testcase>'),
    );
    expect(test?.text).toBe("a & &#27; b");
  });

  it("gives the same result in pieces, wherever they are cut", () => {
    const report = suite(
      '<?x & ?><!-- & --><testcase name="a & &#27;&lt;"><failure>x &amp; y & <![CDATA[& ]] > ]]>z</failure></testcase>',
    );
    const whole = parseJUnit(report);
    expect(whole).toMatchObject([{ name: "a & \ufffd<", text: "x & y & & ]] > z" }]);
    for (let cut = 0; cut <= report.length; cut++) {
      const reader = new JUnitReader(10);
      for (const piece of [report.slice(0, cut), report.slice(cut, cut + 1), report.slice(cut + 1)]) reader.push(piece);
      expect(reader.end()).toEqual(whole);
    }
  });

  it.each([["NaN"], ["-1"], ["1.2.3"], [""], ["0x10"], ["1e9999"]])("has no seconds if its time is %j", (time) => {
    const [test] = parseJUnit(suite(`<testcase name="a" time="${time}"/>`));
    expect(test?.seconds).toBe(null);
  });

  it.each([
    ["", ""],
    ["\ufeff", "<testsuites/>"],
  ])("may be empty", (mark, report) => {
    expect(parseJUnit(mark + report)).toEqual([]);
  });

  it.each([
    [
      "another root",
      "<html/>",
      "is not a JUnit report: its root element must be testsuites or testsuite (line 1, column 8)",
    ],
    ["no XML", "hello", /^is not well-formed: .* \(line 1, column \d+\)$/],
    ["a missing end", "<testsuite>\n<testcase", /^is not well-formed: .* \(line 2, column \d+\)$/],
    ["CDATA that does not end", "<testsuite><![CDATA[ secret", /^is not well-formed: [^[]* \(line 1, column \d+\)$/],
    ["an entity of its own", suite("<testcase name='&bomb;'/>"), /^is not well-formed: undefined entity/],
    ["a DOCTYPE", '<!DOCTYPE a [<!ENTITY x "x">]><testsuite/>', /^has a DOCTYPE/],
    ["a file of this machine", '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><testsuite/>', /^has a DOCTYPE/],
    ["too many &", suite("&".repeat(10_001)), /^has too many characters that XML forbids/],
    ["too deeply nested elements", `<testsuite>${"<a>".repeat(200)}`, /^has too deeply nested elements/],
    ["too many attributes", `<testsuite ${"a='' ".repeat(1001)}>`, /^has an element with too many attributes/],
    ["too deeply nested suites", "<testsuite>".repeat(101), /^has too deeply nested suites/],
  ])("is rejected for %s", (_, report, reason) => {
    expect(refusal(report)).toMatch(reason);
  });

  it("is rejected if it has more cases than remain", () => {
    const report = suite('<testcase name="a"/>'.repeat(3));
    expect(parseJUnit(report, 3)).toHaveLength(3);
    expect(refusal(report, 2)).toMatch(/^has more than 2 test cases/);
  });

  it("keeps 16 KiB of a failure's text", () => {
    const report = suite(`<testcase name="${"n".repeat(9_999)}"><failure>${"x".repeat(99_999)}</failure></testcase>`);
    const [test] = parseJUnit(report);
    expect(test?.text).toHaveLength(REPORT_LIMITS.textCharacters);
    expect(test?.name).toHaveLength(REPORT_LIMITS.nameCharacters);
  });

  it("is always either read or rejected", () => {
    const piece = fc.constantFrom(
      "<testsuite>",
      "</testsuite>",
      "<testcase name='a'>",
      "</testcase>",
      "<failure>",
      "</failure>",
      "<![CDATA[",
      "]]>",
      "<!--",
      "-->",
      "&amp;",
      "&x;",
      "<?xml?>",
      "<",
      ">",
      "'",
      "text",
      "\u0000",
      "\ud800",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const before = refusal(pieces.join(""));
        expect(refusal(pieces.join(""))).toBe(before);
      }),
      { numRuns: 2_000 },
    );
  });
});
