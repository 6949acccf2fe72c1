import { ms, quantile } from "./statistics.ts";

/** Milliseconds of the service and the floor, measured in turns. */
export interface Comparison {
  own: number[];
  floor: number[];
}

const ratioText = (own: number, floor: number): string =>
  `${ms(own)}, floor ${ms(floor)}, ratio ${(own / floor).toFixed(2)}`;

/** Returns both medians and 99th percentiles with their ratio. Shows a single sample as it is. */
export const describeComparison = ({ own, floor }: Comparison): string => {
  if (own.length === 1) return ratioText(own[0]!, floor[0]!);
  const [p50, p99] = [0.5, 0.99].map((share) => ratioText(quantile(own, share), quantile(floor, share)));
  return `p50 ${p50}   p99 ${p99}`;
};
