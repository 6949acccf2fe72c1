import type { MaskerPosition } from "../domain/mask/mask.ts";
import { LIMITS } from "../protocol/limits.ts";

/** Bytes of one row: a row may have 2 MB, and a reader wants less at once. */
const ROW = 256 * 1024;

const FULL = new TextEncoder().encode(
  `\n[This log has reached its limit of ${LIMITS.logBytes} bytes: the rest is not kept.]\n`,
);

/** One lease's part of the log. */
export interface Segment {
  fence: number;
  tokenHash: string;
  attempt: number;
  /** What the masker seeks, sealed; null once the log is closed. */
  sealed: string | null;
  /** Where a masker goes on: `offset` counts the bytes this lease sent. */
  position: MaskerPosition;
  /** Bytes stored. */
  size: number;
  isFull: boolean;
  /** Bytes sent up to here have had a secret that only this service masked. */
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

/** The log of one build on disk: a segment for each lease, and its bytes in rows. Nothing here waits. */
export class BuildLogStore {
  readonly #storage: DurableObjectStorage;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    this.#lay();
  }

  #lay(): void {
    this.#storage.sql.exec(`
      CREATE TABLE IF NOT EXISTS segment (
        fence INTEGER PRIMARY KEY, token_hash TEXT NOT NULL, attempt INTEGER NOT NULL, sealed TEXT,
        offset INTEGER NOT NULL, covered INTEGER NOT NULL, run INTEGER NOT NULL,
        size INTEGER NOT NULL, is_full INTEGER NOT NULL, leaked_to INTEGER NOT NULL);
      CREATE TABLE IF NOT EXISTS chunk (
        fence INTEGER NOT NULL, start INTEGER NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (fence, start)) WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS closed (fence INTEGER NOT NULL);`);
  }

  /** Every lease's segment, the latest last. */
  segments(): Segment[] {
    return this.#storage.sql.exec<Row>("SELECT * FROM segment ORDER BY fence").toArray().map(segmentOf);
  }

  current(): Segment | undefined {
    return this.#storage.sql.exec<Row>("SELECT * FROM segment ORDER BY fence DESC LIMIT 1").toArray().map(segmentOf)[0];
  }

  /** The highest fence that the log was closed for; -1 while it never was. */
  get closedFor(): number {
    return this.#storage.sql.exec<{ fence: number | null }>("SELECT max(fence) AS fence FROM closed").one().fence ?? -1;
  }

  /** All that followers and readers ask of it, bytes apart. */
  state(): { segments: Segment[]; closedFor: number } {
    return { segments: this.segments(), closedFor: this.closedFor };
  }

  save(segment: Segment): void {
    const { fence, tokenHash, attempt, sealed, position, size, isFull, leakedTo } = segment;
    this.#storage.sql.exec(
      "INSERT OR REPLACE INTO segment VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      ...[fence, tokenHash, attempt, sealed, position.offset, position.covered, position.run],
      ...[size, isFull ? 1 : 0, leakedTo],
    );
  }

  /** Stores masked bytes at the segment's end, up to the build's limit, and moves its size. */
  write(segment: Segment, bytes: Uint8Array): void {
    const total = this.#storage.sql.exec<{ size: number }>("SELECT sum(size) AS size FROM segment").one().size;
    const room = Math.max(0, LIMITS.logBytes - total);
    this.#insert(segment, bytes.subarray(0, room));
    if (bytes.length <= room) return;
    segment.isFull = true;
    this.#insert(segment, FULL);
  }

  #insert(segment: Segment, bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += ROW) {
      const row = bytes.slice(at, at + ROW);
      this.#storage.sql.exec("INSERT INTO chunk VALUES (?, ?, ?)", segment.fence, segment.size, row.buffer);
      segment.size += row.length;
    }
  }

  /** Stored bytes from `start` to `end`, at most. */
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

  /** No lease up to this fence writes any more, and what their maskers sought is forgotten. */
  close(fence: number): void {
    this.#storage.sql.exec(
      "INSERT INTO closed SELECT ?1 WHERE ?1 > (SELECT coalesce(max(fence), -1) FROM closed)",
      fence,
    );
    this.forgetBefore(fence + 1);
  }

  /** Forgets what the maskers of earlier leases sought: none of them writes any more. */
  forgetBefore(fence: number): void {
    this.#storage.sql.exec("UPDATE segment SET sealed = NULL WHERE fence < ? AND sealed IS NOT NULL", fence);
  }

  async purge(): Promise<void> {
    await this.#storage.deleteAll();
    this.#lay();
  }
}
