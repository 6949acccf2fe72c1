import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Heights } from "../../../src/dashboard/log-viewer/client/heights.ts";
import { storeOf } from "./filled-log-store.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

/** Compares every sum and every position with a plain count of rows. */
const check = (heights: Heights, rows: number[]) => {
  let above = 0;
  for (const [line, own] of rows.entries()) {
    expect(heights.above(line)).toBe(above);
    expect(heights.lineAt(above)).toBe(line);
    expect(heights.lineAt(above + own - 1)).toBe(line);
    above += own;
  }
  expect(heights.above(rows.length)).toBe(above);
};

describe("line heights", () => {
  it("are one row each without wrapping", () => {
    const heights = new Heights(storeOf("a\n".repeat(2000)));
    heights.update(null);
    expect([heights.above(1500), heights.lineAt(1500.7), heights.measured(3, 9)]).toEqual([1500, 1500, false]);
  });

  it("are estimated from the width, and exact after a measurement", () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(300), { minLength: 1, maxLength: 60 }),
        fc.array(fc.tuple(fc.nat(59), fc.integer({ min: 1, max: 40 })), { maxLength: 80 }),
        fc.array(fc.nat(300), { maxLength: 20 }),
        (lengths, measures, later) => {
          const text = (all: number[]) => all.map((length) => `${"x".repeat(length)}\n`).join("");
          const store = storeOf(text(lengths));
          const heights = new Heights(store);
          heights.update(80);
          const rows = lengths.map((length) => Math.max(1, Math.ceil((length + 1) / 80)));
          check(heights, rows);
          for (const [line, measured] of measures.filter(([line]) => line < lengths.length)) {
            expect(heights.measured(line, measured)).toBe(rows[line] !== measured);
            rows[line] = measured;
          }
          check(heights, rows);
          store.append(bytes(text(later)));
          heights.update(80);
          const last = lengths.length - 1;
          if (later.length > 0) rows[last] = Math.max(1, Math.ceil(((lengths[last] ?? 0) + 1) / 80));
          check(heights, [...rows, ...later.map((length) => Math.max(1, Math.ceil((length + 1) / 80)))]);
        },
      ),
    );
  });

  it("are reset for another width or attempt, and grow past their initial capacity", () => {
    const store = storeOf(`${"x".repeat(99)}\n`.repeat(5000));
    const heights = new Heights(store);
    heights.update(50);
    expect([heights.above(5000), heights.lineAt(9999)]).toEqual([10_000, 4999]);
    heights.measured(7, 5);
    heights.update(25);
    expect(heights.above(5000)).toBe(20_000);
    store.clear();
    store.append(bytes("a\nb\n"));
    heights.update(25);
    expect([heights.above(2), heights.lineAt(1)]).toEqual([2, 1]);
  });
});
