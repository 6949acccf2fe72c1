import type { MaskerPosition } from "../../mask/mask.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { KIB } from "../../protocol/units.ts";

/*
 * A lease writes one row of `lease` when it begins and ends, and one of `piece` for each chunk: the piece says where
 * the masker continues. Of the row and its last piece, the one with the higher offset is the later.
 */
const LOG_TABLES = `
CREATE TABLE IF NOT EXISTS lease (
  fence INTEGER PRIMARY KEY, token_hash TEXT NOT NULL, attempt INTEGER NOT NULL, sealed TEXT,
  offset INTEGER NOT NULL, covered INTEGER NOT NULL, run INTEGER NOT NULL,
  size INTEGER NOT NULL, is_full INTEGER NOT NULL, leaked_to INTEGER NOT NULL, ended TEXT);
CREATE TABLE IF NOT EXISTS piece (
  fence INTEGER NOT NULL, start INTEGER NOT NULL, bytes BLOB NOT NULL,
  at INTEGER, offset INTEGER, covered INTEGER, run INTEGER, PRIMARY KEY (fence, start)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS closed (fence INTEGER NOT NULL);
`;

/** The segment of each lease. It is no view: a view would cost each log two rows. */
const SEGMENTS = `(
  SELECT l.fence, l.token_hash, l.attempt, l.sealed,
    iif(p.offset > l.offset, p.offset, l.offset) AS offset,
    iif(p.offset > l.offset, p.covered, l.covered) AS covered,
    iif(p.offset > l.offset, p.run, l.run) AS run,
    max(l.size, coalesce(p.start + length(p.bytes), 0)) AS size, l.is_full, l.leaked_to
  FROM lease l LEFT JOIN piece p
    ON p.fence = l.fence AND p.start = (SELECT max(start) FROM piece WHERE fence = l.fence))`;

/** Bytes of one row. SQLite in Durable Objects allows 2 MB; readers need less at once. */
const ROW_SIZE = 256 * KIB;

const LIMIT_NOTICE = new TextEncoder().encode(
  `\n[This log has reached its limit of ${LIMITS.logBytes} bytes: the rest is not kept.]\n`,
);

/** The part of the log that one lease wrote. */
export interface LogSegment {
  fence: number;
  tokenHash: string;
  attempt: number;
  /** The secrets to mask, sealed; null once the log is closed. */
  sealed: string | null;
  /** Where a masker continues. `offset` counts the bytes that this lease sent. */
  position: MaskerPosition;
  /** Bytes stored. */
  size: number;
  isFull: boolean;
  /** Bytes sent before this offset had a secret that only this service masked. */
  leakedTo: number;
}

interface Row extends Record<string, SqlStorageValue> {
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
}

const toSegment = ({ token_hash, offset, covered, run, is_full, leaked_to, ...row }: Row): LogSegment => ({
  ...row,
  tokenHash: token_hash,
  position: { offset, covered, run },
  isFull: is_full === 1,
  leakedTo: leaked_to,
});

/** Where an ended log goes: the day (UTC) on which its job ended, and whose it is. */
export interface Ended {
  day: string;
  orgId: string;
  jobId: string;
}

/** When a piece of the log was stored. */
export interface PieceTime {
  /** The stored byte at which the piece begins. */
  offset: number;
  /** Milliseconds since 1970. */
  at: number;
}

/**
 * The log of one job on disk: a segment for each lease, and its bytes in rows. Only a lease, or the end of one, makes
 * the tables: a log that is only asked for stores nothing.
 */
