/** Seconds a service may make us wait with Retry-After. */
const LONGEST_RETRY_AFTER = 600;

/** RFC 9110; Date.parse by itself reads a date into almost anything. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

export interface BackOff {
  /** Milliseconds before the first repeat. */
  initial: number;
  /** Milliseconds no wait is longer than. */
  max: number;
}

export const DEFAULT_BACK_OFF: BackOff = { initial: 1000, max: 60_000 };

/**
 * Milliseconds to wait before repeat number `repeat` (from 0): doubling, and each anywhere from a half to the whole,
 * so that agents cut off together do not come back together.
 */
export const backOffDelay = (repeat: number, { initial, max }: BackOff, random: number): number =>
  Math.min(max, initial * 2 ** Math.min(repeat, 30)) * (0.5 + random / 2);

/** Milliseconds a Retry-After header asks for, at most ten minutes; null when absent, malformed, or not in the future. */
export const retryAfterOf = (header: string | null, now: number): number | null => {
  if (header === null) return null;
  const text = header.trim();
  const milliseconds = /^\d+$/.test(text) ? Number(text) * 1000 : HTTP_DATE.test(text) ? Date.parse(text) - now : 0;
  return milliseconds > 0 ? Math.min(milliseconds, LONGEST_RETRY_AFTER * 1000) : null;
};
