import { Window } from "./window.ts";

/** A line break counts as wrapping only behind this many characters of base64: so no other line's end is held back. */
const WRAP_MIN = 20;
/** Line breaks and the indentation after them, in bytes, that one wrap may have. */
const GAP_MAX = 64;

const LF = 10;
const CR = 13;

/** base64url as base64. */
const FOLD = Uint8Array.from({ length: 256 }, (_, byte) => (byte === 0x2d ? 0x2b : byte === 0x5f ? 0x2f : byte));
const ENCODED = new Uint8Array(256);
for (const char of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_")
  ENCODED[char.charCodeAt(0)] = 1;

/** A second view of the stream: wrapped base64 and hex without their line breaks, base64url as base64. */
export class Unwrapped {
  readonly window: Window;
  /** Characters of base64 right before the window, counted up to WRAP_MIN. */
  run: number;
  /** Where in this view the present line of a wrapped text began, and the bytes left out there. */
  #line = -1;
  #gap = 0;
  /** From offset `at` of this view on, the stream's offset is larger by `by`. */
  readonly #shifts = [{ at: 0, by: 0 }];

  constructor(offset: number, run: number) {
    this.window = new Window(offset);
    this.run = run;
  }

  append(chunk: Uint8Array): void {
    let to = this.window.reserve(chunk.length);
    const { bytes, base } = this.window;
    for (let from = 0; from < chunk.length; from++) {
      const byte = chunk[from]!;
      if (byte > 32 || !this.#wraps(byte, base + to)) bytes[to++] = FOLD[byte]!;
    }
    this.window.end = base + to;
  }

  /** The stream's offset of an offset of this view; behind a wrap, where one lies there. */
  streamOffset(at: number): number {
    return at + this.#shifts.findLast((shift) => shift.at <= at)!.by;
  }

  /** Forgets what lies before this offset of the stream. */
  drop(before: number): void {
    const n = this.#shifts.findLastIndex((shift) => shift.at + shift.by <= before);
    const at = Math.min(before - this.#shifts[n]!.by, this.#shifts[n + 1]?.at ?? before);
    this.run = this.#runBefore(at);
    this.#shifts.splice(0, n);
    this.window.drop(at);
  }

  /** Takes note of a byte of white space that only wraps an encoded text and so is left out, or answers false. */
  #wraps(byte: number, at: number): boolean {
    const inGap = this.#line === at;
    const breaks = byte === LF || byte === CR;
    if (inGap ? this.#gap === GAP_MAX || !(breaks || byte === 32 || byte === 9) : !breaks) return false;
    if (!inGap && this.#runBefore(at) < WRAP_MIN) return false;
    this.#gap = inGap ? this.#gap + 1 : 1;
    this.#line = at;
    const last = this.#shifts.at(-1)!;
    if (last.at === at) last.by++;
    else this.#shifts.push({ at, by: last.by + 1 });
    return true;
  }

  #runBefore(at: number): number {
    const { bytes, base, start } = this.window;
    const from = Math.max(start, this.#line > at ? start : this.#line);
    let run = 0;
    while (run < WRAP_MIN && at - run > from && ENCODED[bytes[at - run - 1 - base]!] === 1) run++;
    return at - run === start && this.#line < start ? Math.min(WRAP_MIN, this.run + run) : run;
  }
}
