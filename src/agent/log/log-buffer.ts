import { closeSync, openSync, readSync, writeSync } from "node:fs";
import { LIMITS } from "../../protocol/limits.ts";
import { AutoResetEvent } from "../wire/auto-reset-event.ts";

/** More than the service's own limit, so that the service sees the log exceed it and marks the cut. */
const BUFFER_LIMIT = LIMITS.logBytes + 64 * 1024;

/** Bytes kept in memory when the disk is full, so that the log can still say why the build ends. */
const MEMORY_LIMIT = 1024 * 1024;

/** The masked log of one build in a file. Can be read again from any offset until the service has stored it. */
export class LogBuffer {
  /** Set when the log has grown or is closed. */
  readonly grown = new AutoResetEvent();
  readonly #fd: number;
  readonly #limit: number;
  /** Bytes in the file. The bytes after them are in memory. */
  #onDisk = 0;
  #inMemory: Buffer | null = null;
  #closed = false;

  constructor(path: string, limit = BUFFER_LIMIT) {
    this.#fd = openSync(path, "wx+", 0o600);
    this.#limit = limit;
  }

  get size(): number {
    return this.#onDisk + (this.#inMemory?.length ?? 0);
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Appends; drops what exceeds the limit. @throws the system's error, once, when the disk accepts no more. */
  write(bytes: Uint8Array): void {
    const kept = this.#closed ? bytes.subarray(0, 0) : bytes.subarray(0, Math.max(0, this.#limit - this.size));
    this.grown.set();
    if (this.#inMemory !== null) {
      this.#appendInMemory(kept);
      return;
    }
    const start = this.#onDisk;
    try {
      while (this.#onDisk - start < kept.length)
        this.#onDisk += writeSync(this.#fd, kept, this.#onDisk - start, undefined, this.#onDisk);
    } catch (error) {
      this.#appendInMemory(kept.subarray(this.#onDisk - start));
      throw error;
    }
  }

  /** At most `length` bytes from `offset` on. */
  read(offset: number, length: number): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(Math.max(0, Math.min(length, this.size - offset)));
    const fromFile = Math.min(bytes.length, Math.max(0, this.#onDisk - offset));
    let done = 0;
    while (done < fromFile) {
      const count = readSync(this.#fd, bytes, done, fromFile - done, offset + done);
      if (count === 0) return bytes.subarray(0, done);
      done += count;
    }
    this.#inMemory?.copy(bytes, done, offset + done - this.#onDisk);
    return bytes;
  }

  #appendInMemory(bytes: Uint8Array): void {
    const known = this.#inMemory ?? Buffer.alloc(0);
    this.#inMemory = Buffer.concat([known, bytes.subarray(0, MEMORY_LIMIT - known.length)]);
  }

  /** Ends the log: later writes are dropped. */
  close(): void {
    this.#closed = true;
    this.grown.set();
  }

  /** Closes the file, after the last read. */
  dispose(): void {
    this.close();
    closeSync(this.#fd);
  }
}
