import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type ArtifactOwner, artifactKey } from "../../../src/archive/artifacts.ts";
import { putPart } from "../../../src/archive/bytes.ts";
import { type PlacedFile, placeFiles } from "../../../src/domain/artifact/file-list.ts";
import { zipLayout } from "../../../src/domain/artifact/zip.ts";
import { makeZip } from "../../../src/services/uploads/artifact-zip.ts";
import { sha256 } from "../../support/artifact-files.ts";

const [KIB, MIB] = [1024, 1024 * 1024];
const AT = Date.UTC(2026, 9, 1);
const SMALL_FILES = Array<number>(20).fill(40 * KIB);

const newOwner = (): ArtifactOwner => ({
  ...{ day: "2027-01-01", orgId: crypto.randomUUID(), jobId: crypto.randomUUID(), fence: 1, id: crypto.randomUUID() },
});

/** Creates files with these sizes. No test here checks the sums. */
const filesOf = (sizes: number[]): PlacedFile[] =>
  placeFiles(
    sizes.map((size, index) => ({
      ...{ path: `${index}.bin`, size, mode: "644" as const, sha256: "0".repeat(64), crc32: `0000000${index % 10}` },
    })),
  );

/** Stores an artifact with these files, in which no two stretches are alike. */
const stored = async (sizes: number[]) => {
  const files = filesOf(sizes);
  const words = new Uint32Array(Math.ceil((files.at(-1)?.end ?? 0) / 4)).map((_, index) => index * 2_654_435_761);
  const bytes = new Uint8Array(words.buffer, 0, files.at(-1)?.end ?? 0);
  const owner = newOwner();
  await putPart(env.ARCHIVE, { key: artifactKey(owner) }, { number: 1, body: bytes, sha256: sha256(bytes) });
  return { files, bytes, owner };
};

/** Returns the whole archive: each file after its header, and then the directory. */
const archiveOf = (files: PlacedFile[], bytes: Uint8Array): Promise<ArrayBuffer> => {
  const { entries, directory } = zipLayout(files, AT);
  const parts = entries.flatMap(({ file, header }) => [header, bytes.subarray(file.start, file.end)]);
  return new Blob([...parts, directory]).arrayBuffer();
};

/** Starts to count the chunks that JavaScript reads from streams. */
const countReads = () => {
  const spies = [
    vi.spyOn(ReadableStreamDefaultReader.prototype, "read"),
    vi.spyOn(ReadableStreamBYOBReader.prototype, "read"),
    vi.spyOn(ReadableStreamBYOBReader.prototype, "readAtLeast"),
  ];
  return () => spies.reduce((sum, { mock }) => sum + mock.calls.length, 0);
};

const read = (body: ReadableStream<Uint8Array>): Promise<ArrayBuffer> => new Response(body).arrayBuffer();

afterEach(() => {
  vi.restoreAllMocks();
});

describe("a ZIP archive", () => {
  it.each([
    ["of one large file reads no chunk of it in JavaScript", [9 * MIB + 1], 0],
    ["of files of every size reads only the small ones, 256 KiB at a time", [1000, 0, 8 * MIB, 0, 700 * KIB], 4],
    ["of small files reads each in one piece", SMALL_FILES, 20],
  ])("%s", async (_, sizes, chunks) => {
    const { files, bytes, owner } = await stored(sizes);
    const gets = vi.spyOn(env.ARCHIVE, "get");
    const reads = countReads();
    const zip = makeZip(env.ARCHIVE, owner, files, AT);
    const archive = await read(zip.body());
    expect(reads()).toBe(chunks);
    expect(gets.mock.calls.length).toBeLessThanOrEqual(3);
    expect(archive.byteLength).toBe(zip.size);
    expect(sha256(new Uint8Array(archive))).toBe(sha256(new Uint8Array(await archiveOf(files, bytes))));
  });

  it("of many runs of small files reads the gaps between them too, and leaves them out", async () => {
    const { files, bytes, owner } = await stored([8 * MIB, ...Array<number>(210).fill(KIB)]);
    const gets = vi.spyOn(env.ARCHIVE, "get");
    const reads = countReads();
    const some = files.filter((_, index) => index % 2 === 0);
    const archive = await read(makeZip(env.ARCHIVE, owner, some, AT).body());
    expect(sha256(new Uint8Array(archive))).toBe(sha256(new Uint8Array(await archiveOf(some, bytes))));
    expect(gets).toHaveBeenCalledTimes(1);
    expect(reads()).toBe((8 * MIB) / (256 * KIB) + 2 * 105);
  });
});

