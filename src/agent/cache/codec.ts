import type { Transform } from "node:stream";
import * as zlib from "node:zlib";
import type { CacheCodec } from "../../protocol/cache.ts";

/** Node has zstd of its own from 22.15 and 23.8 on. */
const { createZstdCompress, createZstdDecompress } = zlib as {
  createZstdCompress?: () => Transform;
  createZstdDecompress?: () => Transform;
};

/** What this agent reads, the one that it writes first. */
export const CODECS: CacheCodec[] = createZstdCompress && createZstdDecompress ? ["zstd", "gzip"] : ["gzip"];

/** The fastest of gzip: what a slow disk or network loses, the processor wins. */
export const compressor = (codec: CacheCodec): Transform =>
  codec === "zstd" && createZstdCompress ? createZstdCompress() : zlib.createGzip({ level: 1 });

export const decompressor = (codec: CacheCodec): Transform =>
  codec === "zstd" && createZstdDecompress ? createZstdDecompress() : zlib.createGunzip();
