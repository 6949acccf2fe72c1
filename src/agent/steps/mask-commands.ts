import { LIMITS } from "../../protocol/limits.ts";

const COMMAND = "::add-mask::";
/** Bytes of the longest line that is held back. The service accepts no longer mask either. */
const LINE_LIMIT = LIMITS.maskCharacters;
const [TAB, LINE_FEED, RETURN, SPACE] = [0x09, 0x0a, 0x0d, 0x20];

/** Output that may be written, and the values to mask in it and from then on. */
export interface ParsedOutput {
  masks: string[];
  bytes: Uint8Array;
}

/**
 * Finds the workflow command `::add-mask::VALUE` of GitHub Actions at the start of a line, however the chunks are cut.
 * Holds back a line that may become one until its end, so that the value is masked on that line too.
 */
export class MaskCommandParser {
  /** Bytes held back, from the start of a line. */
  #held = Buffer.alloc(0);
  /** The held bytes are a command: only the end of its line is missing. */
  #isCommand = false;
  #isMidLine = false;

  push(chunk: Uint8Array): ParsedOutput {
    const bytes = Buffer.concat([this.#held, chunk]);
    if (this.#isCommand && bytes.length < LINE_LIMIT && lineEnd(chunk, 0) === chunk.length) {
      this.#held = bytes;
      return { masks: [], bytes: new Uint8Array() };
    }
    this.#isCommand = false;
    const masks: string[] = [];
    let until = this.#unfinished(bytes);
    for (let at = bytes.indexOf(COMMAND); at >= 0; at = bytes.indexOf(COMMAND, at + COMMAND.length)) {
      const start = this.#lineOf(bytes, at);
      if (start === null) continue;
      const end = lineEnd(bytes, at);
      if (end === bytes.length && end - start < LINE_LIMIT) {
        until = start;
        this.#isCommand = true;
        break;
      }
      masks.push(...valuesIn(bytes.toString("utf8", at + COMMAND.length, end)));
    }
    this.#held = bytes.subarray(until);
    if (until > 0) this.#isMidLine = !isEnd(bytes[until - 1]);
    return { masks, bytes: bytes.subarray(0, until) };
  }

  /** The step's output has ended. Returns the held last line, which has no line end. */
  end(): ParsedOutput {
    const last = this.push(Uint8Array.of(LINE_FEED));
    this.#isMidLine = false;
    return { ...last, bytes: last.bytes.subarray(0, -1) };
  }

  /** Start of the last line when it may still become a command; else the end of the bytes. */
  #unfinished(bytes: Buffer): number {
    const start = Math.max(bytes.lastIndexOf(LINE_FEED), bytes.lastIndexOf(RETURN)) + 1;
    if (start === 0 && this.#isMidLine) return bytes.length;
    const word = afterBlanks(bytes, start);
    const mayBe =
      bytes.length - start < LINE_LIMIT && COMMAND.startsWith(bytes.toString("latin1", word, word + COMMAND.length));
    return mayBe && bytes.length - word < COMMAND.length ? start : bytes.length;
  }

  /** Start of the line of `at` when only blanks precede `at` on it; else null. */
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

/** The value as written, and with its escapes (%0D, %0A, %25) decoded. */
const valuesIn = (text: string): string[] => {
  const decoded = text.replace(/%(0D|0A|25)/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
  return [...new Set([decoded, text])].filter((value) => value.trim() !== "");
};
