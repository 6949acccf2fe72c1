import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { sourceFiles } from "./source-files.ts";

/** Programs that print for people: the agent, the importer, the assets' build, and the pages' scripts. */
const PRINTS = /^src\/(?:agent|importer|local|assets)\/|\/client(?:\/|\.)|^src\/log\.ts$/;

const ofService = sourceFiles("src/**/*.{ts,tsx}").filter(({ path }) => !PRINTS.test(path));

/** Returns `level event` for the logger's calls, without duplicates. */
const inSource = (): string[] => {
  const calls = ofService.flatMap(({ text }) => [
    ...text.matchAll(/\blog\.(info|warn|error)\(\s*"([a-z]+\.[a-z_]+)"/g),
  ]);
  return [...new Set(calls.map(([, level, event]) => `${level} ${event}`))].sort();
};

const inDocument = (): string[] => {
  const rows = readFileSync("docs/operations.md", "utf8").matchAll(/^\| `([a-z]+\.[a-z_]+)` \| (info|warn|error) \|/gm);
  return [...rows].map(([, event, level]) => `${level} ${event}`).sort();
};

it("the service logs only through its logger", () => {
  const others = ofService.filter(({ text }) => /\bconsole\.\w+\(/.test(text)).map(({ path }) => path);
  expect(others).toEqual([]);
});

it("each log event has its name at the call", () => {
  const unnamed = ofService.filter(
    ({ text }) =>
      /\bimport \{ log \}/.test(text) &&
      (text.match(/\blog\.(?:info|warn|error)\(/g) ?? []).length !==
        (text.match(/\blog\.(?:info|warn|error)\(\s*"[a-z]+\.[a-z_]+",/g) ?? []).length,
  );
  expect(unnamed.map(({ path }) => path)).toEqual([]);
});

it("docs/operations.md has exactly the events of the log", () => {
  expect(inSource().length).toBeGreaterThan(30);
  expect(inDocument()).toEqual(inSource());
});
