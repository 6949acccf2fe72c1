/**
 * Steps that may still be made for a text that others wrote. Below zero there is an answer without them: the reader says
 * what it is. Steps are counted and not timed, so that the same text has the same answer on every machine.
 */
export interface Work {
  left: number;
}

/** Takes steps away. @returns whether there were so many left */
export const spend = (work: Work, steps: number): boolean => {
  work.left -= steps;
  return work.left >= 0;
};
