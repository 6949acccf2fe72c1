import { comeBackDelay, spreadRetry } from "../../protocol/coming-back.ts";
import { MINUTE_MS, SECOND_MS } from "../../protocol/units.ts";

/** Seconds: the agent waits no longer, whatever Retry-After says. */
const MAX_RETRY_AFTER = 600;

/** HTTP-date as RFC 9110 section 5.6.7 has it. Date.parse alone accepts far more. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

export interface BackOff {
  /** Milliseconds before the first retry. */
  initial: number;
  /** Milliseconds of the longest wait. */
  max: number;
}

export const DEFAULT_BACK_OFF: BackOff = { initial: SECOND_MS, max: MINUTE_MS };

/**
 * Milliseconds before retry number `retry` (from 0): exponential backoff, times a random factor from 0.5 to 1, so that
 * agents which lost the connection together do not retry together. `random` is from 0 to 1.
 */
export const backOffDelay = (retry: number, { initial, max }: BackOff, random: number): number =>
  Math.min(max, initial * 2 ** Math.min(retry, 30)) * (0.5 + random / 2);

interface FailedTry {
  /** Tries before this one. */
  retry: number;
  /** Milliseconds that the service asked for, or null. */
  retryAfter: number | null;
  /** It was waiting at the service, and was cut together with all others. */
  isCut: boolean;
  backOff: BackOff;
  /** From 0 to 1. */
  random: number;
}

/** Milliseconds before the next try. Agents that failed at the same moment do not try again at the same moment. */
export const retryDelay = ({ retry, retryAfter, isCut, backOff, random }: FailedTry): number => {
  if (retryAfter !== null) return spreadRetry(retry, retryAfter, backOff.max, random);
  return isCut && retry === 0 ? comeBackDelay(random) : backOffDelay(retry, backOff, random);
};

/** How a socket ended, or why it could not be opened. */
export interface SocketEnd {
  opened: boolean;
  /** The service went away, and cut all sockets at once. */
  isCut: boolean;
  /** Of the answer that refused the socket, or null. */
  status: number | null;
  retryAfter: number | null;
}

/** Milliseconds before the next try when the service refuses a WebSocket. */
const REFUSED_WAIT = 5 * MINUTE_MS;

/** Milliseconds before the socket is opened again. `failures`: tries in a row that opened none. */
export const reopenDelay = (end: SocketEnd & { failures: number; backOff: BackOff; random: number }): number => {
  const { isCut, status, retryAfter, failures, backOff, random } = end;
  if (status !== null && status < 500) return REFUSED_WAIT;
  if (retryAfter !== null) return spreadRetry(failures, retryAfter, backOff.max, random);
  return isCut ? comeBackDelay(random) : backOffDelay(failures, backOff, random);
};

/** Milliseconds that a Retry-After header asks for, at most ten minutes; null when absent, malformed or in the past. */
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
