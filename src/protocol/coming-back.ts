/*
 * COMING BACK. A deploy cuts every socket and every long poll of a service at the same moment. What waited there comes
 * back at a random time within half a minute, so that the service does not meet all of it in one second.
 */

import { SECOND_MS } from "./units.ts";

/** Close codes of a service that goes away: at a deploy, without a word, or for its restart. */
const AWAY_CODES = [1001, 1006, 1012];
const FIRST_MS = SECOND_MS;
const SPREAD_MS = 30 * SECOND_MS;
/** After so many repeats the spread of a wait grows no more. */
const MOST_REPEATS = 5;

export const isAway = (closeCode: number): boolean => AWAY_CODES.includes(closeCode);

/** Milliseconds before what waited comes back. `random` is from 0 to 1. */
export const comeBackDelay = (random: number): number => FIRST_MS + random * SPREAD_MS;

/**
 * Milliseconds before retry number `retry` (from 0) of a call that the service asked to repeat after `retryAfter`
 * milliseconds: that long, and up to as long again. With each retry, up to twice as much more, but no more than `most`.
 */
export const spreadRetry = (retry: number, retryAfter: number, most: number, random: number): number =>
  retryAfter + random * Math.max(retryAfter, Math.min(most, retryAfter * 2 ** Math.min(retry, MOST_REPEATS)));
