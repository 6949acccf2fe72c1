import { comeBackDelay, spreadRetry } from "../../protocol/coming-back.ts";
import { MINUTE_MS, SECOND_MS } from "../../protocol/units.ts";

/** Maximum seconds that the agent waits, whatever Retry-After says. */
const MAX_RETRY_AFTER = 600;

/** An HTTP-date in the form of RFC 9110 section 5.6.7. Date.parse alone accepts far more. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

export interface BackOff {
  /** Milliseconds before the first retry. */
  initial: number;
  /** Maximum milliseconds of a wait. */
  max: number;
}

export const DEFAULT_BACK_OFF: BackOff = { initial: SECOND_MS, max: MINUTE_MS };

/**
 * Returns the milliseconds before retry number `retry` (from 0). The backoff is exponential, times a random factor from
 * 0.5 to 1, so that agents do not retry together after losing the connection together. `random` is from 0 to 1.
 */
export const backOffDelay = (retry: number, { initial, max }: BackOff, random: number): number =>
  Math.min(max, initial * 2 ** Math.min(retry, 30)) * (0.5 + random / 2);

interface FailedTry {
  /** The number of tries before this one. */
  retry: number;
  /** Milliseconds from the service's Retry-After, or null. */
  retryAfter: number | null;
  /** Whether the call was waiting at the service when the service cut all such calls. */
  isCut: boolean;
  backOff: BackOff;
  /** A random number from 0 to 1. */
  random: number;
}

/** Returns the milliseconds before the next try. Agents that failed simultaneously do not retry simultaneously. */
export const retryDelay = ({ retry, retryAfter, isCut, backOff, random }: FailedTry): number => {
  if (retryAfter !== null) return spreadRetry(retry, retryAfter, backOff.max, random);
  return isCut && retry === 0 ? comeBackDelay(random) : backOffDelay(retry, backOff, random);
};

/** The end of a socket, or the reason why it could not open. */
export interface SocketEnd {
  opened: boolean;
  /** Whether the service stopped and cut all sockets at once. */
  isCut: boolean;
  /** The status of the answer that rejected the socket, or null. */
  status: number | null;
  retryAfter: number | null;
}

/** Milliseconds before the next try when the service rejects a WebSocket. */
const REFUSED_WAIT = 5 * MINUTE_MS;

/** Returns the milliseconds before the socket is reopened. `failures` counts failed tries in a row. */
export const reopenDelay = (end: SocketEnd & { failures: number; backOff: BackOff; random: number }): number => {
  const { isCut, status, retryAfter, failures, backOff, random } = end;
  if (status !== null && status < 500) return REFUSED_WAIT;
  if (retryAfter !== null) return spreadRetry(failures, retryAfter, backOff.max, random);
  return isCut ? comeBackDelay(random) : backOffDelay(failures, backOff, random);
};

/**
 * Returns the milliseconds from a Retry-After header, at most ten minutes. Returns null for an absent or malformed
 * header, or a time in the past.
 */
export const parseRetryAfter = (header: string | null, now: number): number | null => {
  if (header === null) return null;
  const text = header.trim();
  const milliseconds = /^\d+$/.test(text)
    ? Number(text) * SECOND_MS
    : HTTP_DATE.test(text)
      ? Date.parse(text) - now
      : 0;
  return milliseconds > 0 ? Math.min(milliseconds, MAX_RETRY_AFTER * SECOND_MS) : null;
};
