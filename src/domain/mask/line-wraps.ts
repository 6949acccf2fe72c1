import { IS_BASE64 } from "./base64url.ts";
import type { SlidingWindow } from "./sliding-window.ts";

/** A line break counts as wrapping only behind this many characters of base64: so no other line's end is held back. */
export const WRAP_MIN = 20;
/** Line breaks and the indentation after them, in bytes, that one wrap may have. */
const GAP_MAX = 64;

const [TAB, LF, CR, SPACE] = [9, 10, 13, 32];

/** Tells the line breaks that only wrap an encoded text from those that end it. Places are indices of the window. */
export class LineWraps {
  readonly #window: SlidingWindow;
  readonly #origin: number;
  readonly #runBeforeOrigin: number;

  /** `run` is how many characters of base64 came right before the window's first byte. */
  constructor(window: SlidingWindow, run: number) {
    this.#window = window;
    this.#origin = window.start;
    this.#runBeforeOrigin = run;
  }

  /** Characters of base64 right before `at`, counted up to WRAP_MIN. */
  runBefore(at: number): number {
    const { bytes, base, start } = this.#window;
    let run = 0;
    while (run < WRAP_MIN && at - run > start - base && IS_BASE64[bytes[at - run - 1]!] === 1) run++;
    const reachesOrigin = at - run + base === this.#origin;
    return reachesOrigin ? Math.min(WRAP_MIN, run + this.#runBeforeOrigin) : run;
  }

  isWrap(at: number): boolean {
    const byte = this.#window.bytes[at]!;
    return (byte === LF || byte === CR) && this.runBefore(at) >= WRAP_MIN;
  }

  /** Where the text goes on behind a wrap that begins at `at`. */
  after(at: number, end: number): number {
    const { bytes } = this.#window;
    const limit = Math.min(end, at + GAP_MAX);
    let next = at + 1;
    while (next < limit && isBlank(bytes[next]!)) next++;
    return next;
  }
}

const isBlank = (byte: number): boolean => byte === LF || byte === CR || byte === SPACE || byte === TAB;
