/** The part of a stream that is still needed: bytes are added behind and dropped in front. Offsets are the stream's. */
export class Window {
  /** Stream offset of `bytes[0]`. */
  base: number;
  /** Valid up to `end - base`. */
  bytes = new Uint8Array(1024);
  end: number;
  /** What lies before may be overwritten. */
  start: number;

  constructor(offset: number) {
    this.base = offset;
    this.end = offset;
    this.start = offset;
  }

  /** Room for `length` more bytes; gives the index in `bytes` where they go. The caller then moves `end`. */
  reserve(length: number): number {
    const kept = this.end - this.start;
    if (this.end - this.base + length > this.bytes.length) {
      const fits = kept + length <= this.bytes.length / 2;
      const target = fits ? this.bytes : new Uint8Array(2 * (kept + length));
      target.set(this.bytes.subarray(this.start - this.base, this.end - this.base));
      this.bytes = target;
      this.base = this.start;
    }
    return this.end - this.base;
  }

  append(chunk: Uint8Array): void {
    const at = this.reserve(chunk.length);
    this.bytes.set(chunk, at);
    this.end += chunk.length;
  }

  slice(from: number, to: number): Uint8Array {
    return this.bytes.subarray(from - this.base, to - this.base);
  }

  drop(before: number): void {
    this.start = before;
  }
}
