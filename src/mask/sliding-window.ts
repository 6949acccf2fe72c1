/** The part of a stream that is still needed. The masker adds bytes at its end and drops bytes at its start. */
export class SlidingWindow {
  bytes = new Uint8Array(4096);
  /** The same memory as `bytes`, four bytes at a time. */
  words = new Uint32Array(this.bytes.buffer);
  /** Stream offset of `bytes[0]`. */
  base: number;
  end: number;
  #start: number;

  constructor(offset: number) {
    this.base = offset;
    this.end = offset;
    this.#start = offset;
  }

  /** The offset of the first byte that is still available. */
  get start(): number {
    return this.#start;
  }

  append(chunk: Uint8Array): void {
    this.#makeRoom(chunk.length);
    this.bytes.set(chunk, this.end - this.base);
    this.end += chunk.length;
  }

  slice(from: number, to: number): Uint8Array {
    return this.bytes.subarray(from - this.base, to - this.base);
  }

  drop(before: number): void {
    this.#start = Math.max(this.#start, before);
  }

  #makeRoom(length: number): void {
    if (this.end - this.base + length <= this.bytes.length) return;
    const content = this.bytes.subarray(this.#start - this.base, this.end - this.base);
    const needed = content.length + length;
    if (needed * 2 > this.bytes.length) {
      const larger = new Uint8Array(Math.ceil(needed / 2) * 4);
      larger.set(content);
      this.bytes = larger;
      this.words = new Uint32Array(larger.buffer);
    } else this.bytes.set(content);
    this.base = this.#start;
  }
}
