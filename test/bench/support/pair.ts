import { ms, quantile } from "./figures.ts";

/** Milliseconds of the service and of the floor, taken in turns. */
export interface Pair {
  own: number[];
  bare: number[];
}

const beside = (own: number, bare: number): string => `${ms(own)}, bare ${ms(bare)}, ratio ${(own / bare).toFixed(2)}`;

/** Median and tail beside the floor's; of a single sample, that sample. */
export const describePair = ({ own, bare }: Pair): string => {
  if (own.length === 1) return beside(own[0]!, bare[0]!);
  const [p50, p99] = [0.5, 0.99].map((share) => beside(quantile(own, share), quantile(bare, share)));
  return `p50 ${p50}   p99 ${p99}`;
};
