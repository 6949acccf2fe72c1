import { rmSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { git } from "../../../src/agent/checkout/git.ts";
import { type GitObject, ObjectParser, ObjectReader } from "../../../src/agent/checkout/object-reader.ts";
import { initRepository } from "../../../src/agent/checkout/remote.ts";
import { failureOf, makeCheckoutContext } from "../support/checkout.ts";
import { testRepository } from "../support/repository.ts";

const HASH = "a".repeat(40);

/** Parses these pieces, and keeps `limit` bytes of each object. */
const parsed = (pieces: Buffer[], limit = 1000): (GitObject | null)[] => {
  const objects: (GitObject | null)[] = [];
  const parser = new ObjectParser(
    () => limit,
    (object) => objects.push(object),
  );
  for (const piece of pieces) parser.push(piece);
  return objects;
};

const cut = (bytes: Buffer, lengths: number[]): Buffer[] => {
  const pieces: Buffer[] = [];
  let at = 0;
  for (const length of lengths) {
    pieces.push(bytes.subarray(at, at + length));
    at += length;
  }
  return [...pieces, bytes.subarray(at)];
};

describe("the output of git cat-file", () => {
  const object = fc.oneof(fc.uint8Array({ maxLength: 60 }), fc.constant(null));

  it("is read object by object, however it is cut, up to the limit of each object", () => {
    fc.assert(
      fc.property(fc.array(object), fc.array(fc.nat({ max: 40 })), fc.nat({ max: 70 }), (objects, lengths, limit) => {
        const lines = objects.map((bytes) =>
          bytes
            ? Buffer.concat([Buffer.from(`${HASH} blob ${bytes.length}\n`), bytes, Buffer.from("\n")])
            : "x missing\n",
        );
        const read = parsed(cut(Buffer.concat(lines.map((line) => Buffer.from(line))), lengths), limit);
        expect(read.map((one) => one && { size: one.size, bytes: [...one.bytes] })).toEqual(
          objects.map((bytes) => bytes && { size: bytes.length, bytes: [...bytes.subarray(0, limit)] }),
        );
      }),
    );
  });

  it("is rejected with the line that is not an object", () => {
    expect(parsed([Buffer.from("x missing\nabc ambiguous\n")])).toEqual([null, null]);
    for (const text of ["fatal: what\n", "\n", `${HASH} blob -1\n`, "x".repeat(5000)])
      expect(() => parsed([Buffer.from(text)])).toThrow("cannot read its output");
  });
});

describe("a repository's objects", () => {
  it("are found by one process that started before they were fetched", async () => {
    const repository = testRepository({ "a.txt": "one" });
    const { workspace: folder, tree, signal } = await makeCheckoutContext();
    const context = { folder, protocols: ["file"], tree, signal };
    const reader = new ObjectReader(context);
    const fetch = (ref: string) => git(context, ["fetch", "--quiet", repository.cloneUrl, `main:${ref}`]);
    expect((await fetch("refs/one")).code).toBe(0);
    const first = await reader.read("refs/one^{commit}", 1000);
    const second = repository.commit({ "a.txt": "two" });
    expect((await fetch("refs/two")).code).toBe(0);
    expect(first).toMatchObject({ type: "commit", hash: repository.git("rev-parse", "HEAD~1") });
    expect(await reader.read("refs/two^{commit}", 0)).toMatchObject({ hash: second, bytes: Buffer.alloc(0) });
    expect(await reader.read("refs/three^{commit}", 0)).toBeNull();
    await reader.close();
    expect(tree.living()).toEqual([]);
  });

  it("are found in a recreated repository that had none before", async () => {
    const { workspace: folder, tree, signal } = await makeCheckoutContext();
    const context = { folder, protocols: ["file"], tree, signal };
    const reader = new ObjectReader(context);
    expect((await git(context, ["rev-parse"])).code).toBe(0);
    rmSync(join(folder, ".git"), { recursive: true });
    await initRepository(folder, "sha256");
    const repository = testRepository({ "a.txt": "one" }, "sha256");
    expect((await git(context, ["fetch", "--quiet", repository.cloneUrl, "main:refs/one"])).code).toBe(0);
    expect((await reader.read("refs/one^{commit}", 1000))?.hash).toHaveLength(64);
    await reader.close();
  });

  it("are unavailable after a cancel, and when git reports an error", async () => {
    const { workspace: folder, tempFolder, tree } = await makeCheckoutContext();
    const cancel = new AbortController();
    const reader = new ObjectReader({ folder, protocols: [], tree, signal: cancel.signal });
    cancel.abort(new Error("canceled"));
    await expect(reader.read("HEAD", 0)).rejects.toThrow("canceled");
    const none = new ObjectReader({ folder: tempFolder, protocols: [], tree });
    expect((await failureOf(none.read("HEAD", 0))).message).toContain("git cat-file failed");
    expect(tree.living()).toEqual([]);
  });
});
