import type { MaskerPosition } from "../../mask/mask.ts";

/*
 * A lease writes one value when it begins and one when it ends. It also writes one value for each chunk: a piece says
 * where the masker continues. If a lease and its last piece differ, the value with the higher offset is the later one.
 * Values have keys instead of tables, because each log would pay for its tables: two rows instead of one.
 */
export const LEASES = "lease/";
export const CLOSED = "closed";

/** Digits of a number in a key. With a fixed width, keys sort in the order of their numbers. */
const DIGITS = 16;
const padded = (value: number): string => String(value).padStart(DIGITS, "0");
export const leaseKey = (fence: number): string => LEASES + padded(fence);
export const piecesOf = (fence: number): string => `piece/${padded(fence)}/`;
export const pieceKey = (fence: number, start: number): string => piecesOf(fence) + padded(start);

/** The part of the log that one lease wrote. */
export interface LogSegment {
  fence: number;
  tokenHash: string;
  attempt: number;
  /** The secrets to mask, sealed; null once the log is closed. */
  sealed: string | null;
  /** The place where a masker continues. `offset` counts the bytes that this lease sent. */
  position: MaskerPosition;
  /** The number of stored bytes. */
  size: number;
  isFull: boolean;
  /** Bytes that the lease sent before this offset had a secret that only this service masked. */
  leakedTo: number;
}

/** The destination of an ended log: the day (UTC) on which its job ended, and the log's owner. */
export interface Ended {
  day: string;
  orgId: string;
  jobId: string;
}

/** The stored facts of a lease. */
export interface StoredLease extends LogSegment {
  /** The log's destination. The job's end sets it on the job's last lease. */
  ended?: Ended;
  /** The highest fence for which the log was closed while this lease was the last. */
  closed?: number;
}

export interface StoredPiece {
  bytes: Uint8Array<ArrayBuffer>;
  at: number;
  /** The masker's position. Only the last piece of a chunk has it. */
  position?: MaskerPosition;
}
