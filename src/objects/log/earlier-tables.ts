import { CLOSED, type LogSegment, leaseKey, pieceKey, type StoredLease, type StoredPiece } from "./values.ts";

/*
 * The tables of releases 0.10.0 to 0.15.0. `lease` has a row for each lease, and `piece` has a row for each piece of a
 * lease.
 */

interface EarlierLease extends Record<string, SqlStorageValue> {
  fence: number;
  token_hash: string;
  attempt: number;
  sealed: string | null;
  offset: number;
  covered: number;
  run: number;
  size: number;
  is_full: number;
  leaked_to: number;
  ended: string | null;
}

interface EarlierPiece extends Record<string, SqlStorageValue> {
  fence: number;
  start: number;
  bytes: ArrayBuffer;
  at: number;
  offset: number | null;
  covered: number | null;
  run: number | null;
}

const toLease = (row: EarlierLease): StoredLease => {
  const { token_hash: tokenHash, attempt, sealed, offset, covered, run, size, ended, fence } = row;
  const segment: LogSegment = {
    fence,
    tokenHash,
    attempt,
    sealed,
    position: { offset, covered, run },
    size,
    isFull: row.is_full === 1,
    leakedTo: row.leaked_to,
  };
  return { ...segment, ...(ended && { ended: JSON.parse(ended) }) };
};

const toPiece = ({ bytes, at, offset, covered, run }: EarlierPiece): StoredPiece => ({
  bytes: new Uint8Array(bytes),
  at,
  ...(offset !== null && { position: { offset, covered: covered ?? 0, run: run ?? 0 } }),
});

/** Converts an earlier release's tables to values. */
export const convertTables = (storage: DurableObjectStorage): void => {
  const { sql, kv } = storage;
  const [table] = sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'lease'").toArray();
  if (!table) return;
  storage.transactionSync(() => {
    for (const row of sql.exec<EarlierLease>("SELECT * FROM lease")) kv.put(leaseKey(row.fence), toLease(row));
    for (const row of sql.exec<EarlierPiece>("SELECT * FROM piece"))
      kv.put(pieceKey(row.fence, row.start), toPiece(row));
    const [closed] = sql.exec<{ fence: number | null }>("SELECT max(fence) AS fence FROM closed").toArray();
    if (closed?.fence != null) kv.put(CLOSED, closed.fence);
    for (const name of ["lease", "piece", "closed"]) sql.exec(`DROP TABLE ${name}`);
  });
};
