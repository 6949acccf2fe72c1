import { spend, type Work } from "../../domain/work.ts";

/** Fewest characters of an unfinished line that are masked: a shorter one would mask too much of the log. */
const UNFINISHED_LENGTH = 4;

/** A value of several lines: those between `<<END` at `start` and `END` at `end`. */
interface Block {
  start: number;
  end: number;
}

/**
 * Finds the values in a MILLRACE_MASK file while it grows: one on each line, or one of several lines between `<<END` and
 * `END`. A value that is not whole is told as far as it is there, and again when it is whole: `work` is for that. Without
 * work left such a value is told only by a reader of the whole file.
 */
export class MaskFileReader {
  readonly #work: Work;
  readonly #lines: string[] = [];
  /** Where `<<END` stands of each END that has not come, the first one of the same; by END, and in their order. */
  readonly #open = new Map<string, number>();
  readonly #openEnds: string[] = [];
  /** The first line that was not told. */
  #from = 0;
  /** The line that has no end yet. */
  #rest = "";

  constructor(work: Work) {
    this.#work = work;
  }

  /** @returns the values in what was added to the file, and those that it makes whole */
  push(text: string): string[] {
    const [first = "", ...others] = text.split("\n");
    const lines = [this.#rest + first, ...others];
    this.#rest = lines.pop() ?? "";
    const blocks: Block[] = [];
    for (const line of lines) this.#take(plainLine(line), blocks);
    const last = this.#rest !== "" && spend(this.#work, this.#rest.length) ? plainLine(this.#rest) : "";
    return [...this.#told(blocks, last)].filter((value) => value !== "");
  }

  #take(line: string, blocks: Block[]): void {
    const end = this.#lines.push(line) - 1;
    const start = this.#open.get(line);
    if (start === undefined) {
      const word = line.startsWith("<<") ? line.slice(2) : "";
      if (word === "" || this.#open.has(word)) return;
      this.#open.set(word, end);
      this.#openEnds.push(word);
      return;
    }
    // What stands within a value begins no other one.
    while (this.#open.has(line)) this.#open.delete(this.#openEnds.pop()!);
    while (blocks.length > 0 && blocks.at(-1)!.start > start) blocks.pop();
    blocks.push({ start, end });
  }

  /** `last` may be the end of the value that it stands in, or the beginning of a value. */
  *#told(blocks: readonly Block[], last: string): Generator<string> {
    const known = this.#from;
    for (const block of blocks) {
      while (this.#from < block.start) yield this.#lines[this.#from++]!;
      yield* this.#within(block, block.start < known);
      this.#from = block.end + 1;
    }
    const start = this.#open.get(last);
    while (this.#from < (start ?? this.#lines.length)) yield this.#lines[this.#from++]!;
    if (start !== undefined) yield* this.#within({ start, end: this.#lines.length }, true);
    else if (last.length >= UNFINISHED_LENGTH) yield last;
  }

  *#within({ start, end }: Block, isToldAgain: boolean): Generator<string> {
    if (this.#work.left < 0) return;
    const value = this.#lines.slice(start + 1, end).join("\n");
    if (!isToldAgain || spend(this.#work, value.length)) yield value;
  }
}

/** The values in a whole file. */
export const readMaskFile = (content: string): string[] =>
  new MaskFileReader({ left: Number.POSITIVE_INFINITY }).push(content);

/** Without a byte order mark before it, as some editors put into a file whose text is then written here. */
const plainLine = (line: string): string =>
  line.slice(line.startsWith("\ufeff") ? 1 : 0, line.endsWith("\r") ? -1 : undefined);
