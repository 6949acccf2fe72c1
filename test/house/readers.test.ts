import { expect, it } from "vitest";
import { type SourceFile, sourceFiles } from "./source-files.ts";

const sources = sourceFiles("src/**/*.{ts,tsx}");

/** One repeated character and the end of the text: the search begins again at each character that repeats. */
const FROM_EACH_PLACE = /(?<!\\)\/(?:\[(?:[^\]\\]|\\.)*\]|\\?[^\s/[\]])[+*]\$\/|\/[^\s/^]\.\*\$\//;

/** Another helper's row until it is mended. */
const KNOWN = ["src/dashboard/client/log/paint.ts"];

const regexesFromEachPlace = (files: SourceFile[]): string[] =>
  files.flatMap(({ path, text }) =>
    text
      .split("\n")
      .filter((line) => FROM_EACH_PLACE.test(line) && !/^\s*(?:\*|\/\/)/.test(line) && !KNOWN.includes(path))
      .map((line) => `${path}: ${line.trim()}`),
  );

it("no regex looks for the end of a text from each place in it", () => {
  expect(regexesFromEachPlace(sources)).toEqual([]);
});

it("such a regex would be seen", () => {
  const text = 'a.replace(/\\r+$/, "");\nb.replace(/[.,\\]]*$/, "");\nc.replace(/#.*$/, "");\nd.test(/^[a-z]+$/);';
  expect(regexesFromEachPlace([{ path: "src/x.ts", text }])).toHaveLength(3);
});
