import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { JobLog } from "../../../src/agent/log/job-log.ts";
import { MaskCommandParser } from "../../../src/agent/steps/step-log-writer.ts";

/** Returns the log of output that arrives in these pieces, and the values to mask. */
const logged = (pieces: Uint8Array[], commands: Pick<MaskCommandParser, "push" | "end"> = new MaskCommandParser()) => {
  const kept: Uint8Array[] = [];
  const sink = { size: 0, write: (bytes: Uint8Array) => void kept.push(bytes.slice()) };
  const log = new JobLog([], sink, () => {});
  const masks: string[] = [];
  for (const read of [...pieces.map((piece) => () => commands.push(piece)), () => commands.end()]) {
    const { masks: more, bytes } = read();
    masks.push(...more);
    log.addSecrets(more);
    log.write(bytes);
  }
  log.flush();
  return { text: Buffer.concat(kept).toString(), masks };
};

/** Returns the text cut at each position once, and cut into single bytes. */
const cuts = (text: string): Uint8Array[][] => {
  const bytes = Buffer.from(text);
  const once = [...bytes.keys()].map((at) => [bytes.subarray(0, at), bytes.subarray(at)]);
  return [...once, [...bytes].map((byte) => Uint8Array.of(byte))];
};

describe("::add-mask:: in a step's output", () => {
  it.each([
    ["a line", "a\n::add-mask::tokenvalue\nb tokenvalue\n", "a\n::add-mask::***\nb ***\n"],
    ["the first line", "::add-mask::tokenvalue\ntokenvalue", "::add-mask::***\n***"],
    ["the last line, without an end", "x\n::add-mask::tokenvalue", "x\n::add-mask::***"],
    ["blanks before it", " \t ::add-mask::tokenvalue\ntokenvalue\n", " \t ::add-mask::***\n***\n"],
    ["CRLF", "::add-mask::tokenvalue\r\n<tokenvalue>\r\n", "::add-mask::***\r\n<***>\r\n"],
    ["a bare CR before it", "50%\r::add-mask::tokenvalue\rtokenvalue", "50%\r::add-mask::***\r***"],
    ["percent signs", "::add-mask::50%25 off\n50% off, 50%25 off\n", "::add-mask::***\n***, ***\n"],
    ["a line break in it", "::add-mask::line one%0Aline two\nline two\n", "::add-mask::***\n***\n"],
    [
      "two of them",
      "::add-mask::tokenvalue\n::add-mask::other-one\nother-one tokenvalue\n",
      "::add-mask::***\n::add-mask::***\n*** ***\n",
    ],
    ["inside a line: text", "see ::add-mask::tokenvalue\ntokenvalue\n", "see ::add-mask::tokenvalue\ntokenvalue\n"],
    [
      "nothing to mask",
      "::add-mask::\n::add-mask::  \n::add-\n  a  b\n",
      "::add-mask::\n::add-mask::  \n::add-\n  a  b\n",
    ],
  ])("handles %s, wherever the pieces are cut", (_, text, expected) => {
    for (const pieces of cuts(text)) expect(logged(pieces).text).toBe(expected);
  });

  it("fails this test if a line is not held back", () => {
    const hasty = {
      push: (bytes: Uint8Array) => new MaskCommandParser().push(bytes),
      end: () => ({ masks: [], bytes: new Uint8Array() }),
    };
    const text = "::add-mask::tokenvalue\ntokenvalue\n";
    expect(cuts(text).some((pieces) => logged(pieces, hasty).text.includes("tokenvalue"))).toBe(true);
  });

  it("changes no byte of other output, and holds back at most one line", () => {
    const word = fc.constantFrom("::add-mask", "::", " ", "\n", "\r", "x", "\xff", "::add", "-mask:", "\0");
    fc.assert(
      fc.property(fc.array(fc.array(word, { maxLength: 6 }), { maxLength: 8 }), (words) => {
        const pieces = words.map((piece) => Buffer.from(piece.join(""), "latin1"));
        const whole = Buffer.concat(pieces);
        fc.pre(!whole.includes("::add-mask::"));
        const commands = new MaskCommandParser();
        const heard = pieces.map((piece) => commands.push(piece).bytes);
        expect(Buffer.concat([...heard, commands.end().bytes]).equals(whole)).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  it("holds back no line without an end", () => {
    const commands = new MaskCommandParser();
    const value = "v".repeat(70_000);
    const { masks, bytes } = commands.push(Buffer.from(`::add-mask::${value}`));
    expect(masks).toEqual([value]);
    expect(bytes.length).toBe(value.length + 12);
    expect(commands.push(Buffer.from("::add-mask::xxxx\n")).masks).toEqual([]);
  });
});
