import type { MaskerPosition } from "../domain/mask/mask.ts";
import { LIMITS } from "../protocol/limits.ts";

/** Bytes of one row. SQLite in Durable Objects allows 2 MB; readers need less at once. */
const ROW_SIZE = 256 * 1024;

const LIMIT_NOTICE = new TextEncoder().encode(
  `\n[This log has reached its limit of ${LIMITS.logBytes} bytes: the rest is not kept.]\n`,
);

/** The part of the log that one lease wrote. */
export interface Segment {
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

const segmentOf = ({ token_hash, offset, covered, run, is_full, leaked_to, ...row }: Row): Segment => ({
  ...row,
  tokenHash: token_hash,
  position: { offset, covered, run },
  isFull: is_full === 1,
  leakedTo: leaked_to,
});

/** The log of one build on disk: a segment for each lease, and its bytes in rows. Only `deleteAll` is asynchronous. */
export class BuildLogStore {
  readonly #storage: DurableObjectStorage;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    this.#createTables();
  }

  #createTables(): void {
    this.#storage.sql.exec(`
      CREATE TABLE IF NOT EXISTS segment (
        fence INTEGER PRIMARY KEY, token_hash TEXT NOT NULL, attempt INTEGER NOT NULL, sealed TEXT,
        offset INTEGER NOT NULL, covered INTEGER NOT NULL, run INTEGER NOT NULL,
        size INTEGER NOT NULL, is_full INTEGER NOT NULL, leaked_to INTEGER NOT NULL);
      CREATE TABLE IF NOT EXISTS chunk (
        fence INTEGER NOT NULL, start INTEGER NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (fence, start)) WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS closed (fence INTEGER NOT NULL);`);
  }

  /** The segments of all leases, the latest last. */
  segments(): Segment[] {
    return this.#storage.sql.exec<Row>("SELECT * FROM segment ORDER BY fence").toArray().map(segmentOf);
  }

  current(): Segment | undefined {
    return this.#storage.sql.exec<Row>("SELECT * FROM segment ORDER BY fence DESC LIMIT 1").toArray().map(segmentOf)[0];
  }

  /** The highest fence for which the log was closed; -1 where it never was. */
  get closedFence(): number {
    return this.#storage.sql.exec<{ fence: number | null }>("SELECT max(fence) AS fence FROM closed").one().fence ?? -1;
  }

  /** What followers and readers need besides the bytes. */
  state(): { segments: Segment[]; closedFence: number } {
    return { segments: this.segments(), closedFence: this.closedFence };
  }

  save(segment: Segment): void {
    const { fence, tokenHash, attempt, sealed, position, size, isFull, leakedTo } = segment;
    this.#storage.sql.exec(
      "INSERT OR REPLACE INTO segment VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      ...[fence, tokenHash, attempt, sealed, position.offset, position.covered, position.run],
      ...[size, isFull ? 1 : 0, leakedTo],
    );
  }

  /** Appends masked bytes to the segment, up to the limit of the whole log, and updates the segment's size. */
  write(segment: Segment, bytes: Uint8Array): void {
    const total = this.#storage.sql.exec<{ size: number }>("SELECT sum(size) AS size FROM segment").one().size;
    const room = Math.max(0, LIMITS.logBytes - total);
    this.#insert(segment, bytes.subarray(0, room));
    if (bytes.length <= room) return;
    segment.isFull = true;
    this.#insert(segment, LIMIT_NOTICE);
  }

  #insert(segment: Segment, bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += ROW_SIZE) {
      const row = bytes.slice(at, at + ROW_SIZE);
      this.#storage.sql.exec("INSERT INTO chunk VALUES (?, ?, ?)", segment.fence, segment.size, row.buffer);
      segment.size += row.length;
    }
  }

  /** The stored bytes from `start` to before `end`, or fewer where the segment is shorter. */
  read(fence: number, start: number, end: number): Uint8Array<ArrayBuffer> {
    const rows = this.#storage.sql.exec<{ start: number; bytes: ArrayBuffer }>(
      `SELECT start, bytes FROM chunk WHERE fence = ?1 AND start < ?3 AND start >=
         (SELECT coalesce(max(start), 0) FROM chunk WHERE fence = ?1 AND start <= ?2) ORDER BY start`,
      ...[fence, start, end],
    );
    const parts = [...rows].map((row) =>
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
    this.#storage.sql.exec(
      "INSERT INTO closed SELECT ?1 WHERE ?1 > (SELECT coalesce(max(fence), -1) FROM closed)",
      fence,
    );
    this.forgetSecretsBefore(fence + 1);
  }

  /** Deletes the secrets of earlier leases, which may not write any more. */
  forgetSecretsBefore(fence: number): void {
    this.#storage.sql.exec("UPDATE segment SET sealed = NULL WHERE fence < ? AND sealed IS NOT NULL", fence);
  }

  async deleteAll(): Promise<void> {
    await this.#storage.deleteAll();
    this.#createTables();
  }
}
