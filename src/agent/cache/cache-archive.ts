import { createHash } from "node:crypto";
import { createReadStream, createWriteStream, statfsSync } from "node:fs";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import * as zlib from "node:zlib";
import * as z from "zod/mini";
import { cachePlaces } from "../../domain/artifact/chosen-paths.ts";
import type { CacheCodec } from "../../protocol/cache.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { KIB } from "../../protocol/units.ts";
import { type CollectedFiles, collectFiles, type FilePlace, FileProblem, receiveFiles } from "../files/file-helper.ts";
import { MOST_VISITED } from "../files/find-files.ts";

/** Node includes zstd from 22.15 and 23.8 on. */
const { createZstdCompress, createZstdDecompress } = zlib as {
  createZstdCompress?: () => Transform;
  createZstdDecompress?: () => Transform;
};

/** The codecs that this agent reads. It writes the first one. */
export const CODECS: CacheCodec[] = createZstdCompress && createZstdDecompress ? ["zstd", "gzip"] : ["gzip"];

/**
 * Uses the fastest gzip level, because the saved processor time exceeds the additional time of a slow disk or network.
 */
const compressor = (codec: CacheCodec): Transform =>
  codec === "zstd" && createZstdCompress ? createZstdCompress() : zlib.createGzip({ level: 1 });

const decompressor = (codec: CacheCodec): Transform =>
  codec === "zstd" && createZstdDecompress ? createZstdDecompress() : zlib.createGunzip();

/*
 * An archive is a line of JSON, then one tar for the checkout and one for HOME, all compressed. The line states each
 * tar's length, and the agent never unpacks more.
 */

const Tree = z.object({ in: z.enum(["checkout", "home"]), bytes: z.int().check(z.nonnegative()) });
const Head = z.object({ trees: z.array(Tree).check(z.maxLength(2)) });
type Head = z.infer<typeof Head>;
const HEAD_BYTES = KIB;
const TAR = "cache.tar";

/** The folders to which paths are relative. */
export type CacheRoots = Record<"checkout" | "home", FilePlace>;

interface PackedCache {
  /** The archive; null when the search found nothing. */
  archive: { bytes: number; sha256: string } | null;
  leftOut: string[];
}

const NOTHING: CollectedFiles = { files: [], leftOut: [], bytes: async function* () {} };

const collected = async <T>(
  roots: CacheRoots,
  where: "checkout" | "home",
  paths: string[],
  use: (tree: CollectedFiles) => Promise<T>,
): Promise<T> => {
  if (paths.length === 0) return use(NOTHING);
  const request = { paths, asTar: TAR, atMost: MOST_VISITED, isCache: true };
  return collectFiles(roots[where], request, use);
};

async function* writeArchive(head: Head, trees: CollectedFiles[]): AsyncGenerator<Buffer> {
  yield Buffer.from(`${JSON.stringify(head)}\n`);
  for (const tree of trees) if (tree.files.length > 0) yield* tree.bytes();
}

/** Packs the files under these paths into an agent file. @throws FileProblem */
export const packCache = async (
  roots: CacheRoots,
  paths: string[],
  { file, codec }: { file: string; codec: CacheCodec },
): Promise<PackedCache> => {
  const places = cachePlaces(paths);
  return collected(roots, "checkout", places.checkout, (checkout) =>
    collected(roots, "home", places.home, async (home) => {
      const sumSizes = ({ files }: CollectedFiles): number => files.reduce((sum, { size }) => sum + size, 0);
      const sizes = { checkout: sumSizes(checkout), home: sumSizes(home) };
      const leftOut = [...checkout.leftOut, ...home.leftOut];
      if (sizes.checkout + sizes.home === 0) return { archive: null, leftOut };
      if (sizes.checkout + sizes.home > LIMITS.cacheUnpackedBytes) throw new FileProblem("it is too large");
      const trees = (["checkout", "home"] as const).map((where) => ({ in: where, bytes: sizes[where] }));
      const hash = createHash("sha256");
      let bytes = 0;
      const counting = new Transform({
        transform(piece: Buffer, _, done) {
          hash.update(piece);
          bytes += piece.length;
          done(null, piece);
        },
      });
      const source = Readable.from(writeArchive({ trees }, [checkout, home]));
      const { signal } = roots.checkout;
      await pipeline(source, compressor(codec), counting, createWriteStream(file, { mode: 0o600 }), { signal });
      return { archive: { bytes, sha256: hash.digest("hex") }, leftOut };
    }),
  );
};

/** Returns a stream's bytes in pieces of an exact total length. */
class Pieces {
  readonly #source: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  async next(atMost: number): Promise<Buffer> {
    if (this.#rest.length === 0) {
      const { done, value } = await this.#source.next();
      if (done) throw new FileProblem("it is cut off");
      this.#rest = value;
    }
    const piece = this.#rest.subarray(0, atMost);
    this.#rest = this.#rest.subarray(piece.length);
    return piece;
  }

  async line(): Promise<string> {
    let text = "";
    while (!text.includes("\n") && text.length < HEAD_BYTES) {
      const piece = await this.next(1);
      text += piece.toString("latin1");
    }
    return text;
  }
}

const headIn = (line: string): Head => {
  try {
    return Head.parse(JSON.parse(line));
  } catch {
    throw new FileProblem("it is not a cache archive");
  }
};

/** Unpacks an archive whose checksum was verified. @throws FileProblem */
export const unpackCache = async (
  roots: CacheRoots,
  paths: string[],
  { file, codec }: { file: string; codec: CacheCodec },
): Promise<void> => {
  const source = createReadStream(file);
  const plain = decompressor(codec);
  const done = pipeline(source, plain).catch(() => {});
  try {
    await unpackTrees(roots, paths, new Pieces(plain as AsyncIterable<Buffer>));
  } catch (error) {
    const isBroken =
      error instanceof Error && /^(?:Z_|ERR_ZSTD|ZSTD_|ERR_STREAM)/.test(String((error as NodeJS.ErrnoException).code));
    throw isBroken ? new FileProblem("its compressed data is damaged") : error;
  } finally {
    source.destroy();
    plain.destroy();
    await done;
  }
};

const unpackTrees = async (roots: CacheRoots, paths: string[], pieces: Pieces): Promise<void> => {
  const places = cachePlaces(paths);
  const { trees } = headIn(await pieces.line());
  const all = trees.reduce((sum, { bytes }) => sum + bytes, 0);
  if (all > LIMITS.cacheUnpackedBytes) throw new FileProblem("it is too large when unpacked");
  const disk = statfsSync(roots.checkout.root);
  if (all > disk.bavail * disk.bsize) throw new FileProblem("the disk does not have enough space for it");
  for (const { in: where, bytes } of trees) {
    if (bytes === 0) continue;
    const how = { folder: [], replaces: true, cachePaths: places[where] };
    await receiveFiles(roots[where], how, async (writer) => {
      await writer.begin({ path: TAR, size: bytes, mode: "644", isUnpacked: true });
      for (let bytesLeft = bytes; bytesLeft > 0; ) {
        const piece = await pieces.next(bytesLeft);
        await writer.write(piece);
        bytesLeft -= piece.length;
      }
    });
  }
};
