import { PassThrough } from "node:stream";
import { BuildFailure } from "../build/failure.ts";
import { type GitContext, git } from "./git.ts";
import { gitFailure } from "./git-failure.ts";

/** A git object. `bytes` contains no more than the requested part. */
export interface GitObject {
  hash: string;
  type: string;
  size: number;
  bytes: Buffer;
}

const LINE_END = 0x0a;
/** Bytes of the longest header line: requested names are shorter. */
const LONGEST_HEADER = 4096;

/**
 * Parses the output of `git cat-file --batch` in pieces. For each object, the output has a line with its hash, type and
 * size, then its bytes, then a line end.
 */
export class ObjectParser {
  readonly #limit: () => number;
  readonly #onObject: (object: GitObject | null) => void;
  #header = "";
  #object: Omit<GitObject, "bytes"> | null = null;
  #bytes: Buffer[] = [];
  /** Remaining bytes of the object to keep, and remaining bytes to receive including the line end. */
  #wanted = 0;
  #left = 0;

  /** `limit` returns the bytes to keep of the next object. `onObject` gets null for a missing object. */
  constructor(limit: () => number, onObject: (object: GitObject | null) => void) {
    this.#limit = limit;
    this.#onObject = onObject;
  }

  /** Parses a chunk. @throws BuildFailure when it is not in git's format */
  push(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; ) at += this.#object ? this.#takeBytes(chunk, at) : this.#takeHeader(chunk, at);
  }

  #takeHeader(chunk: Buffer, at: number): number {
    const end = chunk.indexOf(LINE_END, at);
    this.#header += chunk.toString("latin1", at, end < 0 ? chunk.length : end);
    if (this.#header.length > LONGEST_HEADER) throw unreadable();
    if (end < 0) return chunk.length - at;
    const header = this.#header;
    this.#header = "";
    const [, hash, type = "", size] = /^([0-9a-f]+) (\w+) (\d+)$/.exec(header) ?? [];
    if (hash !== undefined) this.#begin({ hash, type, size: Number(size) });
    else if (/ (?:missing|ambiguous)$/.test(header)) this.#onObject(null);
    else throw unreadable();
    return end + 1 - at;
  }

  #begin(object: Omit<GitObject, "bytes">): void {
    this.#object = object;
    this.#bytes = [];
    this.#wanted = Math.min(object.size, this.#limit());
    this.#left = object.size + 1;
  }

  #takeBytes(chunk: Buffer, at: number): number {
    const count = Math.min(this.#left, chunk.length - at);
    const kept = Math.min(this.#wanted, count);
    if (kept > 0) this.#bytes.push(chunk.subarray(at, at + kept));
    this.#wanted -= kept;
    this.#left -= count;
    if (this.#left === 0 && this.#object) {
      const object = { ...this.#object, bytes: Buffer.concat(this.#bytes) };
      this.#object = null;
      this.#onObject(object);
    }
    return count;
  }
}

const unreadable = (): BuildFailure =>
  new BuildFailure("checkout-failed", "git cat-file failed: cannot read its output");

interface Question {
  limit: number;
  resolve: (object: GitObject | null) => void;
  reject: (error: unknown) => void;
}

/** One git process that answers questions in order. */
class BatchProcess {
  readonly #questions = new PassThrough();
  readonly #open: Question[] = [];
  readonly #ended: Promise<void>;
  #failure: unknown = null;

  constructor(context: GitContext) {
    const parser = new ObjectParser(
      () => this.#open[0]?.limit ?? 0,
      (object) => this.#open.shift()?.resolve(object),
    );
    const read = (chunk: Buffer): void => {
      if (this.#failure !== null) return;
      try {
        parser.push(chunk);
      } catch (error) {
        this.#fail(error);
      }
    };
    // The fetch takes longer. It begins in this turn, and so starts first.
    this.#ended = Promise.resolve()
      .then(() => git(context, ["cat-file", "--batch"], { read }, this.#questions))
      .then(
        ({ stderr }) => {
          if (this.#failure === null) this.#fail(gitFailure("git cat-file", stderr));
        },
        (error: unknown) => this.#fail(error),
      );
  }

  ask(name: string, limit: number): Promise<GitObject | null> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== null) return reject(this.#failure);
      this.#open.push({ limit, resolve, reject });
      this.#questions.write(`${name}\n`);
    });
  }

  /** Accepts no more questions. Resolves when the process has ended. */
  close(): Promise<void> {
    this.#fail(new BuildFailure("agent-error", "the commit can no longer be read"));
    this.#questions.end();
    return this.#ended;
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
    for (const { reject } of this.#open.splice(0)) reject(this.#failure);
  }
}

/**
 * Reads a repository's objects with one git process. The process starts alongside the fetch, because git finds new
 * packs automatically and rereads a ref each time.
 */
export class ObjectReader {
  readonly #context: GitContext;
  #process: BatchProcess;
  /** Whether the process is known to read the fetched repository. */
  #isCurrent = false;

  constructor(context: GitContext) {
    this.#context = context;
    this.#process = new BatchProcess(context);
  }

  /**
   * Returns this object with its first `limit` bytes; null when the repository does not have it.
   * @throws BuildFailure with git's message, or the signal's reason
   */
  async read(name: string, limit: number): Promise<GitObject | null> {
    if (this.#isCurrent) return this.#process.ask(name, limit);
    const object = await this.#process.ask(name, limit).catch(() => null);
    this.#isCurrent = true;
    if (object) return object;
    // If the fetch recreated the repository for SHA-256, this process knows only the old repository, or none at all.
    await this.close();
    this.#process = new BatchProcess(this.#context);
    return this.#process.ask(name, limit);
  }

  /** Ends the process and waits for its end. */
  close(): Promise<void> {
    return this.#process.close();
  }
}
