import { type Dictionary, MIX } from "./dictionary.ts";
import type { Window } from "./window.ts";

/** Finds the needles of a dictionary in a window, from left to right; for each place only the longest. */
export class Scanner {
  readonly #dictionary: Dictionary;
  /** Every needle that begins before this stream offset has been found. */
  settled: number;
  /** The candidate at `settled`: its first `#depth` bytes begin the needles `#low..#high`, none if equal. */
  #depth = 0;
  #low = 0;
  #high = 0;
  #matched = 0;

  constructor(dictionary: Dictionary, offset: number) {
    this.#dictionary = dictionary;
    this.settled = offset;
  }

  /** Calls `found` with stream offsets, starts ascending. `final` says that no more bytes will follow. */
  scan(window: Window, final: boolean, found: (start: number, end: number) => void): void {
    const { bytes, base } = window;
    const end = window.end - base;
    let at = this.settled - base;
    while (at < end) {
      if (this.#high === this.#low) {
        at = this.#candidate(bytes, at, end);
        if (at === end) break;
        this.#begin(bytes[at]!);
      }
      const known = this.#matched;
      this.#follow(bytes, at, end);
      if (this.#matched > known) found(base + at, base + at + this.#matched);
      if (this.#high > this.#low && !final) break;
      this.#high = this.#low = 0;
      at++;
    }
    this.settled = base + at;
  }

  /** The next place from `at` on where a needle may begin; the last three places always may. */
  #candidate(bytes: Uint8Array, at: number, end: number): number {
    const { filter, shift, short, buckets, size } = this.#dictionary;
    if (size === 0) return end;
    if (at + 3 < end) {
      let four = (bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!;
      if (short) {
        for (let last = at + 3; last < end; last++) {
          four = (four << 8) | bytes[last]!;
          if (filter[Math.imul(four, MIX) >>> shift] !== 0 || short[four >>> 24] !== 0) return last - 3;
        }
      } else {
        for (let last = at + 3; last < end; last++) {
          four = (four << 8) | bytes[last]!;
          if (filter[Math.imul(four, MIX) >>> shift] !== 0) return last - 3;
        }
      }
      at = end - 3;
    }
    while (at < end && buckets[bytes[at]!] === buckets[bytes[at]! + 1]) at++;
    return at;
  }

  #begin(first: number): void {
    this.#low = this.#dictionary.buckets[first]!;
    this.#high = this.#dictionary.buckets[first + 1]!;
    this.#depth = 1;
    this.#matched = 0;
  }

  /** Compares the candidate's next bytes until they end (`#high > #low`) or no needle is left. */
  #follow(text: Uint8Array, at: number, end: number): void {
    const { bytes, starts } = this.#dictionary;
    let low = this.#low;
    let high = this.#high;
    let depth = this.#depth;
    while (low < high) {
      if (starts[low + 1]! - starts[low]! === depth) {
        this.#matched = depth;
        low++;
        continue;
      }
      if (at + depth === end) break;
      const byte = text[at + depth]!;
      if (bytes[starts[low]! + depth] !== byte) low = this.#bound(low, high, depth, byte);
      if (low < high && bytes[starts[high - 1]! + depth] !== byte) high = this.#bound(low, high, depth, byte + 1);
      depth++;
    }
    this.#low = low;
    this.#high = high;
    this.#depth = depth;
  }

  /** The first of the needles whose byte at `depth` is at least `byte`. */
  #bound(low: number, high: number, depth: number, byte: number): number {
    const { bytes, starts } = this.#dictionary;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (bytes[starts[middle]! + depth]! < byte) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