export class BuildLogStore {
  readonly #storage: DurableObjectStorage;
  #isLaid: boolean;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    const [lease] = storage.sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'lease'").toArray();
    this.#isLaid = lease !== undefined;
  }

  #lay(): void {
    if (!this.#isLaid) this.#storage.transactionSync(() => this.#storage.sql.exec(LOG_TABLES));
    this.#isLaid = true;
  }

  /** Whether anything was stored, be it only that the log is closed. */
  get isLaid(): boolean {
    return this.#isLaid;
  }

  #rows<T extends Record<string, SqlStorageValue>>(query: string, ...bindings: SqlStorageValue[]): T[] {
    return this.#isLaid ? this.#storage.sql.exec<T>(query, ...bindings).toArray() : [];
  }

  /** The segments of all leases, the latest last. */
  segments(): LogSegment[] {
    return this.#rows<Row>(`SELECT * FROM ${SEGMENTS} ORDER BY fence`).map(toSegment);
  }

  current(): LogSegment | undefined {
    return this.#rows<Row>(`SELECT * FROM ${SEGMENTS} ORDER BY fence DESC LIMIT 1`).map(toSegment)[0];
  }

  /** The highest fence for which the log was closed; -1 where it never was. */
  get closedFence(): number {
    return this.#rows<{ fence: number | null }>("SELECT max(fence) AS fence FROM closed")[0]?.fence ?? -1;
  }

  /** What followers and readers need besides the bytes. */
  state(): { segments: LogSegment[]; closedFence: number } {
    return { segments: this.segments(), closedFence: this.closedFence };
  }

  /** Where the log goes, after its last lease and its job have ended; else null. */
  get ended(): Ended | null {
    const [last] = this.#rows<{ ended: string | null }>("SELECT ended FROM lease ORDER BY fence DESC LIMIT 1");
    return last?.ended ? JSON.parse(last.ended) : null;
  }

  /** Remembers the end of the job with its last lease, and closes it up to this fence. @returns whether that is news */
  end(ended: Ended, fence: number): boolean {
    if (!this.current() || this.ended) return false;
    this.#storage.sql.exec(
      `UPDATE lease SET ended = ?, sealed = iif(fence <= ?, NULL, sealed) WHERE fence = (SELECT max(fence) FROM lease)`,
      JSON.stringify(ended),
      fence,
    );
    return true;
  }

  save(segment: LogSegment): void {
    this.#lay();
    const { fence, tokenHash, attempt, sealed, position, size, isFull, leakedTo } = segment;
    this.#storage.sql.exec(
      "INSERT OR REPLACE INTO lease VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)",
      fence,
      tokenHash,
      attempt,
      sealed,
      position.offset,
      position.covered,
      position.run,
      size,
      isFull ? 1 : 0,
      leakedTo,
    );
  }

  /**
   * Appends masked bytes to the segment, up to the limit of the whole log, and updates the segment. A position that
   * comes with bytes is kept in their row.
   */
  write(segment: LogSegment, bytes: Uint8Array, position: MaskerPosition, at: number): void {
    const total = this.#storage.sql.exec<{ size: number }>(`SELECT sum(size) AS size FROM ${SEGMENTS}`).one().size;
    const room = Math.max(0, LIMITS.logBytes - total);
    segment.position = position;
    this.#insert(segment, bytes.subarray(0, room), at);
    segment.isFull = bytes.length > room;
    if (segment.isFull) this.#insert(segment, LIMIT_NOTICE, at);
    if (segment.isFull || bytes.length === 0) this.save(segment);
  }

  #insert(segment: LogSegment, bytes: Uint8Array, at: number): void {
    const { offset, covered, run } = segment.position;
    for (let from = 0; from < bytes.length; from += ROW_SIZE) {
      const row = bytes.slice(from, from + ROW_SIZE);
      const position = from + row.length === bytes.length ? [offset, covered, run] : [null, null, null];
      this.#storage.sql.exec(
        "INSERT INTO piece VALUES (?, ?, ?, ?, ?, ?, ?)",
        segment.fence,
        segment.size,
        row.buffer,
        at,
        ...position,
      );
      segment.size += row.length;
    }
  }

  /** When each piece of a segment was stored, in order. */
  times(fence: number): PieceTime[] {
    return this.#rows<{ offset: number; at: number }>(
      "SELECT start AS offset, at FROM piece WHERE fence = ? ORDER BY start",
      fence,
    );
  }

  /** The stored bytes from `start` to before `end`, or fewer where the segment is shorter. */
  read(fence: number, start: number, end: number): Uint8Array<ArrayBuffer> {
    const rows = this.#rows<{ start: number; bytes: ArrayBuffer }>(
      `SELECT start, bytes FROM piece WHERE fence = ?1 AND start < ?3 AND start >=
         (SELECT coalesce(max(start), 0) FROM piece WHERE fence = ?1 AND start <= ?2) ORDER BY start`,
      fence,
      start,
      end,
    );
    const parts = rows.map((row) =>
      new Uint8Array(row.bytes).subarray(Math.max(0, start - row.start), Math.max(0, end - row.start)),
    );
    const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
    parts.reduce((at, part) => {
      whole.set(part, at);
      return at + part.length;
    }, 0);
    return whole;
  }

  /** Closes the log for leases up to this fence, and deletes their secrets. */
  close(fence: number): void {
    this.#lay();
    this.#storage.sql.exec(
      "INSERT INTO closed SELECT ?1 WHERE ?1 > (SELECT coalesce(max(fence), -1) FROM closed)",
      fence,
    );
    this.forgetSecretsBefore(fence + 1);
  }

  /** Deletes the secrets of earlier leases, which may not write any more. */
  forgetSecretsBefore(fence: number): void {
    this.#storage.sql.exec("UPDATE lease SET sealed = NULL WHERE fence < ? AND sealed IS NOT NULL", fence);
  }

  /** Leaves nothing on the disk. */
  async deleteAll(): Promise<void> {
    this.#isLaid = false;
    await this.#storage.deleteAlarm();
    await this.#storage.deleteAll();
  }
}
