import { closeSync, openSync, readSync, writeSync } from "node:fs";
import { LOG_LIMIT } from "../protocol/jobs.ts";
import { Bell } from "./bell.ts";

/** Enough past the service's own limit that it sees the log go over and writes its marker. */
const SPOOL_LIMIT = LOG_LIMIT + 64 * 1024;

/** The masked log of one build on disk: what the service has not stored yet can be read again from any offset. */
export class LogSpool {
  readonly grown = new Bell();
  readonly #fd: number;
  readonly #limit: number;
  #size = 0;
  #closed = false;

  constructor(path: string, limit = SPOOL_LIMIT) {
    this.#fd = openSync(path, "wx+", 0o600);
    this.#limit = limit;
  }

  get size(): number {
    return this.#size;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Appends; what goes past the limit is dropped. Throws the system's error when the disk is full. */
  write(bytes: Uint8Array): void {
    const kept = this.#closed ? bytes.subarray(0, 0) : bytes.subarray(0, Math.max(0, this.#limit - this.#size));
    for (let done = 0; done < kept.length; ) {
      const count = writeSync(this.#fd, kept, done, kept.length - done, this.#size);
      done += count;
      this.#size += count;
    }
    if (kept.length > 0) this.grown.ring();
  }

  /** At most `length` bytes from `offset` on. */
  read(offset: number, length: number): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(Math.max(0, Math.min(length, this.#size - offset)));
    let done = 0;
    while (done < bytes.length) {
      const count = readSync(this.#fd, bytes, done, bytes.length - done, offset + done);
      if (count === 0) break;
      done += count;
    }
    return bytes.subarray(0, done);
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
