import { createHash, type Hash } from "node:crypto";
import * as zlib from "node:zlib";
import type { FoundFile } from "../files/helper-protocol.ts";

type Crc = (bytes: Uint8Array, value: number) => number;

const TABLE = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

/** Computes CRC-32 as in zip (ISO 3309). `value` is the CRC of the preceding bytes. */
export const crcByTable: Crc = (bytes, value) => {
  let crc = ~value;
  for (const byte of bytes) crc = TABLE[(crc ^ byte) & 0xff]! ^ (crc >>> 8);
  return ~crc >>> 0;
};

/** Node includes crc32 from 20.15 and 22.2 on. */
const crc32: Crc = (zlib as { crc32?: Crc }).crc32 ?? crcByTable;

export interface FileSums {
  sha256: string;
  crc32: string;
}

/** Computes the sums of files from their concatenated bytes. */
export class SumsOfFiles {
  readonly #files: readonly Pick<FoundFile, "size">[];
  readonly #sums: FileSums[] = [];
  #hash: Hash = createHash("sha256");
  #crc = 0;
  #bytesLeft: number;

  constructor(files: readonly Pick<FoundFile, "size">[]) {
    this.#files = files;
    this.#bytesLeft = files[0]?.size ?? 0;
    this.#endFiles();
  }

  push(bytes: Buffer): void {
    for (let rest = bytes; rest.length > 0; ) {
      const own = rest.subarray(0, this.#bytesLeft);
      if (own.length === 0) throw new Error("received more bytes than the files have");
      this.#hash.update(own);
      this.#crc = crc32(own, this.#crc);
      this.#bytesLeft -= own.length;
      rest = rest.subarray(own.length);
      this.#endFiles();
    }
  }

  /** Returns the sums of the complete files. */
  get sums(): readonly FileSums[] {
    return this.#sums;
  }

  #endFiles(): void {
    while (this.#bytesLeft === 0 && this.#sums.length < this.#files.length) {
      this.#sums.push({ sha256: this.#hash.digest("hex"), crc32: this.#crc.toString(16).padStart(8, "0") });
      this.#hash = createHash("sha256");
      this.#crc = 0;
      this.#bytesLeft = this.#files[this.#sums.length]?.size ?? 0;
    }
  }
}
