/**
 * A budget of steps for reading a text that others wrote. When the budget falls below zero, a reader stops and returns
 * the answer that it documents for this case. Readers count steps instead of time, so that the same text has the same
 * answer on every machine.
 */
export interface Work {
  left: number;
}

/** Spends steps. @returns whether the budget still had that many steps */
export const spend = (work: Work, steps: number): boolean => {
  work.left -= steps;
  return work.left >= 0;
};
