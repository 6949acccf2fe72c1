import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MaskFileReader, readMaskFile } from "../../../src/pipeline/prepare/command-files.ts";

/** The same in few words: it searches for the end of each value in all lines after it. */
const readSlowly = (content: string): string[] => {
  const lines = content.split(/\r?\n/).map((line) => line.replace(/^\ufeff/, ""));
  const masks: string[] = [];
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!;
    const end = line.startsWith("<<") && line.length > 2 ? lines.indexOf(line.slice(2), at + 1) : -1;
    masks.push(end < 0 ? line : lines.slice(at + 1, end).join("\n"));
    if (end >= 0) at = end;
  }
  return masks.filter((mask) => mask !== "");
};

const line = fc.constantFrom("A", "B", "<<A", "<<B", "<<<<A", "<<", "", "\ufeffA", "word", "two words\r");
const file = fc.array(line, { maxLength: 12 }).map((lines) => lines.map((one) => `${one}\n`).join(""));

describe("a file of masks", () => {
  it.each([
    ["one\n\ntwo words\n<<E\na\nb\nE\n<<never ends\n<<\n", ["one", "two words", "a\nb", "<<never ends", "<<"]],
    ["abc", []],
    ["abcd", ["abcd"]],
    ["<<E\na\nb\nE", ["a\nb"]],
    ["\ufeffone\r\n\ufefftwo\r\n", ["one", "two"]],
  ])("is read: %j", (content, masks) => expect(readMaskFile(content)).toEqual(masks));

  it("has a value per line, or lines up to the end word", () => {
    fc.assert(fc.property(file, (content) => void expect(readMaskFile(content)).toEqual(readSlowly(content))));
  });

  it("returns all values in the order written, wherever it is cut", () => {
    fc.assert(
      fc.property(file, fc.array(fc.nat(60), { maxLength: 6 }), (content, cuts) => {
        const ends = [...cuts.map((cut) => Math.min(cut, content.length)), content.length].sort((a, b) => a - b);
        const reader = new MaskFileReader({ left: 10_000 });
        const told = ends.flatMap((end, index) => reader.push(content.slice(ends[index - 1] ?? 0, end)));
        expect(told).toEqual(expect.arrayContaining(readMaskFile(content)));
      }),
    );
  });

  it("returns each line once, and incomplete values only while there is work left", () => {
    const work = { left: 100 };
    const reader = new MaskFileReader(work);
    expect(reader.push("<<A\nin A\n<<B\n")).toEqual(["<<A", "in A", "<<B"]);
    expect(reader.push("in B\nB\n")).toEqual(["in B"]);
    expect(reader.push("A\n")).toEqual(["in A\n<<B\nin B\nB"]);
    const told = Array.from({ length: 40 }, () => reader.push("x")).flat();
    expect(told.map((value) => value.length)).toEqual([4, 5, 6, 7, 8, 9, 10, 11, 12]);
    expect(reader.push("\n<<C\n")).toEqual(["x".repeat(40), "<<C"]);
  });
});
