import { median } from "../support/statistics.ts";

/** One row's result: milliseconds for the service and its floor in the same run, or a count without a floor. */
export interface Figure {
  own: number;
  floor: number | null;
}

/** One row of the gate. Lower is better in each. */
export interface Row {
  name: string;
  unit: "ms" | "kB" | "rows";
  measure(): Promise<Figure>;
}

/** Rows that share their setup. */
export interface RowGroup {
  rows: Row[];
  close(): Promise<void>;
}

/** Returns the milliseconds that one run of a row took. */
type Run = () => Promise<number>;

/** Runs the floor and the service in turns, so that the machine's load is the same for both. */
export const inTurns = async (count: number, runs: { floor: Run; own: Run }, average = median): Promise<Figure> => {
  const times: Record<"own" | "floor", number[]> = { own: [], floor: [] };
  for (let n = 0; n < count; n++) {
    times.floor.push(await runs.floor());
    times.own.push(await runs.own());
  }
  return { own: average(times.own), floor: average(times.floor) };
};

export type Verdict = "better" | "same" | "worse";

/** The allowed increase of a ratio over the kept one. Smaller differences come from the machine. */
const RATIO_TOLERANCE = 0.15;
/** Counts do not depend on the machine. */
const COUNT_TOLERANCE = 0.02;

/** Returns the value to compare with the kept one: a ratio, which the machine's speed does not affect, or the count. */
export const scoreOf = ({ own, floor }: Figure): number => (floor === null ? own : own / floor);

/** Compares a figure with the kept value. */
export const judge = (figure: Figure, kept: number): Verdict => {
  const tolerance = figure.floor === null ? COUNT_TOLERANCE : RATIO_TOLERANCE;
  const change = scoreOf(figure) / kept - 1;
  if (change > tolerance) return "worse";
  return change < -tolerance ? "better" : "same";
};

/** Returns the figures from the lowest to the highest score. */
export const sorted = (figures: Figure[]): Figure[] => [...figures].sort((a, b) => scoreOf(a) - scoreOf(b));
