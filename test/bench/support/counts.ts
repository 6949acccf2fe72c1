/** What Cloudflare bills, as far as it can be counted. */
export interface Counts {
  requests: number;
  /** Calls of objects' methods, sockets to them, and alarms. */
  objectRequests: number;
  objectRowsRead: number;
  objectRowsWritten: number;
  d1Statements: number;
  d1Rounds: number;
  d1RowsRead: number;
  d1RowsWritten: number;
  /** How often a pool was loaded into memory. Not billed. */
  wakes: number;
}

export const NOTHING: Counts = {
  requests: 0,
  objectRequests: 0,
  objectRowsRead: 0,
  objectRowsWritten: 0,
  d1Statements: 0,
  d1Rounds: 0,
  d1RowsRead: 0,
  d1RowsWritten: 0,
  wakes: 0,
};

const KINDS = Object.keys(NOTHING) as (keyof Counts)[];

const combined = (value: (kind: keyof Counts) => number): Counts =>
  Object.fromEntries(KINDS.map((kind) => [kind, value(kind)])) as unknown as Counts;

export const difference = (after: Counts, before: Counts): Counts => combined((kind) => after[kind] - before[kind]);

export const times = (counts: Counts, factor: number): Counts => combined((kind) => counts[kind] * factor);
