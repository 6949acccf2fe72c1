import { spend, type Work } from "../../domain/work.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { JobLog } from "../log/job-log.ts";
import type { CommandFiles } from "./command-files.ts";

const COMMAND = "::add-mask::";
/** Bytes of the longest line to hold back. The service does not accept a longer mask either. */
const LINE_LIMIT = LIMITS.maskCharacters;
const [TAB, LINE_FEED, RETURN, SPACE] = [0x09, 0x0a, 0x0d, 0x20];

/** Output that is ready to write, and the values to mask in it and in later output. */
interface ParsedOutput {
  masks: string[];
  bytes: Uint8Array;
}

/**
 * Finds GitHub Actions' workflow command `::add-mask::VALUE` at the start of a line, wherever the chunks are cut. If a
 * line may become such a command, holds the line back until its end, so that the value is masked on that line too.
 */
export class MaskCommandParser {
  /** The bytes that the parser holds back, from the start of a line. */
  #unread = Buffer.alloc(0);
  /** Whether the held bytes are a command without its line end. */
  #isCommand = false;
  #isMidLine = false;

  push(chunk: Uint8Array): ParsedOutput {
    const bytes = Buffer.concat([this.#unread, chunk]);
    if (this.#isCommand && bytes.length < LINE_LIMIT && lineEnd(chunk, 0) === chunk.length) {
      this.#unread = bytes;
      return { masks: [], bytes: new Uint8Array() };
    }
    this.#isCommand = false;
    const masks: string[] = [];
    let until = this.#unfinished(bytes);
    for (let at = bytes.indexOf(COMMAND); at >= 0; at = bytes.indexOf(COMMAND, at + COMMAND.length)) {
      const start = this.#findLine(bytes, at);
      if (start === null) continue;
      const end = lineEnd(bytes, at);
      if (end === bytes.length && end - start < LINE_LIMIT) {
        until = start;
        this.#isCommand = true;
        break;
      }
      masks.push(...valuesIn(bytes.toString("utf8", at + COMMAND.length, end)));
    }
    this.#unread = bytes.subarray(until);
    if (until > 0) this.#isMidLine = !isEnd(bytes[until - 1]);
    return { masks, bytes: bytes.subarray(0, until) };
  }

  /** Ends the step's output. Returns the held last line, which has no line end. */
  end(): ParsedOutput {
    const last = this.push(Uint8Array.of(LINE_FEED));
    this.#isMidLine = false;
    return { ...last, bytes: last.bytes.subarray(0, -1) };
  }

  /** Returns the start of a last line that may still become a command; else the end of the bytes. */
  #unfinished(bytes: Buffer): number {
    const start = Math.max(bytes.lastIndexOf(LINE_FEED), bytes.lastIndexOf(RETURN)) + 1;
    if (start === 0 && this.#isMidLine) return bytes.length;
    const word = afterBlanks(bytes, start);
    const mayBe =
      bytes.length - start < LINE_LIMIT && COMMAND.startsWith(bytes.toString("latin1", word, word + COMMAND.length));
    return mayBe && bytes.length - word < COMMAND.length ? start : bytes.length;
  }

  /** Returns the start of the line with `at` when only blanks precede `at`; else null. */
  #findLine(bytes: Buffer, at: number): number | null {
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

/** Returns the value as written, and with its escapes (%0D, %0A, %25) decoded. */
const valuesIn = (text: string): string[] => {
  const decoded = text.replace(/%(0D|0A|25)/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
  return [...new Set([decoded, text])].filter((value) => value.trim() !== "");
};

/** Limit for values to prepare for the search, because each new value prepares all the build's values again. */
const MASK_WORK = 4_000_000;

const NO_MORE = "the steps add masks too often: the rest of the output is omitted; write many values at once";

/** Writes a step's output to the build's log. First adds the masks that the step wrote before that output. */
export class StepLogWriter {
  /** The running step's files. The writer reads the mask file before each piece of output. */
  commandFiles: CommandFiles | null = null;
  readonly #parser = new MaskCommandParser();
  readonly #log: JobLog;
  readonly #onMasks: (masks: string[]) => void;
  readonly #work: Work;
  #masks = 0;
  /**
   * Whether the agent failed to mask a value. Later output may contain the value, so the agent does not write that
   * output.
   */
  #isClosed = false;

  /** `onMasks` gets only newly masked values. */
  constructor(log: JobLog, onMasks: (masks: string[]) => void, work: Work = { left: MASK_WORK }) {
    this.#work = work;
    this.#log = log;
    this.#onMasks = onMasks;
  }

  write(output: Uint8Array): void {
    this.#append(this.#parser.push(output));
  }

  /** Writes the parser's held bytes after the step's output has ended. */
  flush(): void {
    this.#append(this.#parser.end());
  }

  addMasks(masks: string[]): void {
    const added = this.#log.unmasked(masks);
    if (added.length === 0 || this.#isClosed) return;
    this.#masks += added.length;
    if (spend(this.#work, this.#masks)) this.#onMasks(this.#log.addSecrets(added));
    else {
      this.#isClosed = true;
      this.#log.say(NO_MORE);
    }
  }

  #append({ masks, bytes }: ParsedOutput): void {
    this.addMasks([...masks, ...(this.commandFiles?.masks.added() ?? [])]);
    if (!this.#isClosed) this.#log.write(bytes);
  }
}
