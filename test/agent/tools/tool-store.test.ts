import { existsSync, mkdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type ToolScope, ToolStore } from "../../../src/agent/tools/tool-store.ts";
import { testFolder } from "../support/folder.ts";

const OWN = process.getuid?.() ?? 0;
const MAIN: ToolScope = { repository: "r", trust: "branch", ref: "refs/heads/main" };
const NODE = [{ name: "node", version: "24" }];

const data = (text: string): string => {
  const folder = join(testFolder(), "data");
  mkdirSync(folder);
  writeFileSync(join(folder, "tool"), text);
  return folder;
};

describe("the tool store", () => {
  it("keys an entry by scope, list and lock, and never returns another entry", () => {
    const keys = [
      ToolStore.key(MAIN, NODE, []),
      ToolStore.key({ ...MAIN, repository: "s" }, NODE, []),
      ToolStore.key({ ...MAIN, trust: "pull" }, NODE, []),
      ToolStore.key({ ...MAIN, ref: "refs/heads/side" }, NODE, []),
      ToolStore.key(MAIN, [{ name: "node", version: "22" }], []),
      ToolStore.key(MAIN, NODE, [{ name: "node", version: "24.1.0", checksum: "sha256:1" }]),
    ];
    expect(new Set(keys).size).toBe(keys.length);
    const two = [...NODE, { name: "java", version: "21" }];
    expect(ToolStore.key(MAIN, two, [])).toBe(ToolStore.key(MAIN, [...two].reverse(), []));
  });

  it("returns copies, and deletes the least recently used ones", async () => {
    const folder = testFolder();
    const store = new ToolStore(folder, 10);
    const keep = (key: string, text: string) => {
      const from = data(text);
      return store.keep(key, from, { owner: OWN, root: from });
    };
    await keep("a", "aaaa");
    await keep("b", "bbbb");
    for (const key of ["a", "b"]) utimesSync(join(folder, key, "about.json"), new Date(1e12), new Date(1e12));
    const to = join(testFolder(), "data");
    await store.take("a", to, to);
    expect(readFileSync(join(to, "tool"), "utf8")).toBe("aaaa");
    writeFileSync(join(to, "tool"), "evil");
    await keep("c", "cccc");
    expect(["a", "b", "c"].map((key) => store.has(key))).toEqual([true, false, true]);
    const again = join(testFolder(), "data");
    await store.take("a", again, again);
    expect(readFileSync(join(again, "tool"), "utf8")).toBe("aaaa");
  });

  it("keeps nothing of a rejected tree, and its previous entry stays", async () => {
    const folder = testFolder();
    const store = new ToolStore(folder, 10);
    const good = data("good");
    await store.keep("a", good, { owner: OWN, root: good });
    const wrong = data("evil");
    symlinkSync("/etc/passwd", join(wrong, "link"));
    await expect(store.keep("a", wrong, { owner: OWN, root: wrong })).rejects.toThrow("outside the tools");
    const large = data("12345678901");
    await expect(store.keep("b", large, { owner: OWN, root: large })).rejects.toThrow("larger than the tool store");
    expect([store.has("a"), store.has("b")]).toEqual([true, false]);
    expect(readFileSync(join(folder, "a/data/tool"), "utf8")).toBe("good");
  });

  it("with size 0 keeps nothing", async () => {
    const folder = join(testFolder(), "store");
    const from = data("x");
    const store = new ToolStore(folder, 0);
    await store.keep("a", from, { owner: OWN, root: from });
    expect([store.has("a"), existsSync(folder)]).toEqual([false, false]);
  });
});
