/** Returns the value below which this share (0 to 1) of the sample is. */
export const quantile = (sample: number[], share: number): number => {
  const sorted = [...sample].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
};

export const ms = (value: number): string => `${value.toFixed(1)} ms`;

export const mean = (sample: number[]): number => sample.reduce((sum, value) => sum + value, 0) / sample.length;

export const median = (sample: number[]): number => quantile(sample, 0.5);
