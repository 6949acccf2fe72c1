import { IS_BASE64 } from "./base64url.ts";
import type { SlidingWindow } from "./sliding-window.ts";

/** A line break is a wrap only after this many characters of base64, so that other lines are not held back. */
export const WRAP_MIN = 20;
/** Most bytes of line breaks and indentation in one wrap. */
const GAP_MAX = 64;

const [TAB, LF, CR, SPACE] = [9, 10, 13, 32];

/** Finds the line breaks that wrap an encoded text. Positions are indices of the window. */
export class LineWraps {
  readonly #window: SlidingWindow;
  readonly #origin: number;
  readonly #runBeforeOrigin: number;

  /** `run` is the number of base64 characters directly before the window's first byte. */
  constructor(window: SlidingWindow, run: number) {
    this.#window = window;
    this.#origin = window.start;
    this.#runBeforeOrigin = run;
  }

  /** Number of base64 characters directly before `at`, at most WRAP_MIN. */
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

  /** The index of the first byte after the wrap that begins at `at`. */
  after(at: number, end: number): number {
    const { bytes } = this.#window;
    const limit = Math.min(end, at + GAP_MAX);
    let next = at + 1;
    while (next < limit && isBlank(bytes[next]!)) next++;
    return next;
  }
}

const isBlank = (byte: number): boolean => byte === LF || byte === CR || byte === SPACE || byte === TAB;
