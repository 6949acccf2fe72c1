import { type LineWraps, TO_BASE64 } from "./base64.ts";
import type { SlidingWindow } from "./sliding-window.ts";

/**
 * Rabin-Karp fingerprints of 52 bits. They use two primes under 2^26, so that products are exact, each with its own
 * base.
 */
const P = 67_108_859;
const Q = 67_108_837;
const BASE_P = 48_271_013;
const BASE_Q = 31_415_927;

const mod = (value: number, prime: number): number => value - Math.floor(value / prime) * prime;

/** Adds a byte to one half of a fingerprint. Both halves begin at 0. */
const addToP = (p: number, byte: number): number => mod(p * BASE_P + byte + 1, P);
const addToQ = (q: number, byte: number): number => mod(q * BASE_Q + byte + 1, Q);

const joinHalves = (p: number, q: number): number => p * 2 ** 26 + q;

/** Powers of the bases, for lengths that are multiples of `step`. */
class Powers {
  readonly #step: number;
  readonly #p = [1];
  readonly #q = [1];

  constructor(step: number) {
    this.#step = step;
  }

  /**
   * Returns the fingerprint of the last `times * step` bytes. `p` and `q` cover all bytes, and `beforeP` and `beforeQ`
   * cover the earlier ones.
   */
  ofRest(beforeP: number, beforeQ: number, p: number, q: number, times: number): number {
    while (this.#p.length <= times) {
      let [powerP, powerQ] = [this.#p.at(-1)!, this.#q.at(-1)!];
      for (let n = 0; n < this.#step; n++) [powerP, powerQ] = [mod(powerP * BASE_P, P), mod(powerQ * BASE_Q, Q)];
      this.#p.push(powerP);
      this.#q.push(powerQ);
    }
    const restP = p - mod(beforeP * this.#p[times]!, P);
    const restQ = q - mod(beforeQ * this.#q[times]!, Q);
    return joinHalves(restP < 0 ? restP + P : restP, restQ < 0 ? restQ + Q : restQ);
  }
}

/** Bytes between two checkpoints of a needle. */
export const CHECKPOINT_STEP = 64;

/** The state of a comparison that matches a needle's beginning up to a checkpoint. */
interface Checkpoint {
  low: number;
  high: number;
  depth: number;
  /** The length of the longest needle that ends before `depth`. */
  matched: number;
}

/**
 * The needles' prefixes of 64, 128, ... bytes, by fingerprint. Without them, the cursor would compare repetitive text
 * that resembles a needle again from each of the text's bytes.
 */
export class Checkpoints {
  readonly longest: number;
  readonly #keys: Float64Array;
  readonly #values: Uint32Array;

  /** The needles must be sorted. A needle that is a prefix of another needle comes first. */
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

  /** Finds the checkpoint of the prefix with this fingerprint, or -1. */
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

/**
 * Bytes to keep before the current start. When there are more bytes, and they are over half of all bytes, the
 * fingerprints restart.
 */
const LAG = 4096;

/** Prefix fingerprints of compared text without its wraps. The next comparison can leap over this text. */
export class PrefixFingerprints {
  readonly #window: SlidingWindow;
  readonly #wraps: LineWraps | null;
  readonly #powers = new Powers(CHECKPOINT_STEP);
  /**
   * The stream offset of each byte, and the fingerprint halves of all bytes before it. The halves have one additional
   * entry.
   */
  #places: number[] = [];
  #p: number[] = [0];
  #q: number[] = [0];
  #next = 0;

  constructor(window: SlidingWindow, wraps: LineWraps | null) {
    this.#window = window;
    this.#wraps = wraps;
  }

  /**
   * Finds the farthest checkpoint that the text from `start` on reaches before `to`. Returns it with the stream offsets
   * of its end and of the end of the longest needle on the way.
   */
  leap(checkpoints: Checkpoints, start: number, to: number): (Checkpoint & { at: number; matchedTo: number }) | null {
    const first = this.#reach(start, to);
    let farthest = -1;
    let low = 0;
    let high = Math.floor(Math.min(this.#places.length - first, checkpoints.longest) / CHECKPOINT_STEP);
    // Repetitive text usually reaches as far as possible, so try that first.
    for (let times = high; low < high; times = (low + high + 1) >>> 1) {
      const end = first + times * CHECKPOINT_STEP;
      const checkpoint = checkpoints.find(
        this.#powers.ofRest(this.#p[first]!, this.#q[first]!, this.#p[end]!, this.#q[end]!, times),
      );
      if (checkpoint >= 0) [low, farthest] = [times, checkpoint];
      else high = times - 1;
    }
    if (farthest < 0) return null;
    const { depth, matched, ...rest } = checkpoints.at(farthest);
    const offsetAfter = (length: number) => this.#places[first + length - 1]! + 1;
    return { ...rest, depth, matched, at: offsetAfter(depth), matchedTo: matched > 0 ? offsetAfter(matched) : start };
  }

  /** Adds the text up to `to`. @returns the index of `start` */
  #reach(start: number, to: number): number {
    const index = this.#findPlace(start);
    if (index < 0 || index > LAG + this.#places.length / 2) {
      [this.#places, this.#p, this.#q, this.#next] = [[], [0], [0], start];
    }
    const { bytes, base, end } = this.#window;
    while (this.#next < to) {
      if (this.#wraps?.isWrap(this.#next - base)) this.#next = base + this.#wraps.after(this.#next - base, end - base);
      const byte = this.#wraps ? TO_BASE64[bytes[this.#next - base]!]! : bytes[this.#next - base]!;
      this.#p.push(addToP(this.#p[this.#places.length]!, byte));
      this.#q.push(addToQ(this.#q[this.#places.length]!, byte));
      this.#places.push(this.#next++);
    }
    return this.#findPlace(start);
  }

  #findPlace(place: number): number {
    let [low, high] = [0, this.#places.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#places[middle]! < place) low = middle + 1;
      else high = middle;
    }
    return this.#places[low] === place ? low : -1;
  }
}
