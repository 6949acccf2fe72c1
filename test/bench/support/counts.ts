/** Counts by called method or written table. */
export type Tally = Record<string, number>;

/** Everything that Cloudflare bills, as far as the bench can count it. */
export interface Counts {
  requests: number;
  /** Calls to objects' methods, sockets to them, and alarms. */
  objectCalls: Tally;
  /** Messages on sockets to objects. Cloudflare bills twenty as one call. */
  socketMessages: number;
  objectRowsRead: number;
  objectRowsWritten: Tally;
  d1Statements: number;
  d1Rounds: number;
  d1RowsRead: number;
  d1RowsWritten: Tally;
  /** R2 writes and lists, billed as class A. */
  archiveWrites: number;
  /** R2 reads, billed as class B. */
  archiveReads: number;
  archiveBytes: number;
  /** Lines that the service itself logs. */
  lines: number;
  /** Number of times that a pool was loaded into memory. Not billed. */
  wakes: number;
}

export const nothing = (): Counts => ({
  requests: 0,
  objectCalls: {},
  socketMessages: 0,
  objectRowsRead: 0,
  objectRowsWritten: {},
  d1Statements: 0,
  d1Rounds: 0,
  d1RowsRead: 0,
  d1RowsWritten: {},
  archiveWrites: 0,
  archiveReads: 0,
  archiveBytes: 0,
  lines: 0,
  wakes: 0,
});

const MESSAGES_A_CALL = 20;

export const totalOf = (tally: Tally): number => Object.values(tally).reduce((sum, count) => sum + count, 0);

/** Returns the calls to objects, as Cloudflare bills them. */
export const billedCalls = ({ objectCalls, socketMessages }: Counts): number =>
  totalOf(objectCalls) + socketMessages / MESSAGES_A_CALL;

/** Returns one line for the request, and one for each call to an object. */
export const invocationsOf = ({ requests, objectCalls, socketMessages }: Counts): number =>
  requests + totalOf(objectCalls) + socketMessages;

const combined = (one: Counts, other: Counts, combine: (one: number, other: number) => number): Counts => {
  const inTally = (left: Tally, right: Tally): Tally => {
    const names = [...new Set([...Object.keys(left), ...Object.keys(right)])].sort();
    const rows = names.map((name): [string, number] => [name, combine(left[name] ?? 0, right[name] ?? 0)]);
    return Object.fromEntries(rows.filter(([, count]) => count !== 0));
  };
  const kinds = Object.entries(one) as [keyof Counts, number | Tally][];
  return Object.fromEntries(
    kinds.map(([kind, value]) => [
      kind,
      typeof value === "number" ? combine(value, other[kind] as number) : inTally(value, other[kind] as Tally),
    ]),
  ) as unknown as Counts;
};

export const difference = (after: Counts, before: Counts): Counts =>
  combined(after, before, (one, other) => one - other);

export const sum = (one: Counts, other: Counts): Counts => combined(one, other, (left, right) => left + right);

export const times = (counts: Counts, factor: number): Counts => combined(counts, counts, (count) => count * factor);
