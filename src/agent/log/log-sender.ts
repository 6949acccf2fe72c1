import { LogAccepted } from "../../protocol/jobs.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { logger } from "../cli/logger.ts";
import { LogGapAnswer } from "../wire/answers.ts";
import type { Audience } from "../wire/audience.ts";
import { sleep } from "../wire/auto-reset-event.ts";
import { type BackOff, backOffDelay } from "../wire/back-off.ts";
import { type ApiClient, describeAnswer } from "../wire/client.ts";
import type { LogBuffer } from "./log-buffer.ts";

/** Milliseconds between two chunks of a slow log: otherwise each line would cost a request. */
const PACE = 1000;
/** The same at most, and between two reports of an ordinary change, while nobody follows the build. */
export const QUIET_PACE = 30_000;
/** Chunks that are sent without a pause at first and after a silence, so that people see these lines at once. */
const BURST = 5;
/** Bytes that are sent without waiting for the pace. */
const URGENT_BYTES = 256 * 1024;
const STALLED: BackOff = { initial: 200, max: 5000 };

interface SendLogOptions {
  client: ApiClient;
  jobId: string;
  lease: number;
  buffer: LogBuffer;
  /** Resolves when the service has all that must arrive before the next bytes, masks for example. */
  readyToSend: () => Promise<void>;
  audience: Audience;
  signal: AbortSignal;
  pace?: number;
  quietPace?: number;
}

/**
 * Milliseconds until the next chunk while nobody follows the log: none after the first one, which has no line of a step,
 * then twice as long each time.
 */
export const quietPauseAfter = (chunks: number, longest = QUIET_PACE, first = PACE): number =>
  chunks < 2 ? 0 : Math.min(longest, first * 2 ** (chunks - 2));

/**
 * Sends the log while it grows, always from the offset up to which the service has stored it. Ends when the buffer is
 * closed and all of it is stored, or when the service accepts no more under this lease.
 */
export const sendLog = async (options: SendLogOptions): Promise<void> => {
  const { buffer, audience, readyToSend, signal, pace = PACE, quietPace = QUIET_PACE } = options;
  const spend = paceLimiter(pace);
  let next = 0;
  let chunks = 0;
  let sent = 0;
  let stalls = 0;
  for (;;) {
    while (!buffer.closed && buffer.size <= Math.max(sent, next)) {
      signal.throwIfAborted();
      await buffer.grown.wait(null, signal);
    }
    if (buffer.closed && next >= buffer.size) return;
    await readyToSend();
    const bytes = buffer.read(next, LIMITS.logChunkBytes);
    const end = next + bytes.length;
    const isFinal = buffer.closed && end === buffer.size;
    const stored = await sendChunk(options, bytes, next, isFinal);
    chunks += 1;
    if (stored === null) return;
    stalls = stored === next ? stalls + 1 : 0;
    next = Math.min(stored, buffer.size);
    sent = end;
    const hasMore = next < end && (isFinal || bytes.length === LIMITS.logChunkBytes);
    if (stalls > 0 && hasMore) await sleep(backOffDelay(stalls - 1, STALLED, Math.random()), signal);
    const isQuiet = !audience.isThere;
    const wait = Math.max(spend(), isQuiet ? quietPauseAfter(chunks, quietPace, pace) : 0);
    if (wait === 0 || buffer.closed || buffer.size - sent >= URGENT_BYTES) continue;
    if (isQuiet) await quietPause(options, wait);
    else await pause(buffer, wait, signal);
  }
};

/** A pause that ends, too, when somebody begins to follow the log. */
const quietPause = async ({ buffer, audience, signal }: SendLogOptions, milliseconds: number): Promise<void> => {
  const arrival = new AbortController();
  const forget = audience.onArrival(() => arrival.abort());
  await pause(buffer, milliseconds, AbortSignal.any([signal, arrival.signal]));
  forget();
};

/**
 * A token bucket of BURST chunks that gains one every `pace` milliseconds. Each call takes the token of a chunk.
 * @returns milliseconds to wait before the next chunk
 */
const paceLimiter = (pace: number): (() => number) => {
  let tokens = BURST;
  let updatedAt = performance.now();
  return () => {
    const now = performance.now();
    tokens = Math.min(BURST, tokens + (now - updatedAt) / pace) - 1;
    updatedAt = now;
    return Math.max(0, -tokens * pace);
  };
};

/** @returns the offset up to which the service has stored the log; null when it accepts no more. */
const sendChunk = async (
  { client, jobId, lease, audience, signal }: SendLogOptions,
  bytes: Uint8Array,
  offset: number,
  isFinal: boolean,
): Promise<number | null> => {
  const answer = await client.send({
    method: "PUT",
    path: `/build/${jobId}/log?offset=${offset}${isFinal ? "&final=true" : ""}`,
    bytes,
    lease,
    signal,
    timeout: 60_000,
  });
  const stored = storedOf(answer);
  if (answer.status === 200) audience.note(LogAccepted.safeParse(answer.body).data?.followed);
  if (stored === null) logger.warn(`the service accepts no more of this build's log: ${describeAnswer(answer)}`);
  return stored;
};

const storedOf = ({ status, body }: { status: number; body: unknown }): number | null => {
  if (status === 200) return LogAccepted.safeParse(body).data?.next ?? null;
  return status === 409 ? (LogGapAnswer.safeParse(body).data?.expectedOffset ?? null) : null;
};

/** Ends early at the end of the log, or when URGENT_BYTES are waiting. */
const pause = async (buffer: LogBuffer, milliseconds: number, signal: AbortSignal): Promise<void> => {
  const from = buffer.size;
  const limit = AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(milliseconds))]);
  while (!limit.aborted && !buffer.closed && buffer.size - from < URGENT_BYTES) await buffer.grown.wait(null, limit);
  buffer.grown.set();
};
