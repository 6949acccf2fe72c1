import type { Scalar } from "yaml";

/** Returns the length of the escape at `at` in a double-quoted scalar. */
const escapeLength = (source: string, at: number): number => ({ x: 4, u: 6, U: 10 })[source[at + 1] ?? ""] ?? 2;

const SPACE = new Set([" ", "\t", "\n", "\r"]);

/**
 * Maps characters of a scalar's value to offsets in the source. The map remembers how far it has read, so calls with
 * rising indices read the text once.
 */
export class ScalarSourceMap {
  readonly #source: string;
  readonly #node: Scalar;
  readonly #value: string;
  readonly #start: number;
  /**
   * The last index that was read, and its offset in the source. In a literal block, this is the beginning of a line.
   */
  #read = 0;
  #at: number;

  constructor(source: string, node: Scalar) {
    this.#source = source;
    this.#node = node;
    this.#value = String(node.source ?? node.value);
    const from = node.range?.[0] ?? 0;
    const isBlock = node.type === "BLOCK_LITERAL" || node.type === "BLOCK_FOLDED";
    const isQuoted = node.type === "QUOTE_DOUBLE" || node.type === "QUOTE_SINGLE";
    this.#start = isBlock ? source.indexOf("\n", from) + 1 : isQuoted ? from + 1 : from;
    this.#at = this.#start;
  }

  /** Returns the offset in the source of the character at `index` of the value. */
  offset(index: number): number {
    if (index < this.#read) [this.#read, this.#at] = [0, this.#start];
    return this.#node.type === "BLOCK_LITERAL" ? this.#inLiteral(index) : this.#inText(index);
  }

  #inLiteral(index: number): number {
    for (let end = this.#value.indexOf("\n", this.#read); end >= 0 && end < index; ) {
      this.#read = end + 1;
      this.#at = this.#source.indexOf("\n", this.#at) + 1;
      end = this.#value.indexOf("\n", this.#read);
    }
    const ends = this.#value.indexOf("\n", this.#read);
    const length = (ends < 0 ? this.#value.length : ends) - this.#read;
    let end = this.#at;
    while (end < this.#source.length && this.#source[end] !== "\n" && this.#source[end] !== "\r") end++;
    return this.#at + Math.max(0, end - this.#at - length) + index - this.#read;
  }

  #inText(index: number): number {
    const source = this.#source;
    const isSpace = (c: string | undefined) => c !== undefined && SPACE.has(c);
    for (; ; this.#read++) {
      const character = this.#value[this.#read];
      while (isSpace(source[this.#at]) && source[this.#at] !== character && !isSpace(character)) this.#at++;
      if (this.#read >= index) return this.#at;
      if (this.#node.type === "QUOTE_DOUBLE" && source[this.#at] === "\\") this.#at += escapeLength(source, this.#at);
      else if (this.#node.type === "QUOTE_SINGLE" && character === "'") this.#at += 2;
      else if (source[this.#at] === character && character !== "\n") this.#at++;
      else while (isSpace(source[this.#at])) this.#at++;
    }
  }
}
