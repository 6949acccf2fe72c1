/** Rabin-Karp fingerprints of 52 bits: two primes under 2^26, so that products are exact, each with a base. */
const P = 67_108_859;
const Q = 67_108_837;
const BASE_P = 48_271_013;
const BASE_Q = 31_415_927;

const mod = (value: number, prime: number): number => value - Math.floor(value / prime) * prime;

/** Adds a byte to one half of a fingerprint; both halves begin at 0. */
export const addToP = (p: number, byte: number): number => mod(p * BASE_P + byte + 1, P);
export const addToQ = (q: number, byte: number): number => mod(q * BASE_Q + byte + 1, Q);

export const joinHalves = (p: number, q: number): number => p * 2 ** 26 + q;

/** Powers of the bases for lengths that are multiples of `step`. */
export class Powers {
  readonly #step: number;
  readonly #p = [1];
  readonly #q = [1];

  constructor(step: number) {
    this.#step = step;
  }

  /** The fingerprint of the last `times * step` bytes: `p`, `q` are of all bytes, `beforeP`, `beforeQ` of those before. */
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
