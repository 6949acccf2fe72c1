/** Needles of one kind, sorted, in one block of memory; a filter on their first four bytes keeps most text away. */
export class Dictionary {
  readonly size: number;
  /** All needles, one after the other; needle n is `bytes[starts[n]..starts[n + 1])`. */
  readonly bytes: Uint8Array;
  readonly starts: Uint32Array;
  /** Needles that begin with byte b are `buckets[b]..buckets[b + 1]`. */
  readonly buckets: Uint32Array;
  /** Not 0 where the hash of four bytes may begin a needle. */
  readonly filter: Uint8Array;
  readonly shift: number;
  /** Not 0 for the first bytes of needles too short for the filter; null without such needles. */
  readonly short: Uint8Array | null;

  constructor(needles: Uint8Array[]) {
    const sorted = needles.filter((needle) => needle.length > 0).sort(compareBytes);
    const unique = sorted.filter((needle, n) => n === 0 || compareBytes(needle, sorted[n - 1]!) !== 0);
    this.size = unique.length;
    this.starts = new Uint32Array(this.size + 1);
    for (let n = 0; n < this.size; n++) this.starts[n + 1] = this.starts[n]! + unique[n]!.length;
    this.bytes = new Uint8Array(this.starts[this.size]!);
    this.buckets = new Uint32Array(257);
    this.shift = 32 - Math.min(20, Math.max(14, Math.ceil(Math.log2(32 * (this.size + 1)))));
    this.filter = new Uint8Array(2 ** (32 - this.shift));
    const short = new Uint8Array(256);
    for (let n = 0; n < this.size; n++) {
      const needle = unique[n]!;
      this.bytes.set(needle, this.starts[n]!);
      this.buckets[needle[0]! + 1] = n + 1;
      if (needle.length < 4) short[needle[0]!] = 1;
      else this.filter[hash4(needle, 0) >>> this.shift] = 1;
    }
    for (let b = 1; b <= 256; b++) this.buckets[b] = Math.max(this.buckets[b]!, this.buckets[b - 1]!);
    this.short = short.includes(1) ? short : null;
  }

  needles(): Uint8Array[] {
    return Array.from({ length: this.size }, (_, n) => this.bytes.subarray(this.starts[n], this.starts[n + 1]));
  }
}

export const MIX = 0x9e3779b1;

const hash4 = (bytes: Uint8Array, at: number): number =>
  Math.imul((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!, MIX);

const compareBytes = (a: Uint8Array, b: Uint8Array): number => {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) if (a[at] !== b[at]) return a[at]! - b[at]!;
  return a.length - b.length;
};
