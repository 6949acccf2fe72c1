import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { buildCacheKey, idsOfFiles } from "../../../src/agent/cache/prepare-cache.ts";
import { ProcessTree } from "../../../src/agent/process/process-tree.ts";
import { CacheKey } from "../../../src/protocol/cache.ts";
import { makeRepository } from "../../support/local/git-repository.ts";
import { testFolder } from "../support/folder.ts";

const CACHE = { name: "npm", paths: ["~/.npm"], isShared: false };
const LINUX = { platform: "linux", arch: "x64", matrix: { node: "20" } };
const TEXTS = { key: "main", fallback: [] as string[] };

const text = fc.string({ unit: "binary", maxLength: 60 });

describe("a cache key", () => {
  it("differs for other platforms, values, paths, files and names", () => {
    const keys = [
      buildCacheKey(CACHE, LINUX, TEXTS, "ids"),
      buildCacheKey(CACHE, { ...LINUX, platform: "darwin" }, TEXTS, "ids"),
      buildCacheKey(CACHE, { ...LINUX, arch: "arm64" }, TEXTS, "ids"),
      buildCacheKey(CACHE, { ...LINUX, matrix: { node: "22" } }, TEXTS, "ids"),
      buildCacheKey({ ...CACHE, paths: ["~/.npm", "deps"] }, LINUX, TEXTS, "ids"),
      buildCacheKey({ ...CACHE, name: "gems" }, LINUX, TEXTS, "ids"),
      buildCacheKey(CACHE, LINUX, { ...TEXTS, key: "other" }, "ids"),
      buildCacheKey(CACHE, LINUX, TEXTS, "other"),
      buildCacheKey(CACHE, LINUX, TEXTS, null),
    ].map((one) => one?.key);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it("is the same for all combinations if it is shared, in any order of their values", () => {
    const shared = { ...CACHE, isShared: true };
    const of = (matrix: Record<string, string>) => buildCacheKey(shared, { ...LINUX, matrix }, TEXTS, "ids")?.key;
    expect(of({ node: "20" })).toBe(of({ node: "22" }));
    const ordered = (matrix: Record<string, string>) => buildCacheKey(CACHE, { ...LINUX, matrix }, TEXTS, "ids")?.key;
    expect(ordered({ a: "1", b: "2" })).toBe(ordered({ b: "2", a: "1" }));
  });

  it("is always valid for the service, and begins with each of its prefixes", () => {
    fc.assert(
      fc.property(text, fc.nat(60), (whole, length) => {
        const key = whole.toWellFormed();
        const beginning = [...key].slice(0, length).join("");
        const made = buildCacheKey(CACHE, LINUX, { key, fallback: [beginning] }, "ids");
        if (made === null) return;
        expect(CacheKey.safeParse(made.key).success).toBe(true);
        expect(made.key.startsWith(made.fallback[0] ?? "none")).toBe(true);
        const mac = buildCacheKey(CACHE, { ...LINUX, platform: "darwin" }, { key: "", fallback: [""] }, null);
        expect(made.key.startsWith(mac?.fallback[0] ?? "")).toBe(false);
      }),
    );
  });
});

describe("the ids of files", () => {
  it("come from the commit, whatever is in the folder", async () => {
    const { work, git } = makeRepository(testFolder(), { lock: "1", "app/lock": "1", "app/other": "1", "[a]": "x" });
    const context = { folder: work, protocols: [], tree: new ProcessTree("ids", {}) };
    const idsAt = (commit: string, ...files: string[]) => idsOfFiles(context, commit, files);
    const first = git("rev-parse", "HEAD");
    const before = await idsAt(first, "lock", "app/lock");
    expect(before?.split("\0").map((line) => line.split("\t")[1])).toEqual(["app/lock", "lock"]);
    expect(await idsAt(first, "**/lock")).toContain("app/lock");
    expect(await idsAt(first, "app/l*")).toMatch(/^100644 blob [0-9a-f]{40}\tapp\/lock$/);
    expect(await idsAt(first, "app")).toContain("app/other");
    expect(await idsAt(first, "none")).toBeNull();
    git("commit", "--quiet", "--allow-empty", "--message", "Nothing");
    expect(await idsAt("HEAD", "lock", "app/lock")).toBe(before);
  });
});
