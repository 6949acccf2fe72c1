import { fstatSync } from "node:fs";
import { COMMAND_FILE_LIMIT } from "../../domain/plan/command-file.ts";
import { MaskFileReader, readMaskFile } from "../../domain/plan/mask-file.ts";
import { spend, type Work } from "../../domain/work.ts";
import { readPart } from "./read-part.ts";

/** Characters of values that may be told before they are whole, and bytes that may be read again. */
const MOST_AGAIN = COMMAND_FILE_LIMIT;
/** Bytes before the new ones that are compared with what was there, to see that the file only grew. */
const COMPARED = 4096;

/** The masks that a step adds while it runs: only what is new in the file is read. */
export class MaskFile {
  readonly #fd: number;
  readonly #work: Work = { left: MOST_AGAIN };
  #reader = new MaskFileReader(this.#work);
  #decoder = new TextDecoder();
  #size = 0;
  #writtenAt = 0;
  /** How far it was read, and the last bytes before that. */
  #at = 0;
  #last: Buffer = Buffer.alloc(0);

  constructor(fd: number) {
    this.#fd = fd;
  }

  /** Masks since the last call. Cheap without any, because it runs before each piece of output. */
  added(): string[] {
    const { size, mtimeMs } = fstatSync(this.#fd);
    if (size === this.#size && mtimeMs === this.#writtenAt) return [];
    this.#size = size;
    this.#writtenAt = mtimeMs;
    if (!this.#hasOnlyGrown() && !this.#beginAgain()) return [];
    const bytes = readPart(this.#fd, this.#at, COMMAND_FILE_LIMIT);
    this.#at += bytes.length;
    this.#last = Buffer.concat([this.#last, bytes.subarray(-COMPARED)]).subarray(-COMPARED);
    return this.#reader.push(this.#decoder.decode(bytes, { stream: true }));
  }

  /** All masks in the file, after the end of the step. */
  all(): string[] {
    return readMaskFile(new TextDecoder().decode(readPart(this.#fd, 0, COMMAND_FILE_LIMIT)));
  }

  #hasOnlyGrown(): boolean {
    const before = readPart(this.#fd, this.#at - this.#last.length, this.#at);
    return before.equals(this.#last);
  }

  /** After `echo ... > "$MILLRACE_MASK"` the file has other values than before. */
  #beginAgain(): boolean {
    if (!spend(this.#work, this.#size)) return false;
    this.#reader = new MaskFileReader(this.#work);
    this.#decoder = new TextDecoder();
    this.#at = 0;
    this.#last = Buffer.alloc(0);
    return true;
  }
}
