import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Groups, MOST_GROUPS } from "../../../src/dashboard/log-viewer/client/groups.ts";
import { FoldedHeights } from "../../../src/dashboard/log-viewer/client/heights.ts";
import { storeOf } from "./filled-log-store.ts";

const groupsOf = (lines: string[], begins: number[] = []) => {
  const store = storeOf(lines.map((line) => `${line}\n`).join(""));
  const groups = new Groups(store);
  groups.update(begins);
  return { store, groups };
};
const shown = (lines: string[], begins: number[] = []) =>
  groupsOf(lines, begins).groups.all.map(({ head, end, title, isOpen }) => [head, end, title, isOpen]);

describe("log groups", () => {
  it("extend from ::group:: to ::endgroup::, and fold when they end", () => {
    expect(shown(["a", "::group::Install it", "b", "c", "::endgroup::", "d", "::group::Open", "e", "f"])).toEqual([
      [1, 5, "Install it", false],
      [6, 9, "Open", true],
    ]);
  });

  it("extend from --- to the next ---, and stay open", () => {
    expect(shown(["--- one", "a", "--- two", "b", "c"])).toEqual([
      [0, 2, "one", true],
      [2, 5, "two", true],
    ]);
  });

  it("end where the next group begins, and never nest", () => {
    expect(shown(["::group::a", "x", "::group::b", "y", "::endgroup::", "::endgroup::", "z"])).toEqual([
      [0, 2, "a", false],
      [2, 5, "b", false],
    ]);
  });

  it("end with their step, whose own header starts no group", () => {
    const lines = ["--- step one", "::group::never ended", "a", "--- step two", "b", "::endgroup::", "c"];
    expect(shown(lines, [0, 3])).toEqual([[1, 3, "never ended", true]]);
    expect(shown(lines, [0])).toEqual([
      [1, 3, "never ended", false],
      [3, 6, "step two", true],
    ]);
  });

  it.each([
    [["x ::group::no", "a", "b"]],
    [[" ::group::no", "a", "b"]],
    [["::Group::no", "a", "b"]],
    [["---", "a", "b"]],
    [["--- a/file.c", "+++ b/file.c", "b"]],
    [["::endgroup::", "a", "b"]],
    [["::group::nothing in it"]],
  ])("do not start in %j", (lines) => {
    expect(shown(lines)).toEqual([]);
  });

  it("show their title as plain text, or a default title", () => {
    const title = `<img src=x onerror="window.__ran = 1">`;
    expect(shown([`::group::${title}`, "a", "::endgroup::", "::group::", "b", "c"]).map((row) => row[2])).toEqual([
      title,
      "Group",
    ]);
  });

  it("keep their fold state while the log grows, and reset it for another attempt", () => {
    const { store, groups } = groupsOf(["::group::a", "x", "::endgroup::", "y", "z"]);
    const before = groups.version;
    groups.open(0, true);
    expect(groups.version).toBeGreaterThan(before);
    store.append(new TextEncoder().encode("::group::b\nx\n::endgroup::\ny\nz\n"));
    groups.update([]);
    expect(groups.all.map(({ isOpen }) => isOpen)).toEqual([true, false]);
    store.clear();
    store.append(new TextEncoder().encode("::group::a\nx\n::endgroup::\ny\nz\n"));
    groups.update([]);
    expect(groups.all.map(({ isOpen }) => isOpen)).toEqual([false]);
  });

  it("do not depend on the pieces in which the log arrives", () => {
    const line = fc.constantFrom("a", "::group::g", "::endgroup::", "--- t", "+++ f", "");
    fc.assert(
      fc.property(fc.array(line, { maxLength: 40 }), fc.integer({ min: 1, max: 30 }), (lines, piece) => {
        const text = new TextEncoder().encode(lines.map((each) => `${each}\n`).join(""));
        const store = storeOf("");
        const groups = new Groups(store);
        for (let at = 0; at < text.length; at += piece) {
          store.append(text.subarray(at, at + piece));
          groups.update([]);
        }
        expect(groups.all).toEqual(groupsOf(lines).groups.all);
      }),
    );
  });

  it("are limited in number, however many a step prints", () => {
    const { groups } = groupsOf(
      Array(3 * MOST_GROUPS)
        .fill("::group::x\na")
        .join("\n")
        .split("\n"),
    );
    expect(groups.all.length).toBe(MOST_GROUPS);
  });
});

describe("line heights in log groups", () => {
  /** Returns each line with its number of rows; a folded line has none. */
  const rowsOf = (lines: string[], { all }: Groups, columns: number | null): number[] =>
    lines.map((line, index) => {
      const group = all.find(({ head, end }) => index > head && index < end);
      if (group && (!group.isOpen || (group.hasEnd && index === group.end - 1))) return 0;
      return columns === null ? 1 : Math.max(1, Math.ceil((line.length + 1) / columns));
    });

  it("are zero in a folded group and at the end marker of an open one, and unchanged elsewhere", () => {
    const line = fc.constantFrom("a", "x".repeat(99), "::group::g", "::endgroup::", "--- t", "");
    const lines = fc.array(line, { minLength: 1, maxLength: 60 });
    const columns = fc.constantFrom(null, 20);
    fc.assert(
      fc.property(
        lines,
        columns,
        fc.array(fc.nat(59), { maxLength: 6 }),
        fc.array(fc.nat(59)),
        (all, wrap, begins, toggled) => {
          const own = [...new Set(begins)].filter((begin) => begin < all.length).sort((left, right) => left - right);
          const { store, groups } = groupsOf(all, own);
          for (const head of toggled) groups.open(head, groups.at(head)?.isOpen === false);
          const heights = new FoldedHeights(store);
          heights.update(wrap);
          heights.hide(groups.all);
          const rows = rowsOf(all, groups, wrap);
          let above = 0;
          let next = 0;
          for (const [index, height] of rows.entries()) {
            expect(heights.above(index)).toBe(above);
            if (height === 0) continue;
            expect(heights.lineAt(above)).toBe(index);
            expect(heights.lineAt(above + height - 0.5)).toBe(index);
            expect(index).toBe(next);
            next = heights.after(index);
            above += height;
          }
          expect(heights.above(rows.length)).toBe(above);
        },
      ),
      { numRuns: 500 },
    );
  });

  it("are the drawn lines' heights after a measurement", () => {
    const { store, groups } = groupsOf(["::group::a", "x".repeat(99), "::endgroup::", "y".repeat(99), "z", "end"]);
    const heights = new FoldedHeights(store);
    heights.update(20);
    heights.hide(groups.all);
    expect([heights.above(3), heights.above(4)]).toEqual([1, 6]);
    expect(heights.measured(3, 7)).toBe(true);
    heights.hide(groups.all);
    expect([heights.above(3), heights.above(4), heights.lineAt(7.5)]).toEqual([1, 8, 3]);
  });
});
