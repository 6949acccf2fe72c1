import { existsSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { LocalTier } from "../../../src/agent/cache/local-tier.ts";
import { testFolder } from "../support/folder.ts";

const SCOPE = "a".repeat(64);
const OTHER = "b".repeat(64);

const kept = (key: string, bytes: number, madeAt = "2026-11-01T00:00:00Z") =>
  ({ key, bytes, sha256: "c".repeat(64), codec: "gzip", madeAt }) as const;

const keep = (tier: LocalTier, scope: string, key: string, bytes: number, madeAt?: string) => {
  const file = tier.temporary();
  writeFileSync(file, Buffer.alloc(bytes));
  return tier.keep(scope, kept(key, bytes, madeAt), file);
};

describe("copies of cache entries on a machine", () => {
  it("belong to one scope, and are found by key or by the newest prefix", () => {
    const tier = new LocalTier(join(testFolder(), "cache"), 1000);
    keep(tier, SCOPE, "npm-1", 10, "2026-11-01T00:00:00Z");
    keep(tier, SCOPE, "npm-2", 10, "2026-11-02T00:00:00Z");
    keep(tier, OTHER, "npm-3", 10, "2026-11-03T00:00:00Z");
    expect(tier.find(SCOPE, "npm-1")).toMatchObject({ key: "npm-1" });
    expect(tier.find(SCOPE, "npm-3")).toBeNull();
    expect(tier.newest(SCOPE, "npm-")).toMatchObject({ key: "npm-2" });
    expect(tier.newest(SCOPE, "gems-")).toBeNull();
  });

  it("are deleted above the limit, the least recently used first", () => {
    const tier = new LocalTier(join(testFolder(), "cache"), 100);
    for (const [index, key] of ["a", "b", "c"].entries()) {
      const { file } = keep(tier, index === 1 ? OTHER : SCOPE, key, 30);
      utimesSync(file, 1000 + index, 1000 + index);
    }
    tier.touch(tier.find(SCOPE, "a")!);
    keep(tier, SCOPE, "d", 30);
    expect([tier.find(SCOPE, "a"), tier.find(OTHER, "b"), tier.find(SCOPE, "c")].map((one) => one?.key)).toEqual([
      "a",
      undefined,
      "c",
    ]);
    const large = keep(tier, SCOPE, "large", 101);
    expect(existsSync(large.file)).toBe(true);
    expect(tier.find(SCOPE, "large")).toBeNull();
  });

  it("are created and found after somebody removed the folder", () => {
    const folder = join(testFolder(), "cache");
    const tier = new LocalTier(folder, 100);
    keep(tier, SCOPE, "a", 10);
    rmSync(folder, { recursive: true });
    expect(tier.find(SCOPE, "a")).toBeNull();
    keep(tier, SCOPE, "a", 20);
    expect(tier.find(SCOPE, "a")).toMatchObject({ bytes: 20 });
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  it("are ignored if they are cut off or lack their note, and lead nowhere else", () => {
    const folder = join(testFolder(), "cache");
    const tier = new LocalTier(folder, 1000);
    const { file } = keep(tier, SCOPE, "a", 10);
    writeFileSync(file, "short");
    expect(tier.find(SCOPE, "a")).toBeNull();
    writeFileSync(`${file}.json`, "{}");
    expect(tier.find(SCOPE, "a")).toBeNull();
    expect(tier.find("../..", "a")).toBeNull();
    expect(() => keep(tier, "../x", "a", 1)).toThrow("no valid scope");
    tier.temporary();
    writeFileSync(tier.temporary(), "left by a killed agent");
    new LocalTier(folder, 1000);
    expect(readdirSync(folder)).toEqual([SCOPE]);
  });
});
