import { execFileSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { pathProblem, placeFiles } from "../../../src/domain/artifact/file-list.ts";
import { zipLayout } from "../../../src/domain/artifact/zip.ts";
import { packed } from "../../support/artifact-files.ts";

const FOLDER = mkdtempSync(join(tmpdir(), "millrace-zip-"));
afterAll(() => rmSync(FOLDER, { recursive: true }));
const AT = Date.UTC(2026, 10, 23, 12, 34, 56);

/** Returns the whole archive of these files. */
const zipped = (files: Record<string, string>, mode: "644" | "755" = "644"): Buffer => {
  const { list, bytes } = packed(files, mode);
  const { entries, directory, size } = zipLayout(placeFiles(list), AT);
  const parts = entries.flatMap(({ file, header }) => [header, bytes.subarray(file.start, file.end)]);
  const whole = Buffer.concat([...parts, directory]);
  expect(whole.length).toBe(size);
  return whole;
};

const READ = `
import json, sys, zipfile
read = []
for path in sys.argv[1:]:
    with zipfile.ZipFile(path) as z:
        assert z.testzip() is None
        read.append([[i.filename, z.read(i).decode("utf-8"), i.external_attr >> 16, list(i.date_time)] for i in z.infolist()])
print(json.dumps(read))
`;

type Read = [name: string, text: string, mode: number, date: number[]][];

/** Reads each archive with another program. @throws if that program finds a mistake */
const readBack = (...archives: Buffer[]): Read[] => {
  const paths = archives.map((_, index) => join(FOLDER, `${index}.zip`));
  for (const [index, path] of paths.entries()) writeFileSync(path, archives[index]!);
  return JSON.parse(execFileSync("python3", ["-c", READ, ...paths], { encoding: "utf8", maxBuffer: 1 << 28 }));
};

const unzip = (archive: Buffer): string => {
  const path = join(FOLDER, "two.zip");
  writeFileSync(path, archive);
  return execFileSync("unzip", ["-t", path], { encoding: "utf8", maxBuffer: 1 << 28 });
};

describe("a ZIP archive", () => {
  it("can be read by other programs, with names, texts, modes and times", () => {
    const files = { "a.txt": "one", "b/ç ü 漢字.txt": "two", empty: "" };
    expect(readBack(zipped(files, "755"))).toEqual([
      Object.entries(files).map(([name, text]) => [name, text, 0o100755, [2026, 11, 23, 12, 34, 56]]),
    ]);
    expect(unzip(zipped(files))).toContain("No errors detected");
  });

  it("can be read with any files", () => {
    const path = fc
      .string({ unit: "grapheme", minLength: 1, maxLength: 40 })
      .filter((text) => pathProblem(text) === null);
    const contents = fc.dictionary(path, fc.string(), { minKeys: 1, maxKeys: 8 });
    fc.assert(
      fc.property(fc.array(contents, { minLength: 25, maxLength: 25 }), (many) => {
        const texts = readBack(...many.map((files) => zipped(files))).map((read) =>
          read.map(([name, text]) => [name, text]),
        );
        expect(texts).toEqual(
          many.map((files) => Object.entries(files).map(([name, text]) => [name, text.toWellFormed()])),
        );
      }),
      { numRuns: 1 },
    );
  });

  it("is intact with 5,000 files", { timeout: 60_000 }, () => {
    const files = Object.fromEntries(
      Array.from({ length: 5000 }, (_, index) => [`d${index % 50}/f${index}`, `${index}`]),
    );
    expect(unzip(zipped(files))).toContain("No errors detected");
    expect(readBack(zipped(files))[0]).toHaveLength(5000);
  });

  it("is not intact with a changed byte", () => {
    const archive = zipped({ "a.txt": "one" });
    archive[36] = archive[36]! ^ 1;
    expect(() => unzip(archive)).toThrow();
  });

  it("has 64-bit sizes and positions for files beyond 4 GiB", { timeout: 60_000 }, () => {
    const GIB = 2 ** 30;
    const sparse = { mode: "644" as const, sha256: "0".repeat(64), crc32: "00000000" };
    const files = placeFiles([
      { path: "large", size: 5 * GIB, ...sparse },
      { path: "behind", size: 3, ...sparse, crc32: packed({ x: "abc" }).list[0]!.crc32 },
    ]);
    const { entries, directory, size } = zipLayout(files, AT);
    const path = join(FOLDER, "sparse.zip");
    const file = openSync(path, "w");
    let at = 0;
    for (const { header, file: one } of entries) {
      writeSync(file, header, 0, header.length, at);
      at += header.length + one.size;
    }
    writeSync(file, Buffer.from("abc"), 0, 3, at - 3);
    writeSync(file, directory, 0, directory.length, at);
    closeSync(file);
    expect(at + directory.length).toBe(size);
    const script = `
import sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as z:
    print([(i.filename, i.file_size) for i in z.infolist()], z.read("behind"))
    z.open("large").read(1)
`;
    const read = execFileSync("python3", ["-c", script, path], { encoding: "utf8" });
    expect(read.trim()).toBe(`[('large', ${5 * GIB}), ('behind', 3)] b'abc'`);
  });
});
