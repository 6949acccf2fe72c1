/** A seeded pseudo-random generator (sfc32): the same seed and stream give the same numbers. */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #count = 1;

  constructor(seed: number, stream: number) {
    this.#a = seed | 0;
    this.#b = stream | 0;
    this.#c = 0x9e3779b9;
    for (let round = 0; round < 12; round++) this.next();
  }

  /** Returns a number from 0 up to 1, exclusive. */
  next(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#count) | 0;
    this.#count = (this.#count + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum;
    return (sum >>> 0) / 4294967296;
  }

  /** Returns an integer from 0 up to `limit`, exclusive. */
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  /** Returns true with this probability. */
  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(from: readonly T[]): T {
    return from[this.below(from.length)]!;
  }

  /** Returns one of the names, with a probability by its weight. */
  weighted<K extends string>(weights: readonly (readonly [name: K, weight: number])[], total: number): K {
    let left = this.next() * total;
    for (const [name, weight] of weights) {
      left -= weight;
      if (left < 0) return name;
    }
    return weights[0]![0];
  }
}
