import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "../../src/assets/output-files.ts";
import { BATCHES } from "./support/constructs/batches.ts";

/*
 * The pairs of both meanings for each row of docs/import.md's table: the construct's name in `constructs`, or a test
 * file that compares what GitHub and this service decide.
 */

const EVENTS = ["decisions.test.ts", "filters.test.ts"];
const FILES = ["a folder", "a file", "files of one folder"];

const PAIRS: Record<string, string[]> = {
  "`push`, `pull_request`": EVENTS,
  "`workflow_dispatch`": ["an environment that is approved", "decisions.test.ts"],
  "`concurrency` of a ref": ["decisions.test.ts"],
  "`env`, `defaults`": ["variables and defaults", "what jobs tell each other", "a job that may fail"],
  "`permissions`": ["permissions"],
  "`needs`": ["jobs after one that failed", "jobs after one that was skipped"],
  "`runs-on`": ["decisions.test.ts", "Windows"],
  "`matrix`": ["a matrix", "matrices.test.ts", "matrix-parts.test.ts"],
  "`fail-fast`": ["a combination that fails first"],
  "`environment`": ["an environment that is approved", "an environment that is rejected"],
  "`container`, `services`": ["a container", "services"],
  "a job with `uses`": ["a called workflow"],
  "`actions/checkout`": ["another repository", "a checkout in a folder of its own", "another repository with a token"],
  "a script that asks git": ["the branch of the checkout"],
  "set-up actions of Node": ["a range of versions", "several tools", "a version without an equivalent"],
  "a version in `go.mod`": ["versions in files", "a file that `tools: auto` reads"],
  "what such an action runs": ["what set-up actions run"],
  "`cache` of set-up actions": ["caches of set-up actions"],
  "`dorny/paths-filter`": ["paths that changed"],
  "`android-actions/setup-android`": ["decisions.test.ts"],
  "`uses: ./path`": ["the repository's own action", "an action that uses another", "an action that fails"],
  "`actions/upload-artifact`, `actions/download-artifact`": [
    ...FILES,
    "artifacts of what has run",
    "an artifact of nothing that a job downloads",
  ],
  "`path` of several folders": ["files of several folders", "files of several depths"],
  "hidden files": ["a folder with its hidden files", "a folder in a hidden one"],
  "`actions/cache`, `actions/cache/restore`": ["a cache that has nothing", "a cache with a variable of its own step"],
  "`actions/cache/save`": ["a cache that has nothing"],
  "`fail-on-cache-miss: true`": ["a cache without which it fails"],
  "`run` without a shell": ["a pipe without a shell", "a pipe in bash"],
  "`${{ }}` outside quotes": ["an expression that is several words, or none"],
  "`GITHUB_OUTPUT`": ["what a step tells later ones", "a mask"],
  "`GITHUB_SHA`": ["variables of the runner", "a variable that no agent sets"],
  "`RUNNER_TEMP`": ["the folder for temporary files"],
  "`GITHUB_WORKSPACE`": ["the folder of the checkout", "a variable with the folder of the checkout"],
  "`github`, `runner`": ["expressions in scripts", "conditions on a matrix", "same-meaning.test.ts"],
  "`head.repo.full_name": ["same-meaning.test.ts"],
  "a push, or the pull request": ["same-meaning.test.ts"],
  "other actions": ["an action before a deploy", "an action that tells others", "a job of nothing else"],
};

const rowsOfTable = (): string[] => {
  const page = readFileSync(join(ROOT, "docs/import.md"), "utf8");
  const [, table = ""] = /^\| there \| here \|\n(.*?)\n\n/ms.exec(page) ?? [];
  return table
    .split("\n")
    .slice(1)
    .map((row) => row.slice(2));
};

describe("the table of constructs in docs/import.md", () => {
  it("has a pair of both meanings for each row", () => {
    const keys = Object.keys(PAIRS);
    const keysOf = (row: string) => keys.filter((key) => row.startsWith(key));
    expect(rowsOfTable().filter((row) => keysOf(row).length !== 1)).toEqual([]);
    expect(keys.filter((key) => !rowsOfTable().some((row) => row.startsWith(key)))).toEqual([]);
  });

  it("names pairs that exist", () => {
    const names = new Set(BATCHES.flatMap(({ constructs }) => Object.keys(constructs)));
    const missing = Object.values(PAIRS)
      .flat()
      .filter((name) => !name.endsWith(".test.ts") && !names.has(name));
    expect(missing).toEqual([]);
    const files = Object.values(PAIRS)
      .flat()
      .filter((name) => name.endsWith(".test.ts"));
    for (const file of files) expect(readFileSync(join(import.meta.dirname, file), "utf8")).toContain("GitHub");
  });
});
