import type { Counts } from "./counts.ts";

/** Cloudflare's list prices, in dollars, beyond what the paid plan includes. */
const MILLION = 1e6;
const PRICES = {
  request: 0.3 / MILLION,
  cpuMs: 0.02 / MILLION,
  objectRequest: 0.15 / MILLION,
  gigabyteSecond: 12.5 / MILLION,
  rowRead: 0.001 / MILLION,
  rowWritten: 1 / MILLION,
};

/** Assumptions, because they cannot be counted: CPU of a request, and how long an object is awake for a call. */
const CPU_MS = 3;
const AWAKE_MS = 5;
/** Cloudflare bills 128 MB for each awake object. */
const OBJECT_GIGABYTES = 0.128;

export const HOURS_A_MONTH = 730;

export const objectAwake = (seconds: number): number => seconds * OBJECT_GIGABYTES * PRICES.gigabyteSecond;

/** Dollars for the counts. */
export const dollarsFor = (counts: Counts): number =>
  counts.requests * (PRICES.request + CPU_MS * PRICES.cpuMs) +
  counts.objectRequests * PRICES.objectRequest +
  objectAwake((counts.objectRequests * AWAKE_MS) / 1000) +
  (counts.objectRowsRead + counts.d1RowsRead) * PRICES.rowRead +
  (counts.objectRowsWritten + counts.d1RowsWritten) * PRICES.rowWritten;
