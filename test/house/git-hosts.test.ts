import { expect, it } from "vitest";
import { HOSTS } from "../../src/githosts/hosts.ts";
import { type SourceFile, sourceFiles } from "./source-files.ts";

/** The only files outside the git hosts' folders that name a kind of host. tsc reports each that lacks a new kind. */
const TABLES = ["src/protocol/connection.ts", "src/githosts/hosts.ts", "src/dashboard/connections/git-hosts.tsx"];
/** The same words with another meaning: contexts of GitHub Actions, and names of tools. */
const OTHER_MEANINGS = ["src/importer/", "src/pipeline/"];

const kinds = Object.keys(HOSTS);
const folders = kinds.map((kind) => `src/githosts/${kind}/`);

const naming = (files: SourceFile[]): string[] => {
  const named = new RegExp(`["'](?:${kinds.join("|")})["']|\\b(?:${kinds.join("|")}):`);
  return files
    .filter(({ path }) => ![...folders, ...OTHER_MEANINGS].some((beginning) => path.startsWith(beginning)))
    .filter(({ text }) => named.test(text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, "")))
    .map(({ path }) => path);
};

it("only a git host's folder and three tables name its kind", () => {
  expect(naming(sourceFiles("src/**/*.{ts,tsx}")).sort()).toEqual(TABLES.toSorted());
});

it("the check finds another place that depends on the kind", () => {
  const text = 'const gap = kind === "github" ? 1_000 : 0;';
  expect(naming([{ path: "src/objects/host/statuses.ts", text }])).toHaveLength(1);
});
