import { median } from "../support/statistics.ts";

/** What one row measured: milliseconds of the service and of its floor in the same run, or a count without a floor. */
export interface Figure {
  own: number;
  floor: number | null;
}

/** One row of the gate. Less is better in each. */
export interface Row {
  name: string;
  unit: "ms" | "kB" | "rows";
  measure(): Promise<Figure>;
}

/** Rows that share what they need. */
export interface RowGroup {
  rows: Row[];
  close(): Promise<void>;
}

/** Milliseconds of one run of a row. */
type Run = () => Promise<number>;

/** Runs the floor and the service in turns, so that the load of the machine is the same for both. */
export const inTurns = async (count: number, runs: { floor: Run; own: Run }, average = median): Promise<Figure> => {
  const times: Record<"own" | "floor", number[]> = { own: [], floor: [] };
  for (let n = 0; n < count; n++) {
    times.floor.push(await runs.floor());
    times.own.push(await runs.own());
  }
  return { own: average(times.own), floor: average(times.floor) };
};

export type Verdict = "better" | "same" | "worse";

/** A ratio may be so much above the kept one: a smaller difference is the machine's. */
const RATIO_TOLERANCE = 0.15;
/** Counts do not depend on the machine. */
const COUNT_TOLERANCE = 0.02;

/** What is compared with the kept file: a ratio, which does not depend on the machine's speed, or the count itself. */
export const scoreOf = ({ own, floor }: Figure): number => (floor === null ? own : own / floor);

/** Judges a figure by the value that was kept. */
export const judge = (figure: Figure, kept: number): Verdict => {
  const tolerance = figure.floor === null ? COUNT_TOLERANCE : RATIO_TOLERANCE;
  const change = scoreOf(figure) / kept - 1;
  if (change > tolerance) return "worse";
  return change < -tolerance ? "better" : "same";
};

/** The figures from the lowest to the highest score. */
export const sorted = (figures: Figure[]): Figure[] => [...figures].sort((a, b) => scoreOf(a) - scoreOf(b));
