import { expect, it } from "vitest";
import { parsePlan } from "../../../src/pipeline/parse/parse.ts";
import { neededFeatures } from "../../../src/pipeline/parse/plan-contents.ts";

const needed = (text: string, includesFiles = false) => {
  const { plan, mistakes } = parsePlan(text);
  if (!plan) throw new Error(JSON.stringify(mistakes));
  return neededFeatures(plan, { includesFiles });
};

const inJob = (more: string) => `jobs: { first: { steps: [{ run: a }] }, second: { steps: [{ run: b }], ${more} } }\n`;

it.each([
  ["", []],
  ["tools: { node: 24 }", ["tools"]],
  ["tools: auto", ["tools"]],
  ["retry: 1", ["retry"]],
  ["artifacts: [{ name: a, path: a }]", ["artifacts"]],
  ["reports: { junit: junit.xml }", ["artifacts"]],
  ["needs: [first], downloads: [{ from: first, artifact: a, to: x }]", ["artifacts"]],
  ["cache: [{ name: a, key: a, path: a }]", ["cache"]],
  ["cache: [{ name: a, key: a, path: a }], tools: auto, retry: 2", ["retry", "tools", "cache"]],
])("an agent must support the features of every job in a file: %s", (more, features) => {
  expect(needed(inJob(more))).toEqual(features);
});

it("an agent must support the features of a whole file, of a step, and of includes", () => {
  expect(needed("tools: auto\njobs: { a: { steps: [{ run: a, retry: 1 }] } }\n")).toEqual(["retry", "tools"]);
  expect(needed(inJob(""), true)).toEqual(["include"]);
  expect(needed("retry: 1\nsteps: [{ run: a }]\n")).toEqual(["retry"]);
});
