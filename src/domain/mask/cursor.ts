import type { Dictionary } from "./dictionary.ts";
import type { Window } from "./window.ts";
import { FOLD, type Wraps } from "./wraps.ts";

/** Follows the text from one place on, as long as it may become a needle of the dictionary. */
export class Cursor {
  readonly #dictionary: Dictionary;
  readonly #window: Window;
  /** Null for needles that are sought byte for byte. */
  readonly #wraps: Wraps | null;
  /** The needles `#low..#high` begin with the first `#depth` bytes of the text, which took `#length` with its wraps. */
  #low = 0;
  #high = 0;
  #depth = 0;
  #length = 0;
  /** Bytes of text, wraps included, of the longest needle found so far. */
  matched = 0;

  constructor(dictionary: Dictionary, window: Window, wraps: Wraps | null) {
    this.#dictionary = dictionary;
    this.#window = window;
    this.#wraps = wraps;
  }

  /** Whether more text could make a longer needle. */
  get isAlive(): boolean {
    return this.#low < this.#high;
  }

  begin(first: number): void {
    const byte = this.#wraps ? FOLD[first]! : first;
    this.#low = this.#dictionary.buckets[byte]!;
    this.#high = this.#dictionary.buckets[byte + 1]!;
    this.#depth = 1;
    this.#length = 1;
    this.matched = 0;
  }

  stop(): void {
    this.#low = this.#high;
  }

  /** Compares from where it stands up to `end`, both indices of the window; `start` is where it began. */
  follow(start: number, end: number): void {
    const { bytes: needles, starts } = this.#dictionary;
    const { bytes: text } = this.#window;
    const wraps = this.#wraps;
    let low = this.#low;
    let high = this.#high;
    let depth = this.#depth;
    let at = start + this.#length;
    while (low < high) {
      if (starts[low + 1]! - starts[low]! === depth) {
        this.matched = at - start;
        low++;
        continue;
      }
      if (at === end) break;
      let byte = text[at]!;
      if (wraps) {
        if (byte < 14 && wraps.isWrap(at)) {
          const next = wraps.after(at, end);
          if (next === end) break;
          at = next;
          byte = text[at]!;
        }
        byte = FOLD[byte]!;
      }
      if (needles[starts[low]! + depth] !== byte) low = this.#dictionary.bound(low, high, depth, byte);
      if (low < high && needles[starts[high - 1]! + depth] !== byte) {
        high = this.#dictionary.bound(low, high, depth, byte + 1);
      }
      depth++;
      at++;
    }
    this.#low = low;
    this.#high = high;
    this.#depth = depth;
    this.#length = at - start;
  }
}
