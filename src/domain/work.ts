/**
 * A budget of steps for a text that others wrote. Below zero, a reader stops and returns the answer that it documents
 * for this case. Steps are counted, not timed, so that the same text has the same answer on every machine.
 */
export interface Work {
  left: number;
}

/** Spends steps. @returns whether the budget had that many left */
export const spend = (work: Work, steps: number): boolean => {
  work.left -= steps;
  return work.left >= 0;
};
