import { TO_BASE64 } from "./base64url.ts";
import { CHECKPOINT_STEP } from "./checkpoints.ts";
import type { MaskDictionary } from "./dictionary.ts";
import type { LineWraps } from "./line-wraps.ts";
import { PrefixFingerprints } from "./prefix-fingerprints.ts";
import type { SlidingWindow } from "./sliding-window.ts";

/** After this many equal bytes the cursor tries to leap over text that was compared before. */
const LEAP_FROM = 8;

/** Compares text from one position on, as long as it may become a needle of the dictionary. */
export class Cursor {
  readonly #dictionary: MaskDictionary;
  readonly #window: SlidingWindow;
  /** Null for needles that line breaks cannot cut. */
  readonly #wraps: LineWraps | null;
  readonly #track: PrefixFingerprints;
  /** Text before this stream offset was compared before: there a leap saves time. */
  #reached = 0;
  /** Needles `#low..#high` begin with the first `#depth` bytes of the text, which are `#length` bytes with wraps. */
  #low = 0;
  #high = 0;
  #depth = 0;
  #length = 0;
  /** Bytes of text, wraps included, of the longest needle found so far. */
  matched = 0;

  constructor(dictionary: MaskDictionary, window: SlidingWindow, wraps: LineWraps | null) {
    this.#dictionary = dictionary;
    this.#window = window;
    this.#wraps = wraps;
    this.#track = new PrefixFingerprints(window, wraps);
  }

  /** Whether more text could make a longer needle. */
  get isAlive(): boolean {
    return this.#low < this.#high;
  }

  begin(first: number): void {
    const byte = this.#wraps ? TO_BASE64[first]! : first;
    this.#low = this.#dictionary.buckets[byte]!;
    this.#high = this.#dictionary.buckets[byte + 1]!;
    this.#depth = 1;
    this.#length = 1;
    this.matched = 0;
  }

  stop(): void {
    this.#low = this.#high;
  }

  /** Continues the comparison that began at `start`, up to `end`. Both are indices of the window. */
  follow(start: number, end: number): void {
    const { bytes: needles, starts } = this.#dictionary;
    const { bytes: text, base } = this.#window;
    const wraps = this.#wraps;
    let low = this.#low;
    let high = this.#high;
    let depth = this.#depth;
    let at = start + this.#length;
    while (low < high) {
      const first = starts[low]!;
      const length = starts[low + 1]! - first;
      if (length === depth) {
        this.matched = at - start;
        low++;
        continue;
      }
      const last = starts[high - 1]!;
      // As long as the first and the last of the needles agree with the text, so do those between them.
      if (!wraps) {
        const from = at - depth;
        const limit = Math.min(length, end - from, depth < LEAP_FROM ? LEAP_FROM : length);
        while (
          depth < limit &&
          needles[first + depth] === text[from + depth] &&
          needles[last + depth] === text[from + depth]
        )
          depth++;
        at = from + depth;
        if (depth === length) continue;
      }
      if (at === end) break;
      if (depth === LEAP_FROM && base + start + CHECKPOINT_STEP <= this.#reached) {
        const leap = this.#track.leap(this.#dictionary.checkpoints, base + start, this.#reached);
        if (leap) {
          ({ low, high, depth } = leap);
          at = leap.at - base;
          this.matched = Math.max(this.matched, leap.matchedTo - base - start);
          continue;
        }
      }
      let byte = text[at]!;
      if (wraps) {
        if (byte < 14 && wraps.isWrap(at)) {
          const next = wraps.after(at, end);
          if (next === end) break;
          at = next;
          byte = text[at]!;
        }
        byte = TO_BASE64[byte]!;
      }
      if (needles[first + depth] !== byte) low = this.#dictionary.bound(low, high, depth, byte);
      if (low < high && needles[last + depth] !== byte) high = this.#dictionary.bound(low, high, depth, byte + 1);
      depth++;
      at++;
    }
    this.#low = low;
    this.#high = high;
    this.#depth = depth;
    this.#length = at - start;
    this.#reached = Math.max(this.#reached, base + at);
  }
}