/** Creates a bucket whose objects arrive in small pieces. It counts requests and canceled streams. */
const bucketOf = (
  bodies: (range: { offset: number; length: number }, nth: number) => (() => Uint8Array | null) | null,
) => {
  const seen = { gets: 0, canceled: 0 };
  const get = async (_: string, { range }: { range: { offset: number; length: number } }) => {
    const next = bodies(range, ++seen.gets);
    if (!next) return null;
    const body = new ReadableStream({
      type: "bytes",
      pull(controller: ReadableByteStreamController) {
        const piece = next();
        if (piece) return controller.enqueue(piece);
        controller.close();
        controller.byobRequest?.respond(0);
      },
      cancel() {
        seen.canceled++;
      },
    });
    return { body };
  };
  return { seen, archive: { get } as unknown as R2Bucket };
};

/** Returns a source of `bytes` bytes in small pieces. */
const pieces = (bytes: number) => () => {
  const piece = new Uint8Array(Math.min(bytes, 4 * KIB));
  bytes -= piece.length;
  return piece.length > 0 ? piece : null;
};

describe.each([
  ["of a large file", [9 * MIB, 10]],
  ["of small files", SMALL_FILES],
])("an incomplete archive %s", (_, sizes) => {
  const files = filesOf(sizes);
  const zip = (archive: R2Bucket) => makeZip(archive, newOwner(), files, AT);

  it("releases the object when the client leaves, and stops reading", async () => {
    const { seen, archive } = bucketOf(({ length }) => pieces(length));
    const reader = zip(archive).body().getReader();
    for (let chunk = 0; chunk < 3; chunk++) expect((await reader.read()).done).toBe(false);
    await reader.cancel();
    await expect.poll(() => seen).toEqual({ gets: 1, canceled: 1 });
  });

  it("releases an object that arrives after the client has left", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { seen, archive: real } = bucketOf(({ length }) => pieces(length));
    const get = vi.fn(async (...given: Parameters<R2Bucket["get"]>) => {
      await promise;
      return real.get(...given);
    });
    const reader = zip({ get } as unknown as R2Bucket)
      .body()
      .getReader();
    const first = reader.read().catch(() => undefined);
    await expect.poll(() => get.mock.calls.length).toBe(1);
    await reader.cancel();
    await first;
    resolve();
    await expect.poll(() => seen).toEqual({ gets: 1, canceled: 1 });
  });

  it("aborts where the object is missing, ends early or cannot be read", async () => {
    const gone = bucketOf(() => null);
    await expect(read(zip(gone.archive).body())).rejects.toThrow("deleted during the download");
    const short = bucketOf(({ length }) => pieces(length - 1));
    await expect(read(zip(short.archive).body())).rejects.toThrow();
    const broken = bucketOf(() => {
      const few = pieces(20 * KIB);
      return () => {
        const piece = few();
        if (!piece) throw new Error("the archive is unavailable");
        return piece;
      };
    });
    await expect(read(zip(broken.archive).body())).rejects.toThrow("the archive is unavailable");
  });
});

it("an archive aborts where its object is deleted halfway", async () => {
  const { seen, archive } = bucketOf(({ length }, nth) => (nth === 1 ? pieces(length) : null));
  await expect(read(makeZip(archive, newOwner(), filesOf([9 * MIB, 10]), AT).body())).rejects.toThrow("deleted during");
  expect(seen.gets).toBe(2);
});
