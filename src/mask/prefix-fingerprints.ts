import { TO_BASE64 } from "./base64url.ts";
import { CHECKPOINT_STEP, type Checkpoint, type Checkpoints } from "./checkpoints.ts";
import { addToP, addToQ, Powers } from "./fingerprint.ts";
import type { LineWraps } from "./line-wraps.ts";
import type { SlidingWindow } from "./sliding-window.ts";

/** Bytes kept before the current start; with more, and half of all, the fingerprints begin again. */
const LAG = 4096;

/** Prefix fingerprints of text that was compared before, without wraps, to leap over it the next time. */
export class PrefixFingerprints {
  readonly #window: SlidingWindow;
  readonly #wraps: LineWraps | null;
  readonly #powers = new Powers(CHECKPOINT_STEP);
  /** Stream offset of each byte, and the fingerprint halves of all bytes before it; those have one entry more. */
  #places: number[] = [];
  #p: number[] = [0];
  #q: number[] = [0];
  #next = 0;

  constructor(window: SlidingWindow, wraps: LineWraps | null) {
    this.#window = window;
    this.#wraps = wraps;
  }

  /**
   * The farthest checkpoint that the text from `start` on reaches before `to`, with the stream offsets of its end and
   * of the end of the longest needle on the way.
   */
  leap(checkpoints: Checkpoints, start: number, to: number): (Checkpoint & { at: number; matchedTo: number }) | null {
    const first = this.#reach(start, to);
    let found = -1;
    let low = 0;
    let high = Math.floor(Math.min(this.#places.length - first, checkpoints.longest) / CHECKPOINT_STEP);
    // Text that repeats itself mostly reaches as far as it can, so that is tried first.
    for (let times = high; low < high; times = (low + high + 1) >>> 1) {
      const end = first + times * CHECKPOINT_STEP;
      const checkpoint = checkpoints.find(
        this.#powers.ofRest(this.#p[first]!, this.#q[first]!, this.#p[end]!, this.#q[end]!, times),
      );
      if (checkpoint >= 0) [low, found] = [times, checkpoint];
      else high = times - 1;
    }
    if (found < 0) return null;
    const { depth, matched, ...rest } = checkpoints.at(found);
    const endOf = (length: number) => this.#places[first + length - 1]! + 1;
    return { ...rest, depth, matched, at: endOf(depth), matchedTo: matched > 0 ? endOf(matched) : start };
  }

  /** Adds the text up to `to`. @returns the index of `start` */
  #reach(start: number, to: number): number {
    const known = this.#indexOf(start);
    if (known < 0 || known > LAG + this.#places.length / 2) {
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
    return this.#indexOf(start);
  }

  #indexOf(place: number): number {
    let [low, high] = [0, this.#places.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#places[middle]! < place) low = middle + 1;
      else high = middle;
    }
    return this.#places[low] === place ? low : -1;
  }
}
