import { describe, expect, it } from "vitest";
import { measure } from "./measures.ts";
import { type SourceFile, sourceFiles } from "./source-files.ts";

const MOST_LINES = 300;
/** Figures that may only decrease. `npm run measures` prints them. */
const MOST = { files: 800, doubled: 25, calledOf: 300 };

const tooLong = (files: SourceFile[]): string[] =>
  files.filter(({ text }) => text.split("\n").length - 1 > MOST_LINES).map(({ path }) => path);

describe("the source", () => {
  const sources = sourceFiles("src/**/*.{ts,tsx}");

  it("has no file that is too long", () => {
    expect(tooLong(sources)).toEqual([]);
  });

  it("has few files, few ambiguous names, and few functions without a verb", () => {
    const { files, doubled, calledOf } = measure(sources);
    expect(files).toBeLessThanOrEqual(MOST.files);
    expect(doubled.length).toBeLessThanOrEqual(MOST.doubled);
    expect(calledOf).toBeLessThanOrEqual(MOST.calledOf);
  });

  it("fails the check with a long file or an ambiguous name", () => {
    const files = ["a", "b"].map((name) => ({
      path: `src/${name}.ts`,
      text: "export const sizeOf = 1;\n".repeat(301),
    }));
    expect(tooLong(files)).toHaveLength(2);
    expect(measure(files)).toMatchObject({ doubled: [["sizeOf", expect.anything()]], calledOf: 602 });
  });
});
