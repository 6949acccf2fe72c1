/** Rows by their table. */
export type Tables = Record<string, number>;

/** What Cloudflare bills, as far as it can be counted. */
export interface Counts {
  requests: number;
  /** Calls of objects' methods, sockets to them, and alarms. */
  objectCalls: number;
  /** Messages on sockets to objects. Twenty are billed as one call. */
  socketMessages: number;
  objectRowsRead: number;
  objectRowsWritten: Tables;
  d1Statements: number;
  d1Rounds: number;
  d1RowsRead: number;
  d1RowsWritten: Tables;
  /** Writes and lists of R2, which it calls class A. */
  archiveWrites: number;
  /** Reads of R2, which it calls class B. */
  archiveReads: number;
  archiveBytes: number;
  /** Lines that the service itself logs. */
  lines: number;
  /** How often a pool was loaded into memory. Not billed. */
  wakes: number;
}

export const nothing = (): Counts => ({
  requests: 0,
  objectCalls: 0,
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

/** Calls of objects, as they are billed. */
export const billedCalls = ({ objectCalls, socketMessages }: Counts): number =>
  objectCalls + socketMessages / MESSAGES_A_CALL;

export const rowsOf = (tables: Tables): number => Object.values(tables).reduce((sum, rows) => sum + rows, 0);

/** A line for the request, and one for each call of an object. */
export const invocationsOf = ({ requests, objectCalls, socketMessages }: Counts): number =>
  requests + objectCalls + socketMessages;

const combined = (one: Counts, other: Counts, combine: (one: number, other: number) => number): Counts => {
  const inTables = (left: Tables, right: Tables): Tables => {
    const names = [...new Set([...Object.keys(left), ...Object.keys(right)])].sort();
    const rows = names.map((name): [string, number] => [name, combine(left[name] ?? 0, right[name] ?? 0)]);
    return Object.fromEntries(rows.filter(([, count]) => count !== 0));
  };
  const kinds = Object.entries(one) as [keyof Counts, number | Tables][];
  return Object.fromEntries(
    kinds.map(([kind, value]) => [
      kind,
      typeof value === "number" ? combine(value, other[kind] as number) : inTables(value, other[kind] as Tables),
    ]),
  ) as unknown as Counts;
};

export const difference = (after: Counts, before: Counts): Counts =>
  combined(after, before, (one, other) => one - other);

export const sum = (one: Counts, other: Counts): Counts => combined(one, other, (left, right) => left + right);

export const times = (counts: Counts, factor: number): Counts => combined(counts, counts, (count) => count * factor);
