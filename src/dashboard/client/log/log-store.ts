const NEWLINE = 10;
const FIRST_BYTES = 1 << 20;
const FIRST_LINES = 1 << 14;

const grow = <T extends Uint8Array | Uint32Array>(array: T, needed: number): T => {
  if (needed <= array.length) return array;
  const larger = new (array.constructor as new (length: number) => T)(Math.max(needed, array.length * 2));
  larger.set(array as never);
  return larger;
};

/** The bytes of one attempt's log and where its lines begin. A line is decoded only when it is needed. */
export class LogStore {
  size = 0;
  /** The number of lines. The last one may still grow. */
  count = 0;
  /** Increases each time the log is cleared. */
  generation = 0;
  #bytes = new Uint8Array(FIRST_BYTES);
  #starts = new Uint32Array(FIRST_LINES);
  readonly #decoder = new TextDecoder();

  append(bytes: Uint8Array): void {
    this.#bytes = grow(this.#bytes, this.size + bytes.length);
    this.#bytes.set(bytes, this.size);
    if (this.count === 0 && bytes.length > 0) this.#begin(0);
    else if (this.size > 0 && this.#bytes[this.size - 1] === NEWLINE && bytes.length > 0) this.#begin(this.size);
    for (let at = bytes.indexOf(NEWLINE); at !== -1 && at + 1 < bytes.length; at = bytes.indexOf(NEWLINE, at + 1)) {
      this.#begin(this.size + at + 1);
    }
    this.size += bytes.length;
  }

  #begin(offset: number): void {
    this.#starts = grow(this.#starts, this.count + 1);
    this.#starts[this.count] = offset;
    this.count += 1;
  }

  clear(): void {
    this.size = 0;
    this.count = 0;
    this.generation += 1;
  }

  /** The offset of line `index` in bytes. After the last line it is the size of the log. */
  start(index: number): number {
    return index < this.count ? (this.#starts[index] ?? 0) : this.size;
  }

  /** The text of line `index` without its line break. */
  line(index: number): string {
    const end = this.start(index + 1);
    const last = this.#bytes[end - 1] === NEWLINE ? end - 1 : end;
    return this.#decoder.decode(this.#bytes.subarray(this.start(index), last));
  }

  /** Whether line `index` is there with its line break: it does not grow any more. */
  isWhole(index: number): boolean {
    return index < this.count && this.#bytes[this.start(index + 1) - 1] === NEWLINE;
  }

  /** Whether line `index` begins with these bytes. */
  begins(index: number, word: Uint8Array): boolean {
    const start = this.start(index);
    if (this.start(index + 1) - start < word.length) return false;
    return word.every((byte, at) => this.#bytes[start + at] === byte);
  }

  /** The text of the lines from `from` up to, but not including, `to`. */
  text(from: number, to: number): string {
    return this.#decoder.decode(this.#bytes.subarray(this.start(from), this.start(to)));
  }

  /** The first line that begins at `offset` or after it. */
  lineAt(offset: number): number {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#starts[middle] ?? 0) < offset) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
