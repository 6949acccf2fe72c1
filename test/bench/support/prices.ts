import { billedCalls, type Counts, invocationsOf, totalOf } from "./counts.ts";

/** Cloudflare's list prices, in dollars, beyond the paid plan's included amounts. */
const MILLION = 1e6;
const PRICES = {
  request: 0.3 / MILLION,
  cpuMs: 0.02 / MILLION,
  objectCall: 0.15 / MILLION,
  gigabyteSecond: 12.5 / MILLION,
  rowRead: 0.001 / MILLION,
  rowWritten: 1 / MILLION,
  archiveWrite: 4.5 / MILLION,
  archiveRead: 0.36 / MILLION,
  logEvent: 0.6 / MILLION,
};
/** For each gigabyte and month. */
const STORED = { d1: 0.75, objects: 0.2, archive: 0.015 };

/** Assumptions that the bench cannot count: a request's CPU, and how long an object is awake for a call. */
const CPU_MS = 3;
const AWAKE_MS = 5;
/** Cloudflare bills 128 MB for each awake object. */
const OBJECT_GIGABYTES = 0.128;

export const HOURS_A_MONTH = 730;
const DAYS_A_MONTH = HOURS_A_MONTH / 24;

export const objectAwake = (seconds: number): number => seconds * OBJECT_GIGABYTES * PRICES.gigabyteSecond;

/** Returns dollars by billed item. */
export const bill = (counts: Counts, hasInvocationLogs: boolean): Record<string, number> => {
  const calls = totalOf(counts.objectCalls) + counts.socketMessages;
  const events = counts.lines + (hasInvocationLogs ? invocationsOf(counts) : 0);
  return {
    "requests and CPU": counts.requests * (PRICES.request + CPU_MS * PRICES.cpuMs),
    "calls of objects": billedCalls(counts) * PRICES.objectCall + objectAwake((calls * AWAKE_MS) / 1000),
    "rows read": (counts.objectRowsRead + counts.d1RowsRead) * PRICES.rowRead,
    "rows written in objects": totalOf(counts.objectRowsWritten) * PRICES.rowWritten,
    "rows written in D1": totalOf(counts.d1RowsWritten) * PRICES.rowWritten,
    "R2, writes and reads": counts.archiveWrites * PRICES.archiveWrite + counts.archiveReads * PRICES.archiveRead,
    "the platform's logs": events * PRICES.logEvent,
  };
};

/** Returns the dollars for keeping so many bytes for `days`. */
export const dollarsStored = (bytes: number, days: number, where: keyof typeof STORED): number =>
  (bytes / 1e9) * (days / DAYS_A_MONTH) * STORED[where];

export const total = (items: Record<string, number>): number =>
  Object.values(items).reduce((sum, item) => sum + item, 0);
