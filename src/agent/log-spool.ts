import { closeSync, openSync, readSync, writeSync } from "node:fs";
import { LIMITS } from "../protocol/limits.ts";
import { Bell } from "./bell.ts";

/** Enough past the service's own limit that it sees the log go over and writes its marker. */
const SPOOL_LIMIT = LIMITS.logBytes + 64 * 1024;

/** Bytes kept in memory once the disk takes no more, so that the log can still say why the build ends. */
const LAST_WORDS = 1024 * 1024;

/** The masked log of one build on disk: what the service has not stored yet can be read again from any offset. */
export class LogSpool {
  readonly grown = new Bell();
  readonly #fd: number;
  readonly #limit: number;
  /** Bytes in the file; those after them are in memory. */
  #stored = 0;
  #lastWords: Buffer | null = null;
  #closed = false;

  constructor(path: string, limit = SPOOL_LIMIT) {
    this.#fd = openSync(path, "wx+", 0o600);
    this.#limit = limit;
  }

  get size(): number {
    return this.#stored + (this.#lastWords?.length ?? 0);
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Appends; what goes past the limit is dropped. Throws the system's error when the disk takes no more, once. */
  write(bytes: Uint8Array): void {
    const kept = this.#closed ? bytes.subarray(0, 0) : bytes.subarray(0, Math.max(0, this.#limit - this.size));
    this.grown.ring();
    if (this.#lastWords !== null) {
      this.#keep(kept);
      return;
    }
    const start = this.#stored;
    try {
      while (this.#stored - start < kept.length)
        this.#stored += writeSync(this.#fd, kept, this.#stored - start, undefined, this.#stored);
    } catch (error) {
      this.#keep(kept.subarray(this.#stored - start));
      throw error;
    }
  }

  /** At most `length` bytes from `offset` on. */
  read(offset: number, length: number): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(Math.max(0, Math.min(length, this.size - offset)));
    const fromFile = Math.min(bytes.length, Math.max(0, this.#stored - offset));
    let done = 0;
    while (done < fromFile) {
      const count = readSync(this.#fd, bytes, done, fromFile - done, offset + done);
      if (count === 0) return bytes.subarray(0, done);
      done += count;
    }
    this.#lastWords?.copy(bytes, done, offset + done - this.#stored);
    return bytes;
  }

  #keep(bytes: Uint8Array): void {
    const known = this.#lastWords ?? Buffer.alloc(0);
    this.#lastWords = Buffer.concat([known, bytes.subarray(0, LAST_WORDS - known.length)]);
  }

  /** No more will come. */
  close(): void {
    this.#closed = true;
    this.grown.ring();
  }

  /** After the last read. */
  dispose(): void {
    this.close();
    closeSync(this.#fd);
  }
}
