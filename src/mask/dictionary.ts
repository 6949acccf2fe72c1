import { Checkpoints } from "./fingerprints.ts";

/** Sorted needles in one block of memory. Needles with a common prefix are adjacent. */
export class MaskDictionary {
  readonly size: number;
  /** All needles in a row. Needle n is `bytes[starts[n]..starts[n + 1])`. */
  readonly bytes: Uint8Array;
  readonly starts: Uint32Array;
  /** The ranges of needles by their first byte. Needles that begin with byte b are `buckets[b]..buckets[b + 1]`. */
  readonly buckets: Uint32Array;

  #checkpoints: Checkpoints | undefined;

  constructor(needles: Uint8Array[]) {
    const sorted = needles.filter((needle) => needle.length > 0).sort(compareBytes);
    const unique = sorted.filter((needle, n) => n === 0 || compareBytes(needle, sorted[n - 1]!) !== 0);
    this.size = unique.length;
    this.starts = new Uint32Array(this.size + 1);
    for (let n = 0; n < this.size; n++) this.starts[n + 1] = this.starts[n]! + unique[n]!.length;
    this.bytes = new Uint8Array(this.starts[this.size]!);
    this.buckets = new Uint32Array(257);
    for (let n = 0; n < this.size; n++) {
      this.bytes.set(unique[n]!, this.starts[n]!);
      this.buckets[unique[n]![0]! + 1] = n + 1;
    }
    for (let b = 1; b <= 256; b++) this.buckets[b] = Math.max(this.buckets[b]!, this.buckets[b - 1]!);
  }

  /** The checkpoints, built on first use, because most texts never need them. */
  get checkpoints(): Checkpoints {
    this.#checkpoints ??= new Checkpoints(this.needles());
    return this.#checkpoints;
  }

  needle(n: number): Uint8Array {
    return this.bytes.subarray(this.starts[n], this.starts[n + 1]);
  }

  needles(): Uint8Array[] {
    return Array.from({ length: this.size }, (_, n) => this.needle(n));
  }

  /**
   * Finds the lower bound among the needles `low..high`, which are equal up to `depth`. The bound is the first needle
   * whose next byte is at least `byte`.
   */
  bound(low: number, high: number, depth: number, byte: number): number {
    const { bytes, starts } = this;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (bytes[starts[middle]! + depth]! < byte) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

const compareBytes = (a: Uint8Array, b: Uint8Array): number => {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) if (a[at] !== b[at]) return a[at]! - b[at]!;
  return a.length - b.length;
};
