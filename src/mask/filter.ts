import { TO_BASE64, toBase64Url } from "./base64.ts";
import type { MaskDictionary } from "./dictionary.ts";

export const HASH_MULTIPLIER = 0x9e3779b1;

/**
 * The minimum length of a needle for words. The first seven bytes of a needle contain a whole aligned word, whatever
 * their alignment.
 */
const WORD_MIN = 7;

/**
 * Rules out most of the text without searching the dictionaries. The hash of each aligned word of four bytes says
 * whether a needle may begin there or up to three bytes earlier. Words are little-endian, as on every platform.
 */
export class Filter {
  /** The filter, indexed by a word's hash. Bit b is set if a needle may begin b bytes before the word. */
  readonly words: Uint8Array;
  readonly shift: number;
  /**
   * A 1 for each needle that is too short for words, indexed by the needle's first two bytes. Null without such
   * needles.
   */
  readonly pairs: Uint8Array | null;
  /** A 1 for each needle, indexed by the needle's first byte. */
  readonly first: Uint8Array;

  constructor(plain: MaskDictionary, wrapped: MaskDictionary) {
    const entries = 4 * (plain.size + wrapped.size) + 1;
    this.shift = 32 - Math.min(20, Math.max(12, Math.ceil(Math.log2(32 * entries))));
    this.words = new Uint8Array(2 ** (32 - this.shift));
    this.first = new Uint8Array(256);
    const short: Uint8Array[] = [];
    for (let n = 0; n < plain.size; n++) {
      const needle = plain.needle(n);
      if (needle.length < WORD_MIN) short.push(needle);
      else this.#add(needle);
      this.first[needle[0]!] = 1;
    }
    for (let n = 0; n < wrapped.size; n++) {
      const head = wrapped.needle(n).slice(0, WORD_MIN);
      this.#add(head);
      this.#add(toBase64Url(head));
    }
    for (let byte = 0; byte < 256; byte++) {
      if (wrapped.buckets[TO_BASE64[byte]!] !== wrapped.buckets[TO_BASE64[byte]! + 1]) this.first[byte] = 1;
    }
    this.pairs = short.length > 0 ? markPairs(short) : null;
  }

  #add(needle: Uint8Array): void {
    for (let at = 0; at < 4; at++) {
      const word = needle[at]! | (needle[at + 1]! << 8) | (needle[at + 2]! << 16) | (needle[at + 3]! << 24);
      const hash = Math.imul(word, HASH_MULTIPLIER) >>> this.shift;
      this.words[hash] = this.words[hash]! | (1 << at);
    }
  }
}

const markPairs = (needles: Uint8Array[]): Uint8Array => {
  const pairs = new Uint8Array(65536);
  for (const [first, second] of needles) {
    if (second !== undefined) pairs[first! | (second << 8)] = 1;
    else for (let any = 0; any < 256; any++) pairs[first! | (any << 8)] = 1;
  }
  return pairs;
};
