import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { entriesToDrop, type StoredSize } from "../../../src/domain/cache/entries-to-drop.ts";

const MOST = { bytes: 100, entries: 6 };
const entry = fc.record({
  scope: fc.constantFrom("test/main", "release/main", "test/topic", "test/other"),
  bytes: fc.integer({ min: 1, max: 60 }),
  usedDay: fc.constantFrom("2026-11-01", "2026-11-02", "2026-11-03"),
  madeAt: fc.constantFrom("2026-10-01T00:00:00Z", "2026-10-02T00:00:00Z"),
});
type Entry = Pick<StoredSize, "scope" | "bytes" | "usedDay" | "madeAt">;
const whole = (one: Entry): StoredSize => ({ ...one, isOfDefaultBranch: one.scope.endsWith("/main") });

describe("room in the cache of a repository", () => {
  it("comes from a branch's own entries, and for the default branch also from those of other branches", () => {
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 7 }), entry, (entries, one) => {
        const stored = entries.map(whole);
        const wanted = whole(one);
        const gone = entriesToDrop(stored, wanted, MOST);
        const mayGo = stored.filter(
          ({ scope, isOfDefaultBranch }) => scope === wanted.scope || (wanted.isOfDefaultBranch && !isOfDefaultBranch),
        );
        const sum = (all: { bytes: number }[]) => all.reduce((bytes, each) => bytes + each.bytes, 0);
        if (gone === null) {
          const kept = stored.filter((each) => !mayGo.includes(each));
          expect(sum(kept) + wanted.bytes > MOST.bytes || kept.length + 1 > MOST.entries).toBe(true);
          return;
        }
        for (const each of gone) expect(mayGo).toContain(each);
        const left = stored.filter((each) => !gone.includes(each));
        expect(sum(left) + wanted.bytes).toBeLessThanOrEqual(MOST.bytes);
        expect(left.length).toBeLessThan(MOST.entries);
        // No dropped entry of its own was used later than one that stays.
        const own = (all: typeof stored) => all.filter(({ scope }) => scope === wanted.scope);
        for (const out of own(gone)) for (const stays of own(left)) expect(out.usedDay <= stays.usedDay).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  it("does not grow if there is enough", () => {
    const stored = [whole({ scope: "test/main", bytes: 40, usedDay: "2026-11-01", madeAt: "" })];
    expect(entriesToDrop(stored, { scope: "test/main", bytes: 60, isOfDefaultBranch: true }, MOST)).toEqual([]);
  });
});
