import type { PlacedFile } from "./file-list.ts";

/* ZIP archives (APPNOTE 6.3.10) with uncompressed files, so that all sizes are known before the first byte. */

const LARGE = 0xffffffff;
const MANY = 0xffff;
/**
 * Version 4.5 of the format, with 64-bit sizes. The archive counts as created on Unix, so that the files' modes count.
 */
const VERSION = 45;
const MADE_BY = (3 << 8) | VERSION;
/** The flag for names in UTF-8. */
const FLAGS = 0x0800;
const REGULAR_FILE = 0o100000;

/** A file, preceded by its own header. */
export interface ZipEntry {
  file: PlacedFile;
  header: Uint8Array;
}

interface ZipLayout {
  entries: ZipEntry[];
  /** The directory after all files. */
  directory: Uint8Array;
  /** The size of the whole archive in bytes. */
  size: number;
}

class Bytes {
  readonly #view: DataView;
  readonly bytes: Uint8Array;
  #at = 0;

  constructor(size: number) {
    this.bytes = new Uint8Array(size);
    this.#view = new DataView(this.bytes.buffer);
  }

  two(...values: number[]): this {
    for (const value of values) this.#view.setUint16(this.#next(2), value, true);
    return this;
  }

  four(...values: number[]): this {
    for (const value of values) this.#view.setUint32(this.#next(4), value, true);
    return this;
  }

  eight(...values: number[]): this {
    for (const value of values) this.#view.setBigUint64(this.#next(8), BigInt(value), true);
    return this;
  }

  text(text: Uint8Array): this {
    this.bytes.set(text, this.#next(text.length));
    return this;
  }

  /** Returns the position for the next bytes. */
  #next(bytes: number): number {
    this.#at += bytes;
    return this.#at - bytes;
  }
}

/**
 * Returns date and time in the format of DOS, in UTC. The format has a resolution of two seconds and begins in 1980.
 */
const dosTime = (at: number): [time: number, date: number] => {
  const when = new Date(Math.max(at, Date.UTC(1980, 0, 1)));
  const time = (when.getUTCHours() << 11) | (when.getUTCMinutes() << 5) | (when.getUTCSeconds() >> 1);
  return [time, ((when.getUTCFullYear() - 1980) << 9) | ((when.getUTCMonth() + 1) << 5) | when.getUTCDate()];
};

/** Writes the fields that both headers of a file share, in the same order. */
const common = (bytes: Bytes, { crc32, size }: PlacedFile, at: number): Bytes => {
  const shortSize = Math.min(size, LARGE);
  return bytes.two(VERSION, FLAGS, 0, ...dosTime(at)).four(Number.parseInt(crc32, 16), shortSize, shortSize);
};

const localHeader = (file: PlacedFile, name: Uint8Array, at: number): Uint8Array => {
  const isLarge = file.size >= LARGE;
  const bytes = new Bytes(30 + name.length + (isLarge ? 20 : 0)).four(0x04034b50);
  common(bytes, file, at)
    .two(name.length, isLarge ? 20 : 0)
    .text(name);
  return (isLarge ? bytes.two(1, 16).eight(file.size, file.size) : bytes).bytes;
};

const centralHeader = (file: PlacedFile, name: Uint8Array, at: number, offset: number): Uint8Array => {
  const wide = [...(file.size >= LARGE ? [file.size, file.size] : []), ...(offset >= LARGE ? [offset] : [])];
  const extra = wide.length > 0 ? 4 + 8 * wide.length : 0;
  const bytes = new Bytes(46 + name.length + extra).four(0x02014b50).two(MADE_BY);
  common(bytes, file, at).two(name.length, extra, 0, 0, 0);
  bytes.four((REGULAR_FILE | Number.parseInt(file.mode, 8)) * 0x10000, Math.min(offset, LARGE)).text(name);
  return (extra > 0 ? bytes.two(1, 8 * wide.length).eight(...wide) : bytes).bytes;
};

/** Writes the end of the archive, and its long form if a number does not fit into the short one. */
const ending = (count: number, size: number, offset: number): Uint8Array => {
  const isWide = count >= MANY || size >= LARGE || offset >= LARGE;
  const bytes = new Bytes(22 + (isWide ? 76 : 0));
  if (isWide) {
    bytes.four(0x06064b50).eight(44).two(MADE_BY, VERSION).four(0, 0).eight(count, count, size, offset);
    bytes
      .four(0x07064b50, 0)
      .eight(offset + size)
      .four(1);
  }
  const shortCount = Math.min(count, MANY);
  return bytes
    .four(0x06054b50)
    .two(0, 0, shortCount, shortCount)
    .four(Math.min(size, LARGE), Math.min(offset, LARGE))
    .two(0).bytes;
};

const joinBytes = (parts: Uint8Array[]): Uint8Array => {
  const bytes = new Bytes(parts.reduce((sum, part) => sum + part.length, 0));
  for (const part of parts) bytes.text(part);
  return bytes.bytes;
};

/** Lays out an archive of these files in order, all with the time `at` (milliseconds since 1970). */
export const zipLayout = (files: readonly PlacedFile[], at: number): ZipLayout => {
  const encoder = new TextEncoder();
  const headers: Uint8Array[] = [];
  let offset = 0;
  const entries = files.map((file): ZipEntry => {
    const name = encoder.encode(file.path);
    const header = localHeader(file, name, at);
    headers.push(centralHeader(file, name, at, offset));
    offset += header.length + file.size;
    return { file, header };
  });
  const central = joinBytes(headers);
  const directory = joinBytes([central, ending(files.length, central.length, offset)]);
  return { entries, directory, size: offset + directory.length };
};
