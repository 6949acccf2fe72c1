import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hasSkipMarker, subjectOf } from "../../src/githosts/core/common-events.ts";

describe("a skip marker", () => {
  it.each([
    "docs [skip ci]",
    "[ci skip] docs",
    "docs [no ci]",
    "docs [skip actions]",
    "docs [actions skip]",
    "docs [skip-ci]",
    "docs [ci-skip]",
    "docs [SKIP CI]",
    "\n\ndocs [skip ci]\n\nbody",
    "docs\n\nskip-checks: true",
    "docs\r\n\r\nbody\r\n\r\n\r\nSkip-Checks: true\r\n",
    "docs\n\nbody\n\nskip-checks:true\nSigned-off-by: Ann <ann@example.com>",
  ])("counts: %j", (message) => {
    expect(hasSkipMarker(message)).toBe(true);
  });

  it.each([
    ["a squash merge that quotes a marker", "Merge docs (#12)\n\n* docs [skip ci]\n* more"],
    ["a sentence about a marker", "docs\n\nDo not write [skip ci] here."],
    ["other brackets", "docs (skip ci)"],
    ["a marker over two lines", "docs [skip\nci]"],
    ["a trailer as the subject", "skip-checks: true"],
    ["a trailer within a paragraph of prose", "docs\n\nThe trailer is\nskip-checks: true"],
    ["a trailer before the last paragraph", "docs\n\nskip-checks: true\n\nAnd prose."],
    ["another value", "docs\n\nskip-checks: false"],
    ["nothing", ""],
    ["blank lines", "\n \n"],
  ])("does not count: %s", (_, message) => {
    expect(hasSkipMarker(message)).toBe(false);
  });

  it("is never found in the body without a trailer", () => {
    fc.assert(
      fc.property(fc.string(), (body) => {
        const prose = body.replaceAll(/skip-checks/gi, "");
        expect(hasSkipMarker(`docs\n\n- ${prose} [skip ci] [ci skip]`)).toBe(false);
      }),
    );
  });
});

describe("the subject of a commit", () => {
  it.each([
    ["one line", "one line"],
    ["first\nsecond", "first"],
    ["first\r\nsecond", "first"],
    ["\n\nfirst\n", "first"],
    ["", ""],
  ])("of %j", (message, subject) => {
    expect(subjectOf(message)).toBe(subject);
  });
});
