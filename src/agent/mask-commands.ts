import { LIMITS } from "../protocol/limits.ts";

const COMMAND = "::add-mask::";
/** Bytes of a line that are waited for: a longer value could not be told to the service either. */
const LONGEST = LIMITS.maskCharacters;
const [TAB, LINE_FEED, RETURN, SPACE] = [0x09, 0x0a, 0x0d, 0x20];

/** What of the output may go on, and the values to mask in it and in all that comes. */
export interface Heard {
  masks: string[];
  bytes: Uint8Array;
}

/**
 * Finds `::add-mask::VALUE` at the beginning of a line of a step's output, as GitHub Actions reads it, wherever chunks
 * are cut. A line that may become one is held back until its end, so that the value is masked on that line too.
 */
export class MaskCommands {
  /** From the beginning of a line on. */
  #held = Buffer.alloc(0);
  /** What is held back is a command already, so that only its line's end is waited for. */
  #isOpen = false;
  #isMidLine = false;

  push(chunk: Uint8Array): Heard {
    const bytes = Buffer.concat([this.#held, chunk]);
    if (this.#isOpen && bytes.length < LONGEST && lineEnd(chunk, 0) === chunk.length) {
      this.#held = bytes;
      return { masks: [], bytes: new Uint8Array() };
    }
    this.#isOpen = false;
    const masks: string[] = [];
    let until = this.#unfinished(bytes);
    for (let at = bytes.indexOf(COMMAND); at >= 0; at = bytes.indexOf(COMMAND, at + COMMAND.length)) {
      const start = this.#lineOf(bytes, at);
      if (start === null) continue;
      const end = lineEnd(bytes, at);
      if (end === bytes.length && end - start < LONGEST) {
        until = start;
        this.#isOpen = true;
        break;
      }
      masks.push(...valuesIn(bytes.toString("utf8", at + COMMAND.length, end)));
    }
    this.#held = bytes.subarray(until);
    if (until > 0) this.#isMidLine = !isEnd(bytes[until - 1]);
    return { masks, bytes: bytes.subarray(0, until) };
  }

  /** The step's output is over: what is held back is its last line, which has no end. */
  end(): Heard {
    const heard = this.push(Uint8Array.of(LINE_FEED));
    this.#isMidLine = false;
    return { ...heard, bytes: heard.bytes.subarray(0, -1) };
  }

  /** Where the last line begins, if more of it may make it a command; else the end. */
  #unfinished(bytes: Buffer): number {
    const start = Math.max(bytes.lastIndexOf(LINE_FEED), bytes.lastIndexOf(RETURN)) + 1;
    if (start === 0 && this.#isMidLine) return bytes.length;
    const word = afterBlanks(bytes, start);
    const mayBe =
      bytes.length - start < LONGEST && COMMAND.startsWith(bytes.toString("latin1", word, word + COMMAND.length));
    return mayBe && bytes.length - word < COMMAND.length ? start : bytes.length;
  }

  /** The beginning of the line on which nothing but blanks stands before `at`; null where something does. */
  #lineOf(bytes: Buffer, at: number): number | null {
    let start = at;
    while (start > 0 && isBlank(bytes[start - 1])) start--;
    if (start === 0) return this.#isMidLine ? null : 0;
    return isEnd(bytes[start - 1]) ? start : null;
  }
}

const isBlank = (byte: number | undefined): boolean => byte === SPACE || byte === TAB;
const isEnd = (byte: number | undefined): boolean => byte === LINE_FEED || byte === RETURN;

const afterBlanks = (bytes: Buffer, from: number): number => {
  let at = from;
  while (isBlank(bytes[at])) at++;
  return at;
};

const lineEnd = (bytes: Uint8Array, from: number): number => {
  let at = from;
  while (at < bytes.length && !isEnd(bytes[at])) at++;
  return at;
};

/** As it stands there, and as it was before its line breaks and percent signs were written as %0D, %0A and %25. */
const valuesIn = (text: string): string[] => {
  const meant = text.replace(/%(0D|0A|25)/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
  return [...new Set([meant, text])].filter((value) => value.trim() !== "");
};
