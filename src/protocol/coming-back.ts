/*
 * RECONNECTING. A deploy cuts every socket and every long poll of a service at the same moment. Each client reconnects
 * at a random time within half a minute, so that the service does not meet all of them in one second.
 */

import { SECOND_MS } from "./units.ts";

/** Close codes of a service that stops: for a deploy, without a close frame, or for its restart. */
const AWAY_CODES = [1001, 1006, 1012];
const FIRST_MS = SECOND_MS;
const SPREAD_MS = 30 * SECOND_MS;
/** After this number of repeats, the range of waits stops growing. */
const MOST_REPEATS = 5;

export const isAway = (closeCode: number): boolean => AWAY_CODES.includes(closeCode);

/** Returns the milliseconds before a client reconnects. `random` is from 0 to 1. */
export const comeBackDelay = (random: number): number => FIRST_MS + random * SPREAD_MS;

/**
 * Returns the milliseconds before retry number `retry` (from 0), when the service requested a retry after `retryAfter`
 * milliseconds. The result is at least `retryAfter` and at most twice as long. The additional part may double with each
 * retry, up to `most`.
 */
export const spreadRetry = (retry: number, retryAfter: number, most: number, random: number): number =>
  retryAfter + random * Math.max(retryAfter, Math.min(most, retryAfter * 2 ** Math.min(retry, MOST_REPEATS)));
