import { existsSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { expect, it } from "vitest";
import { sourceFiles } from "./source-files.ts";

/** Folders whose tests cover the whole service, and `api`, whose tests act as a client of any part. */
const WHOLE = ["api", "clients", "e2e", "house", "platform"];

/** Returns test files in folders that `src` lacks. */
const strays = (paths: string[]): string[] =>
  paths.filter(
    (path) => !WHOLE.includes(path.split("/")[1] ?? "") && !existsSync(dirname(path).replace(/^test/, "src")),
  );

it("each test is in the folder of its subject", () => {
  expect(strays(sourceFiles("test/**/*.test.ts").map(({ path }) => path))).toEqual([]);
});

it("the check finds a test in another folder", () => {
  expect(strays(["test/hosts/client.test.ts", "test/api/a.test.ts", "test/queue/b.test.ts"])).toHaveLength(1);
});

/** Returns the test helpers whose file and folder the page does not name. */
const unnamed = (page: string, paths: string[]): string[] =>
  paths.filter((path) => {
    const name = path.replace("test/support/", "");
    const folders = [...name.matchAll(/\//g)].map(({ index }) => name.slice(0, index + 1));
    return ![name, ...folders].some((word) => page.includes(`\`${word}\``));
  });

it("docs/test-helpers.md names every test helper", () => {
  const page = readFileSync("docs/test-helpers.md", "utf8");
  expect(
    unnamed(
      page,
      sourceFiles("test/support/**/*.ts").map(({ path }) => path),
    ),
  ).toEqual([]);
  expect(unnamed(page, ["test/support/new-helper.ts"])).toHaveLength(1);
});
