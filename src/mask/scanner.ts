import { type LineWraps, TO_BASE64 } from "./base64.ts";
import type { MaskDictionary } from "./dictionary.ts";
import { type Filter, HASH_MULTIPLIER } from "./filter.ts";
import { CHECKPOINT_STEP, PrefixFingerprints } from "./fingerprints.ts";
import type { SlidingWindow } from "./sliding-window.ts";

/** After this many equal bytes, the cursor tries to leap over text that it compared before. */
const LEAP_FROM = 8;

/** Compares text from one position on, as long as the text may become a needle of the dictionary. */
class Cursor {
  readonly #dictionary: MaskDictionary;
  readonly #window: SlidingWindow;
  /** The line wraps; null for needles that line breaks cannot cut. */
  readonly #wraps: LineWraps | null;
  readonly #track: PrefixFingerprints;
  /** The cursor compared the text before this stream offset earlier, so a leap saves time there. */
  #reached = 0;
  /**
   * Needles `#low..#high` begin with the first `#depth` bytes of the text. With wraps, these bytes of text are
   * `#length` bytes long.
   */
  #low = 0;
  #high = 0;
  #depth = 0;
  #length = 0;
  /** The bytes of text, including wraps, of the longest needle found so far. */
  matched = 0;

  constructor(dictionary: MaskDictionary, window: SlidingWindow, wraps: LineWraps | null) {
    this.#dictionary = dictionary;
    this.#window = window;
    this.#wraps = wraps;
    this.#track = new PrefixFingerprints(window, wraps);
  }

  /** Whether more text could match a longer needle. */
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
      // As long as the first and the last needle match the text, the needles between them match, too.
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

/** The plain needles, the wrapped needles, and the filter for both. */
export interface Needles {
  readonly plain: MaskDictionary;
  readonly wrapped: MaskDictionary;
  readonly filter: Filter;
}

/** Finds needles in a window from left to right, and only the longest one at each position. */
export class Scanner {
  readonly #filter: Filter;
  readonly #window: SlidingWindow;
  readonly #wraps: LineWraps;
  readonly #plain: Cursor;
  readonly #wrapped: Cursor;
  /** The stream offset before which the scanner has found the beginning of every needle. */
  settled: number;
  /** Before this stream offset, compare every position, because a wrap there hides needles from the filter. */
  #tryTo = 0;

  constructor(needles: Needles, window: SlidingWindow, wraps: LineWraps, offset: number) {
    this.#filter = needles.filter;
    this.#window = window;
    this.#wraps = wraps;
    this.#plain = new Cursor(needles.plain, window, null);
    this.#wrapped = new Cursor(needles.wrapped, window, wraps);
    this.settled = offset;
  }

  /** Calls `report` with stream offsets, in ascending order of the starts. `final` means that no more bytes follow. */
  scan(final: boolean, report: (start: number, end: number) => void): void {
    const { bytes, base } = this.#window;
    const end = this.#window.end - base;
    const [plain, wrapped] = [this.#plain, this.#wrapped];
    let at = this.settled - base;
    while (at < end) {
      if (!plain.isAlive && !wrapped.isAlive) {
        at = this.#candidate(at, end);
        if (at === end) break;
        plain.begin(bytes[at]!);
        wrapped.begin(bytes[at]!);
      }
      plain.follow(at, end);
      wrapped.follow(at, end);
      const length = Math.max(plain.matched, wrapped.matched);
      if (length > 0) report(base + at, base + at + length);
      if ((plain.isAlive || wrapped.isAlive) && !final) break;
      plain.stop();
      wrapped.stop();
      at++;
    }
    this.settled = base + at;
  }

  /** Returns the next position from `at` on where a needle may begin. */
  #candidate(at: number, end: number): number {
    if (at < this.#tryTo - this.#window.base) return at;
    const { words, bytes } = this.#window;
    const { words: hashes, shift, pairs, first } = this.#filter;
    const last = end >>> 2;
    let word = at >>> 2;
    for (let before = words[word - 1] ?? 0; word < last; word++) {
      const four = words[word]!;
      let places = hashes[Math.imul(four, HASH_MULTIPLIER) >>> shift]!;
      if (pairs !== null) {
        places |= pairs[four & 0xffff]! | (pairs[(before >>> 24) | ((four & 0xff) << 8)]! << 1);
        places |= (pairs[before >>> 16]! << 2) | (pairs[(before >>> 8) & 0xffff]! << 3);
        before = four;
      }
      // The second term is not 0 if one of the bytes is less than 14. Line breaks are less than 14.
      if (places !== 0 || ((four - 0x0e0e0e0e) & ~four & 0x80808080) !== 0) {
        const place = this.#placeBefore(word * 4, places, at);
        if (place >= 0) return place;
      }
    }
    for (let place = Math.max(at, last * 4 - 3); place < end; place++) if (first[bytes[place]!] === 1) return place;
    return end;
  }

  /** Returns the first position in the bit set `places` that is not before `at`, or -1. */
  #placeBefore(index: number, places: number, at: number): number {
    for (let wrap = Math.max(index, at + 1); wrap < index + 4; wrap++) {
      if (!this.#wraps.isWrap(wrap)) continue;
      this.#tryTo = this.#window.base + wrap;
      return Math.max(at, index - 3);
    }
    for (let back = 3; back >= 0; back--) if ((places >>> back) & 1 && index - back >= at) return index - back;
    return -1;
  }
}
