/** How many spans of time fall into each bucket. Absent buckets are empty. */
export type Histogram = Record<number, number>;

/** Buckets from a span to its double: a percentile is at most a sixteenth of an octave, 4.5 %, beside the exact one. */
const BUCKETS_AN_OCTAVE = 8;

const bucketOf = (milliseconds: number): number => Math.floor(Math.log2(Math.max(1, milliseconds)) * BUCKETS_AN_OCTAVE);

/** The middle of a bucket, in whole milliseconds. */
const middleOf = (bucket: number): number => Math.round(2 ** ((bucket + 0.5) / BUCKETS_AN_OCTAVE));

export const histogramOf = (spans: readonly number[]): Histogram => {
  const histogram: Histogram = {};
  for (const span of spans) {
    const bucket = bucketOf(span);
    histogram[bucket] = (histogram[bucket] ?? 0) + 1;
  }
  return histogram;
};

export const sumOf = (histograms: readonly Histogram[]): Histogram => {
  const sum: Histogram = {};
  for (const [bucket, count] of histograms.flatMap((one) => Object.entries(one))) {
    sum[Number(bucket)] = (sum[Number(bucket)] ?? 0) + count;
  }
  return sum;
};

/** The span, in milliseconds, that this share of the spans does not exceed (nearest rank); null without any. */
export const percentile = (histogram: Histogram, share: number): number | null => {
  const counts = Object.entries(histogram).map(([bucket, count]): [number, number] => [Number(bucket), count]);
  const total = counts.reduce((sum, [, count]) => sum + count, 0);
  let left = Math.max(1, Math.ceil(total * share));
  for (const [bucket, count] of counts.sort(([a], [b]) => a - b)) {
    left -= count;
    if (left <= 0) return middleOf(bucket);
  }
  return null;
};
