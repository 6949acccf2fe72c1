import { addToP, addToQ, joinHalves } from "./fingerprint.ts";

/** Bytes between two checkpoints of a needle. */
export const CHECKPOINT_STEP = 64;

/** The state of a comparison that has matched a needle's beginning up to a checkpoint. */
export interface Checkpoint {
  low: number;
  high: number;
  depth: number;
  /** Length of the longest needle that ends before `depth`. */
  matched: number;
}

/**
 * The needles' prefixes of 64, 128, ... bytes, by fingerprint. Without them, text that repeats like a needle would be
 * compared again from each of its bytes.
 */
export class Checkpoints {
  readonly longest: number;
  readonly #keys: Float64Array;
  readonly #values: Uint32Array;

  /** The needles must be sorted, so that a prefix of another needle precedes it. */
  constructor(needles: Uint8Array[]) {
    const lengths = needles.map(({ length }) => length);
    this.longest = lengths.reduce((longest, length) => Math.max(longest, length), 0);
    const count = lengths.reduce((sum, length) => sum + Math.floor(length / CHECKPOINT_STEP), 0);
    this.#keys = new Float64Array(2 ** Math.ceil(Math.log2(2 * count + 2))).fill(-1);
    this.#values = new Uint32Array(4 * this.#keys.length);
    const prefixes: number[] = [];
    for (const [n, needle] of needles.entries()) {
      while (prefixes.length > 0 && !startsWith(needle, needles[prefixes.at(-1)!]!)) prefixes.pop();
      this.#add(
        needle,
        n,
        prefixes.map((prefix) => lengths[prefix]!),
      );
      prefixes.push(n);
    }
  }

  /** The checkpoint of the prefix with this fingerprint, or -1. */
  find(fingerprint: number): number {
    const slot = this.#slot(fingerprint);
    return this.#keys[slot] === -1 ? -1 : slot;
  }

  at(checkpoint: number): Checkpoint {
    const [low, high, depth, matched] = this.#values.subarray(4 * checkpoint, 4 * checkpoint + 4);
    return { low: low!, high: high!, depth: depth!, matched: matched! };
  }

  #add(needle: Uint8Array, n: number, endings: number[]): void {
    let [p, q] = [0, 0];
    for (let depth = 1; depth <= needle.length; depth++) {
      p = addToP(p, needle[depth - 1]!);
      q = addToQ(q, needle[depth - 1]!);
      if (depth % CHECKPOINT_STEP !== 0) continue;
      const key = joinHalves(p, q);
      const slot = this.#slot(key);
      if (this.#keys[slot] === -1) {
        this.#keys[slot] = key;
        this.#values.set([n, n, depth, endings.findLast((length) => length < depth) ?? 0], 4 * slot);
      }
      this.#values[4 * slot + 1] = n + 1;
    }
  }

  #slot(key: number): number {
    const mask = this.#keys.length - 1;
    let slot = (key % 4_294_967_291) & mask;
    while (this.#keys[slot] !== -1 && this.#keys[slot] !== key) slot = (slot + 1) & mask;
    return slot;
  }
}

const startsWith = (whole: Uint8Array, start: Uint8Array): boolean =>
  start.length <= whole.length && start.every((byte, at) => whole[at] === byte);
