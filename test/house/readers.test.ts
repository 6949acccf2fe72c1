import { expect, it } from "vitest";
import { PARSERS, READERS } from "../support/readers/readers.ts";
import { importsOf, type SourceFile, sourceFiles } from "./source-files.ts";

const sources = sourceFiles("src/**/*.{ts,tsx}");

/** Matches one repeated character up to the text's end. The search restarts at each repeated character. */
const FROM_EACH_PLACE = /(?<!\\)\/(?:\[(?:[^\]\\]|\\.)*\]|\\?[^\s/[\]])[+*]\$\/|\/[^\s/^]\.\*\$\//;

const regexesFromEachPlace = (files: SourceFile[]): string[] =>
  files.flatMap(({ path, text }) =>
    text
      .split("\n")
      .filter((line) => FROM_EACH_PLACE.test(line) && !/^\s*(?:\*|\/\/)/.test(line))
      .map((line) => `${path}: ${line.trim()}`),
  );

it("no regex searches for the end of a text from each position", () => {
  expect(regexesFromEachPlace(sources)).toEqual([]);
});

it("the check finds a regex that searches from each position", () => {
  const text = 'a.replace(/\\r+$/, "");\nb.replace(/[.,\\]]*$/, "");\nc.replace(/#.*$/, "");\nd.test(/^[a-z]+$/);';
  expect(regexesFromEachPlace([{ path: "src/x.ts", text }])).toHaveLength(3);
});

/** Reports whether a file imports one of these names from a path or a package. */
const imports = ({ path, text }: SourceFile, from: string, names: readonly string[] | null): boolean =>
  importsOf({ path, text }).some(({ to, typeOnly }) => !typeOnly && (to === from || to.startsWith(`${from}/`))) &&
  (names === null || names.some((name) => new RegExp(`import\\s*\\{[^}]*\\b(?<!type )${name}\\b[^}]*\\}`).test(text)));

const strangers = (files: SourceFile[]): string[] => [
  ...Object.entries(PARSERS).flatMap(([name, parser]) =>
    files
      .filter((file) => !parser.files.includes(file.path) && imports(file, name, parser.names))
      .map(({ path }) => `${path} parses with ${name}`),
  ),
  ...READERS.flatMap(({ file, readBy }) =>
    Object.entries(readBy).flatMap(([name, by]) =>
      files
        .filter((one) => !by.includes(one.path) && imports(one, file, [name]))
        .map(({ path }) => `${path} reads with ${name}`),
    ),
  ),
];

it("only the bounded readers read foreign texts", () => {
  expect(strangers(sources)).toEqual([]);
});

it("each reader in the list exists and has worst-case inputs", () => {
  const there = new Set(sources.map(({ path }) => path));
  expect(READERS.filter(({ file, worst }) => !there.has(file) || Object.keys(worst).length === 0)).toEqual([]);
  const named = [
    ...Object.values(PARSERS).flatMap(({ files }) => files),
    ...READERS.flatMap(({ readBy }) => Object.values(readBy).flat()),
  ];
  expect(named.filter((path) => !there.has(path))).toEqual([]);
});

it("the check finds another parser", () => {
  const text = [
    'import { SaxesParser } from "saxes";',
    'import { parse } from "yaml";',
    'import { isMap } from "yaml";',
    'import { JUnitReader } from "../domain/reports/parse-junit.ts";',
  ];
  const files = text.map((line, index) => ({ path: `src/services/${index}.ts`, text: line }));
  expect(strangers(files)).toEqual([
    "src/services/0.ts parses with saxes",
    "src/services/1.ts parses with yaml",
    "src/services/3.ts reads with JUnitReader",
  ]);
});
