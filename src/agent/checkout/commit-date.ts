/** 9999-12-31, in seconds. */
const LAST = 253_402_300_799;

/**
 * The seconds that git prints of a commit's date, or null: whoever writes a commit may write any date into it. Git
 * prints 0 for what is no number, and one near 2^64 for a date before 1970.
 */
export const knownDate = (printed: string | undefined): number | null => {
  const seconds = Number(printed);
  return seconds > 0 && seconds <= LAST ? seconds : null;
};
