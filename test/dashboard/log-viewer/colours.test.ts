import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Colours, colourAfter } from "../../../src/dashboard/log-viewer/client/colours.ts";
import { storeOf } from "./filled-log-store.ts";

describe("the active terminal colors", () => {
  it.each([
    ["\x1b[31mred", "\x1b[31m"],
    ["\x1b[31mred\x1b[0m", ""],
    ["\x1b[31mred\x1b[m", ""],
    ["\x1b[1;31;44mall", "\x1b[1;31;44m"],
    ["\x1b[1m\x1b[2mfaint\x1b[22m", ""],
    ["\x1b[38;5;208morange", "\x1b[38;5;208m"],
    ["\x1b[38;2;1;2;3;4mmixed, underlined", "\x1b[4;38;2;1;2;3m"],
    ["\x1b[48;5;22;97mx\x1b[39m", "\x1b[48;5;22m"],
    ["\x1b[31;41mx\x1b[49m", "\x1b[31m"],
    ["\x1b[91;103mx", "\x1b[91;103m"],
    ["\x1b[01;31mgrep's way", "\x1b[1;31m"],
    ["\x1b[38;5mhalf", "\x1b[38;5m"],
    ["\x1b[2K\x1b[1Gno colour", ""],
    ["\x1b[7mreverse\x1b[27m\x1b[9mstruck", "\x1b[9m"],
  ])("after %j are %j", (text, colour) => {
    expect(colourAfter("", text)).toBe(colour);
  });

  it("continue from the previous line, in any order of arrival and of reading", () => {
    const line = fc.constantFrom("plain", "\x1b[31mred", "\x1b[0m", "\x1b[1mbold \x1b[42mground", "\x1b[22;39m", "");
    const lines = fc.array(line, { minLength: 1, maxLength: 1200 });
    const begins = fc.uniqueArray(fc.nat(1200), { maxLength: 4 });
    const asks = fc.array(fc.nat(1199), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(lines, begins, begins, asks, (all, first, second, asked) => {
        const store = storeOf(all.map((each) => `${each}\n`).join(""), 997);
        const colours = new Colours(store);
        for (const set of [first, second]) {
          const at = set.filter((each) => each < all.length).sort((left, right) => left - right);
          colours.update(at);
          const expected: string[] = [];
          let on = "";
          for (const [index, each] of all.entries()) {
            if (at.includes(index)) on = "";
            expected.push(on);
            on = colourAfter(on, each);
          }
          for (const index of asked.filter((each) => each < all.length)) {
            expect([index, colours.before(index)]).toEqual([index, expected[index]]);
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  it("are reset for another attempt", () => {
    const store = storeOf("\x1b[31mred\nstill\n");
    const colours = new Colours(store);
    colours.update([]);
    expect(colours.before(1)).toBe("\x1b[31m");
    store.clear();
    store.append(new TextEncoder().encode("plain\nstill\n"));
    colours.update([]);
    expect(colours.before(1)).toBe("");
  });

  it("are found in a large log without reading all of it again", () => {
    const store = storeOf("\x1b[32mgreen and long enough to matter\n".repeat(50_000));
    let read = 0;
    const text = store.text.bind(store);
    store.text = (from, to) => {
      read += to - from;
      return text(from, to);
    };
    const colours = new Colours(store);
    colours.update([]);
    expect(read).toBeLessThan(50_001);
    read = 0;
    for (const line of [49_999, 100, 25_000, 25_001, 3]) expect(colours.before(line)).toBe("\x1b[32m");
    expect(read).toBeLessThan(5 * 512);
  });
});
