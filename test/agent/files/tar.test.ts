import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TAR_END, type TarMember, TarReader, tarBytes, tarHeader, tarPadding } from "../../../src/agent/files/tar.ts";

const part = fc.stringMatching(/^[a-zü日 .-]{1,60}$/).filter((name) => !/^\.+$/.test(name) && name.trim() === name);
const path = fc.array(part, { minLength: 1, maxLength: 6 }).map((parts) => parts.join("/"));
const member = fc.record({
  path,
  kind: fc.constantFrom("file" as const, "folder" as const, "link" as const),
  mode: fc.nat(0o777),
  mtime: fc.nat(2_000_000_000),
  link: path,
  content: fc.uint8Array({ maxLength: 1500 }).map((bytes) => Buffer.from(bytes)),
});
type Written = TarMember & { content: Buffer };
const members = fc.array(member, { maxLength: 6 }).map((all) =>
  all.map((one): Written => {
    const content = one.kind === "file" ? one.content : Buffer.alloc(0);
    return { ...one, content, size: content.length, link: one.kind === "link" ? one.link : "" };
  }),
);

const write = (all: Written[]): Buffer =>
  Buffer.concat([...all.flatMap((one) => [tarHeader(one), one.content, Buffer.alloc(tarPadding(one.size))]), TAR_END]);

const read = (pieces: Buffer[]): Written[] => {
  const found: Written[] = [];
  const reader = new TarReader({
    begin: (one) => void found.push({ ...one, content: Buffer.alloc(0) }),
    content(bytes) {
      const last = found.at(-1)!;
      last.content = Buffer.concat([last.content, bytes]);
    },
    end: () => {},
  });
  for (const piece of pieces) reader.push(piece);
  reader.close();
  return found;
};

describe("a tar", () => {
  it("is read as written, regardless of how its bytes arrive, and has the announced length", () => {
    fc.assert(
      fc.property(members, fc.integer({ min: 1, max: 2000 }), (all, size) => {
        const tar = write(all);
        expect(tarBytes(all)).toBe(tar.length);
        const pieces = Array.from({ length: Math.ceil(tar.length / size) }, (_, index) =>
          tar.subarray(index * size, (index + 1) * size),
        );
        expect(read(pieces)).toEqual(all);
      }),
      { numRuns: 60 },
    );
  });

  it("is readable by the system's tar and Python's", () => {
    const long = `${"d".repeat(120)}/${"e".repeat(90)}`;
    const file = { kind: "file", path: long, mode: 0o644, mtime: 1_700_000_000, link: "", size: 3 } as const;
    const tar = write([
      { ...file, content: Buffer.from("abc") },
      { ...file, kind: "link", path: "to", size: 0, link: long, content: Buffer.alloc(0) },
    ]);
    expect(execFileSync("tar", ["-tf", "-"], { input: tar }).toString()).toBe(`${long}\nto\n`);
    const names =
      "import sys, tarfile; [print(m.name, m.size, m.linkname) for m in tarfile.open(fileobj=sys.stdin.buffer, mode='r|')]";
    expect(execFileSync("python3", ["-c", names], { input: tar }).toString()).toBe(`${long} 3 \nto 0 ${long}\n`);
  });

  it("with more than eight GiB in a file states its size", () => {
    const size = 9 * 1024 ** 3;
    const head = tarHeader({ kind: "file", path: "x", mode: 0o644, mtime: 0, link: "", size });
    const seen: number[] = [];
    new TarReader({ begin: (one) => void seen.push(one.size), content: () => {}, end: () => {} }).push(head);
    expect(seen).toEqual([size]);
  });
});
