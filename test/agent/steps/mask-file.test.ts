import { appendFileSync, closeSync, openSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { MaskFile } from "../../../src/agent/steps/command-files.ts";
import { testFolder } from "../support/folder.ts";

const maskFile = () => {
  const path = join(testFolder(), "mask");
  writeFileSync(path, "");
  const fd = openSync(path, "r");
  onTestFinished(() => closeSync(fd));
  const file = new MaskFile(fd);
  let seconds = 1000;
  return {
    file,
    append: (text: string | Uint8Array) => appendFileSync(path, text),
    /**
     * Replaces the file as `>` does, with a new time: a kernel's clock has steps of some milliseconds. @returns new
     * masks
     */
    replace: (text: string) => {
      writeFileSync(path, text);
      utimesSync(path, seconds, seconds++);
      return file.added();
    },
  };
};

describe("a running step's mask file", () => {
  it("returns only new values", () => {
    const { file, append } = maskFile();
    append("one-one\n");
    expect(file.added()).toEqual(["one-one"]);
    append("<<END\ntwo\n");
    append("three\nEND\n");
    expect(file.added()).toEqual(["two\nthree"]);
    expect(file.added()).toEqual([]);
    expect(file.all()).toEqual(["one-one", "two\nthree"]);
  });

  it("is read without a byte order mark, even in pieces, and joins cut characters", () => {
    const { file, append } = maskFile();
    const bytes = Buffer.from("\ufeffpässword\n");
    const told = [...bytes].flatMap((byte) => {
      append(Uint8Array.of(byte));
      return file.added();
    });
    expect(told).toEqual(["päss", "pässw", "pässwo", "pässwor", "pässword", "pässword"]);
  });

  it("returns the values of an overwritten file with fewer, equally many or more bytes", () => {
    const { replace } = maskFile();
    const values = ["secret-of-one", "secret-of-two", "secret-of-three", "other-secret-4", "short"];
    expect(values.flatMap((value) => replace(`${value}\n`))).toEqual(values);
  });

  it("is read again after the step if it was overwritten too often", () => {
    const { file, replace } = maskFile();
    const large = (digit: string) => `${digit.repeat(300_000)}\n`;
    const told = ["1", "2", "3", "4", "5", "6"].map((digit) => replace(large(digit)).length);
    expect(told).toEqual([1, 1, 1, 1, 0, 0]);
    expect(file.all()).toEqual([large("6").trim()]);
  });
});
