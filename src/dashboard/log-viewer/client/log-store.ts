const NEWLINE = 10;
const FIRST_BYTES = 1 << 20;
const FIRST_LINES = 1 << 14;

const grow = <T extends Uint8Array | Uint32Array>(array: T, needed: number): T => {
  if (needed <= array.length) return array;
  const larger = new (array.constructor as new (length: number) => T)(Math.max(needed, array.length * 2));
  larger.set(array as never);
  return larger;
};

/**
 * The bytes of one attempt's log, or of its end, and the places where its lines begin. Decodes a line only on demand.
 * Offsets count from the start of the whole log.
 */
export class LogStore {
  /** The offset of the first stored byte. It is 0 if no earlier bytes are missing. */
  base: number;
  #length = 0;
  /** The number of lines. The last line may still grow. */
  count = 0;
  /** Increases each time the log is cleared. */
  generation = 0;
  #bytes = new Uint8Array(FIRST_BYTES);
  #starts = new Uint32Array(FIRST_LINES);
  readonly #decoder = new TextDecoder();

  constructor(base = 0) {
    this.base = base;
  }

  /** The offset after the last byte. */
  get size(): number {
    return this.base + this.#length;
  }

  append(bytes: Uint8Array): void {
    this.#bytes = grow(this.#bytes, this.#length + bytes.length);
    this.#bytes.set(bytes, this.#length);
    if (this.count === 0 && bytes.length > 0) this.#begin(0);
    else if (this.#length > 0 && this.#bytes[this.#length - 1] === NEWLINE && bytes.length > 0)
      this.#begin(this.#length);
    for (let at = bytes.indexOf(NEWLINE); at !== -1 && at + 1 < bytes.length; at = bytes.indexOf(NEWLINE, at + 1)) {
      this.#begin(this.#length + at + 1);
    }
    this.#length += bytes.length;
  }

  /**
   * Adds the bytes of another store, which ends where this store begins. Returns the number of lines that it added
   * before the first line.
   */
  prepend(earlier: LogStore): number {
    if (earlier.size !== this.base) throw new Error("the prepended part must end where the log begins");
    const own = this.#bytes.subarray(0, this.#length);
    const before = earlier.#length > 0 && earlier.#bytes[earlier.#length - 1] !== NEWLINE ? 1 : 0;
    const added = earlier.count - before;
    earlier.append(own);
    this.base = earlier.base;
    this.count = earlier.count;
    this.#bytes = earlier.#bytes;
    this.#starts = earlier.#starts;
    this.#length = earlier.#length;
    this.generation += 1;
    return added;
  }

  #begin(offset: number): void {
    this.#starts = grow(this.#starts, this.count + 1);
    this.#starts[this.count] = offset;
    this.count += 1;
  }

  /** Clears the store and restarts at this byte of the log. */
  clear(base = 0): void {
    this.base = base;
    this.#length = 0;
    this.count = 0;
    this.generation += 1;
  }

  /** Returns line `index`'s offset in bytes. After the last line, returns the size of the log. */
  start(index: number): number {
    return this.base + this.#at(index);
  }

  /** Returns the place where line `index` begins among the stored bytes. */
  #at(index: number): number {
    return index < this.count ? (this.#starts[index] ?? 0) : this.#length;
  }

  /** Returns the text of line `index` without its line break. */
  line(index: number): string {
    const end = this.#at(index + 1);
    const last = this.#bytes[end - 1] === NEWLINE ? end - 1 : end;
    return this.#decoder.decode(this.#bytes.subarray(this.#at(index), last));
  }

  /** Reports whether line `index` is stored with its line break, and therefore cannot grow. */
  isWhole(index: number): boolean {
    return index < this.count && this.#bytes[this.#at(index + 1) - 1] === NEWLINE;
  }

  /** Reports whether line `index` begins with these bytes. */
  begins(index: number, word: Uint8Array): boolean {
    const start = this.#at(index);
    if (this.#at(index + 1) - start < word.length) return false;
    return word.every((byte, at) => this.#bytes[start + at] === byte);
  }

  /** Returns the text of the lines from `from` to before `to`. */
  text(from: number, to: number): string {
    return this.#decoder.decode(this.#bytes.subarray(this.#at(from), this.#at(to)));
  }

  /** Returns the first line that begins at or after `offset`. */
  lineAt(offset: number): number {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.start(middle) < offset) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
