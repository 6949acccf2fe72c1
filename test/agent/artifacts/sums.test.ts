import { createHash } from "node:crypto";
import * as zlib from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { crcByTable, SumsOfFiles } from "../../../src/agent/artifacts/sums.ts";
import { filesInWords, sizeInWords } from "../../../src/agent/files/file-words.ts";

describe("the sums of files", () => {
  it("match each file's bytes, regardless of how the bytes arrive", () => {
    const content = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes));
    fc.assert(
      fc.property(
        fc.array(content, { minLength: 1, maxLength: 6 }),
        fc.array(fc.nat(50), { maxLength: 20 }),
        (files, cuts) => {
          const sums = new SumsOfFiles(files.map(({ length }) => ({ size: length })));
          const all = Buffer.concat(files);
          const places = [0, ...cuts.map((cut) => Math.min(cut, all.length)).sort((a, b) => a - b), all.length];
          for (const [index, end] of places.slice(1).entries()) sums.push(all.subarray(places[index], end));
          expect(sums.sums).toEqual(
            files.map((file) => ({
              sha256: createHash("sha256").update(file).digest("hex"),
              crc32: zlib.crc32(file).toString(16).padStart(8, "0"),
            })),
          );
        },
      ),
    );
    expect(() => new SumsOfFiles([{ size: 1 }]).push(Buffer.from("ab"))).toThrow();
  });

  it("are the same on a Node without crc32", () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.uint8Array(), (a, b) => {
        expect(crcByTable(b, crcByTable(a, 0))).toBe(zlib.crc32(Buffer.concat([a, b])));
      }),
    );
    expect(crcByTable(Buffer.from("123456789"), 0)).toBe(0xcbf43926);
  });
});

it("sizes are shown in readable units", () => {
  expect([0, 1, 1023, 1024, 10 * 1024, 327_155_712, 2_254_857_830].map(sizeInWords)).toEqual([
    ...["0 bytes", "1 bytes", "1023 bytes", "1.0 KiB", "10 KiB", "312 MiB", "2.1 GiB"],
  ]);
  expect([1, 2].map(filesInWords)).toEqual(["1 file", "2 files"]);
});
