import { describe, expect, it } from "vitest";
import { cachePathProblem, cachePlaces } from "../../../src/domain/artifact/chosen-paths.ts";
import { parsePlan } from "../../../src/pipeline/parse/parse.ts";

const fileOf = (caches: string) => `steps: [{ run: make }]\ncache: ${caches}\n`;
const mistakesIn = (text: string) => (parsePlan(text).mistakes ?? []).map(({ message }) => message);

describe("`cache`", () => {
  it("is read with its defaults", () => {
    const { plan } = parsePlan(fileOf("[{ name: npm, files: package-lock.json, path: ~/.npm }]"));
    expect(plan?.job.caches).toEqual([
      {
        ...{ name: "npm", paths: ["~/.npm"], files: ["package-lock.json"], key: null, fallback: [] },
        ...{ isShared: false, save: "success", isRemote: false },
      },
    ]);
  });

  it("is absent if the file has none", () => {
    expect(parsePlan("steps: [{ run: make }]").plan?.job).not.toHaveProperty("caches");
  });

  it("may differ by job, with its matrix in the key", () => {
    const file = `jobs:
  test:
    matrix: { node: [20, 22] }
    steps: [{ run: make }]
    cache: [{ name: npm, key: 'on-\${{ matrix.node }}', fallback: [on-], path: [deps, ~/.npm] }]
`;
    expect(parsePlan(file).plan?.jobs?.[0]?.job.caches).toMatchObject([{ name: "npm", files: [] }]);
    expect(mistakesIn(`cache: [{ name: a, key: a, path: b }]\n${file}`)).toEqual([
      "`cache` is not a key of a file with several jobs. Write it in the job that needs it",
    ]);
  });

  it.each([
    ["[{ name: a, path: b }]", "A cache needs `files` of the commit, or a `key`: without them it would never change"],
    [
      "[{ name: a, files: l, fallback: [x], path: b }]",
      "`fallback` lists prefixes of the `key`: this cache has no `key`",
    ],
    ["[{ name: a, key: a, path: b }, { name: a, key: b, path: c }]", "Another cache of this job has this name"],
    ["[{ name: a, key: '${{ steps.x.outputs.y }}', path: b }]", /before the first step runs/],
    ["[{ name: a b, key: a, path: b }]", /The name of a cache must be/],
    ["{ key: a, paths: [b] }", /Write a list, for example/],
    ["[{ name: a, key: a, paths: [b], path: b }]", /Write `path`/],
  ])("%s is a mistake", (caches, message) => {
    expect(mistakesIn(fileOf(caches))).toContainEqual(
      message instanceof RegExp ? expect.stringMatching(message) : message,
    );
  });

  it.each([
    ["/etc", /relative to the checkout/],
    ["../up", /\.\./],
    ["a/../../b", /\.\./],
    ["~", /cannot cache all/],
    ["~/", /cannot cache all/],
    ["~/.", /cannot cache all/],
    ["~/*", /named in full/],
    ["~/.ssh", /never cached/],
    ["~//.SSH/known_hosts", /never cached/],
    ["~/./.ssh", /never cached/],
    ["~/.millrace/identity.json", /never cached/],
    ["~/.gradle/../.ssh", /\.\./],
    ["~root/x", /relative/],
    ["!a", /excluded/],
    ["", /empty/],
  ])("cannot have the path %s", (path, problem) => {
    expect(cachePathProblem(path)).toMatch(problem);
  });

  it("may have paths in the checkout and below HOME", () => {
    for (const path of ["node_modules", "a/*/build", "~/.gradle/caches", "~/.m2/**", "./vendor"])
      expect(cachePathProblem(path)).toBeNull();
    expect(cachePlaces(["deps", "~/.npm", "~//.m2/x"])).toEqual({ checkout: ["deps"], home: [".npm", ".m2/x"] });
  });
});
