import type { MaskerPosition } from "../../mask/mask.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { KIB } from "../../protocol/units.ts";
import { convertTables } from "./earlier-tables.ts";
import {
  CLOSED,
  type Ended,
  LEASES,
  type LogSegment,
  leaseKey,
  pieceKey,
  piecesOf,
  type StoredLease,
  type StoredPiece,
} from "./values.ts";

/** Bytes of one value. Durable Objects allow 2 MB, but readers need less at once. */
const PIECE_SIZE = 256 * KIB;

const LIMIT_NOTICE = new TextEncoder().encode(
  `\n[This log has reached its limit of ${LIMITS.logBytes} bytes: the rest is not kept.]\n`,
);

/** When a piece of the log was stored. */
export interface PieceTime {
  /** The offset of the piece's first byte in the stored log. */
  offset: number;
  /** Milliseconds since 1970. */
  at: number;
}

/**
 * The log of one job on disk. Each lease has a segment, and a segment's bytes are in pieces. The store writes only when
 * a lease begins, writes or ends. Reading a log that does not exist therefore stores nothing.
 */
export class BuildLogStore {
  readonly #storage: DurableObjectStorage;
  readonly #kv: SyncKvStorage;
  /** The leases as on disk, the latest last; null before the first read. */
  #leases: StoredLease[] | null = null;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    this.#kv = storage.kv;
    convertTables(storage);
  }

  /**
   * Drops the copy in memory, which may be ahead of the disk after an error. The next read gets the data from the disk.
   */
  forget(): void {
    this.#leases = null;
  }

  /** Whether the disk has any data of this log. Even the fact that the log is closed counts. */
  get isLaid(): boolean {
    return this.segments().length > 0 || this.closedFence >= 0;
  }

  /** Returns the segments of all leases, the latest last. */
  segments(): LogSegment[] {
    return this.#read();
  }

  #read(): StoredLease[] {
    this.#leases ??= [...this.#kv.list<StoredLease>({ prefix: LEASES })].map(([, lease]) => this.#latest(lease));
    return this.#leases;
  }

  /** Returns the lease in the state of its last piece. */
  #latest(lease: StoredLease): StoredLease {
    const [last] = this.#pieces(lease.fence, { prefix: piecesOf(lease.fence), reverse: true, limit: 1 });
    if (!last) return lease;
    const { start, bytes, position } = last;
    return {
      ...lease,
      size: Math.max(lease.size, start + bytes.length),
      position: position && position.offset > lease.position.offset ? position : lease.position,
    };
  }

  *#pieces(fence: number, options: SyncKvListOptions): Iterable<StoredPiece & { start: number }> {
    for (const [key, piece] of this.#kv.list<StoredPiece>(options))
      yield { ...piece, start: Number(key.slice(piecesOf(fence).length)) };
  }

  current(): LogSegment | undefined {
    return this.#read().at(-1);
  }

  /** The highest fence for which the log was closed; -1 if the log was never closed. */
  get closedFence(): number {
    return Math.max(this.#kv.get<number>(CLOSED) ?? -1, ...this.#read().map(({ closed = -1 }) => closed));
  }

  /** Returns the state that followers and readers need in addition to the bytes. */
  state(): { segments: LogSegment[]; closedFence: number } {
    return { segments: this.segments(), closedFence: this.closedFence };
  }

  /** The log's destination after its last lease and its job have ended; otherwise null. */
  get ended(): Ended | null {
    return this.#read().at(-1)?.ended ?? null;
  }

  /** Stores the segment of a lease. */
  save(segment: LogSegment): void {
    const leases = this.#read();
    const known = leases.find(({ fence }) => fence === segment.fence);
    const lease: StoredLease = Object.assign(known ?? {}, segment);
    if (!known) leases.push(lease);
    leases.sort((one, other) => one.fence - other.fence);
    this.#kv.put(leaseKey(lease.fence), lease);
  }

  /**
   * Appends masked bytes to the segment, up to the whole log's limit, and updates the segment. Stores a masker's
   * position together with the bytes that belong to it.
   */
  write(segment: LogSegment, bytes: Uint8Array, position: MaskerPosition, at: number): void {
    const total = this.segments().reduce((sum, { size }) => sum + size, 0);
    const room = Math.max(0, LIMITS.logBytes - total);
    segment.position = position;
    this.#insert(segment, bytes.subarray(0, room), at);
    segment.isFull = bytes.length > room;
    if (segment.isFull) this.#insert(segment, LIMIT_NOTICE, at);
    if (segment.isFull || bytes.length === 0) this.save(segment);
  }

  #insert(segment: LogSegment, bytes: Uint8Array, at: number): void {
    for (let from = 0; from < bytes.length; from += PIECE_SIZE) {
      const part = bytes.slice(from, from + PIECE_SIZE);
      const isLast = from + part.length === bytes.length;
      const piece: StoredPiece = { bytes: part, at, ...(isLast && { position: segment.position }) };
      this.#kv.put(pieceKey(segment.fence, segment.size), piece);
      segment.size += part.length;
    }
  }

  /** Returns when the log stored each piece of a segment, in order. */
  times(fence: number): PieceTime[] {
    return [...this.#pieces(fence, { prefix: piecesOf(fence) })].map(({ start, at }) => ({ offset: start, at }));
  }

  /** Reads the stored bytes from `start` to before `end`, or fewer if the segment is shorter. */
  read(fence: number, start: number, end: number): Uint8Array<ArrayBuffer> {
    if (start >= end) return new Uint8Array();
    // The piece that contains `start` begins there or earlier.
    const before = { start: pieceKey(fence, 0), end: pieceKey(fence, start + 1), reverse: true, limit: 1 };
    const [first] = this.#pieces(fence, before);
    const range = { start: pieceKey(fence, first?.start ?? start), end: pieceKey(fence, end) };
    const parts = [...this.#pieces(fence, range)].map((piece) =>
      piece.bytes.subarray(Math.max(0, start - piece.start), Math.max(0, end - piece.start)),
    );
    const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
    parts.reduce((at, part) => {
      whole.set(part, at);
      return at + part.length;
    }, 0);
    return whole;
  }

  /**
   * Closes the log for leases up to this fence, and deletes their secrets. `ended` is set if the job ended with its
   * last lease.
   */
  close(fence: number, ended: Ended | null = null): void {
    const last = this.#read().at(-1);
    this.forgetSecretsBefore(Math.min(fence + 1, last?.fence ?? 0));
    if (!last) {
      this.#kv.put(CLOSED, fence);
      return;
    }
    const sealed = last.fence <= fence ? null : last.sealed;
    const closed = Math.max(fence, this.closedFence);
    this.save({ ...last, sealed, closed, ...(ended && { ended }) } as StoredLease);
  }

  /** Deletes the secrets of earlier leases, which cannot write any more. */
  forgetSecretsBefore(fence: number): void {
    for (const lease of this.#read())
      if (lease.fence < fence && lease.sealed !== null) this.save({ ...lease, sealed: null });
  }

  /** Deletes everything from the disk. */
  async deleteAll(): Promise<void> {
    this.forget();
    await this.#storage.deleteAlarm();
    await this.#storage.deleteAll();
  }
}
