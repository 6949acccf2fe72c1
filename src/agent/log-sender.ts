import { LogAccepted } from "../protocol/jobs.ts";
import { LIMITS } from "../protocol/limits.ts";
import { announce } from "./announce.ts";
import { LogGapAnswer } from "./answers.ts";
import { type BackOff, delayOf } from "./back-off.ts";
import { Bell } from "./bell.ts";
import { type Client, wordOf } from "./client.ts";
import type { LogSpool } from "./log-spool.ts";

/** Milliseconds between two chunks while little is written, so that a chatty step does not cost a request a line. */
const PACE = 1000;
/** Chunks that may go without a pause after a silence, so that what a person waits for is there at once. */
const BURST = 5;
/** Bytes that are worth a chunk at once. */
const PLENTY = 256 * 1024;
const STALLED: BackOff = { first: 200, longest: 5000 };

export interface LogRoute {
  client: Client;
  buildId: string;
  lease: number;
  spool: LogSpool;
  /** Ends when everything is known to the service that must be known before more bytes arrive. */
  beforeBytes: () => Promise<void>;
  signal: AbortSignal;
  pace?: number;
}

/**
 * Sends the log as it grows, always from where the service says that it has stored everything; ends once the spool is
 * closed and all of it is stored, or when the service will take no more of it under this lease.
 */
export const sendLog = async ({ client, buildId, lease, spool, beforeBytes, signal, pace = PACE }: LogRoute) => {
  const never = new Bell();
  let next = 0;
  let sent = 0;
  let stalls = 0;
  let credit = BURST;
  let paidAt = performance.now();
  for (;;) {
    while (!spool.closed && spool.size <= Math.max(sent, next)) {
      signal.throwIfAborted();
      await spool.grown.wait(null, signal);
    }
    if (spool.closed && next >= spool.size) return;
    await beforeBytes();
    const bytes = spool.read(next, LIMITS.logChunkBytes);
    const end = next + bytes.length;
    const isFinal = spool.closed && end === spool.size;
    const answer = await client.send({
      method: "PUT",
      path: `/build/${buildId}/log?offset=${next}${isFinal ? "&final=true" : ""}`,
      bytes,
      lease,
      signal,
      timeout: 60_000,
    });
    const stored = storedOf(answer);
    if (stored === null) {
      announce.warn(`the service takes no more of this build's log: ${wordOf(answer)}`);
      return;
    }
    stalls = stored === next ? stalls + 1 : 0;
    next = Math.min(stored, spool.size);
    sent = end;
    const hasMore = next < end && (isFinal || bytes.length === LIMITS.logChunkBytes);
    if (stalls > 0 && hasMore) await never.wait(delayOf(stalls - 1, STALLED, Math.random()), signal);
    const now = performance.now();
    credit = Math.min(BURST, credit + (now - paidAt) / pace) - 1;
    paidAt = now;
    if (credit < 0 && !spool.closed && spool.size - sent < PLENTY) await pause(spool, -credit * pace, signal);
  }
};

/** Where the service has stored everything up to; null when it refuses. */
const storedOf = ({ status, body }: { status: number; body: unknown }): number | null => {
  if (status === 200) return LogAccepted.safeParse(body).data?.next ?? null;
  return status === 409 ? (LogGapAnswer.safeParse(body).data?.expectedOffset ?? null) : null;
};

/** The pace, cut short by the end of the log or by plenty of it. */
const pause = async (spool: LogSpool, milliseconds: number, signal: AbortSignal): Promise<void> => {
  const from = spool.size;
  const limit = AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(milliseconds))]);
  while (!limit.aborted && !spool.closed && spool.size - from < PLENTY) await spool.grown.wait(null, limit);
  spool.grown.ring();
};
