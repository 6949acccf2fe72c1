import { closeSync, openSync, readSync, writeSync } from "node:fs";
import { LogAccepted } from "../../protocol/jobs.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { KIB, MIB, MINUTE_MS, SECOND_MS } from "../../protocol/units.ts";
import { logger } from "../cli/logger.ts";
import { LogGapAnswer } from "../wire/answers.ts";
import type { Audience } from "../wire/audience.ts";
import { AutoResetEvent, sleep } from "../wire/auto-reset-event.ts";
import { type BackOff, backOffDelay } from "../wire/back-off.ts";
import { type ApiClient, describeAnswer } from "../wire/client.ts";

/** The limit is larger than the service's own, so that the service sees the log exceed it and marks the cut. */
const BUFFER_LIMIT = LIMITS.logBytes + 64 * KIB;

/** Bytes kept in memory when the disk is full, so that the log can still explain the build's end. */
const MEMORY_LIMIT = MIB;

/** Milliseconds that an agent line waits for step output, so that one call carries both. */
const PATIENCE = 200;

/** One build's masked log in a file. The agent can read it from any offset until the service has stored it. */
export class LogBuffer {
  /** Set when there is more to send, or the log is closed. */
  readonly grown = new AutoResetEvent();
  readonly #fd: number;
  readonly #limit: number;
  /** Bytes in the file. Later bytes are in memory. */
  #onDisk = 0;
  #inMemory: Buffer | null = null;
  #closed = false;
  /** Bytes that are due now. Later bytes may wait. */
  #due = 0;
  #patience: NodeJS.Timeout | null = null;

  constructor(path: string, limit = BUFFER_LIMIT) {
    this.#fd = openSync(path, "wx+", 0o600);
    this.#limit = limit;
  }

  get size(): number {
    return this.#onDisk + (this.#inMemory?.length ?? 0);
  }

  get due(): number {
    return this.#due;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /**
   * Appends bytes and drops those above the limit. The agent sends bytes with `mayWait` together with later ones, or
   * after PATIENCE.
   * @throws the system's error, once, when the disk accepts no more
   */
  write(bytes: Uint8Array, mayWait = false): void {
    try {
      this.#append(bytes);
    } finally {
      if (mayWait) this.#patience ??= setTimeout(() => this.#send(), PATIENCE);
      else this.#send();
    }
  }

  #send(): void {
    if (this.#patience) clearTimeout(this.#patience);
    this.#patience = null;
    this.#due = this.size;
    this.grown.set();
  }

  #append(bytes: Uint8Array): void {
    const accepted = this.#closed ? bytes.subarray(0, 0) : bytes.subarray(0, Math.max(0, this.#limit - this.size));
    if (this.#inMemory !== null) {
      this.#appendInMemory(accepted);
      return;
    }
    const start = this.#onDisk;
    try {
      while (this.#onDisk - start < accepted.length)
        this.#onDisk += writeSync(this.#fd, accepted, this.#onDisk - start, undefined, this.#onDisk);
    } catch (error) {
      this.#appendInMemory(accepted.subarray(this.#onDisk - start));
      throw error;
    }
  }

  /** Returns at most `length` bytes, starting at `offset`. */
  read(offset: number, length: number): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(Math.max(0, Math.min(length, this.size - offset)));
    const fromFile = Math.min(bytes.length, Math.max(0, this.#onDisk - offset));
    let done = 0;
    while (done < fromFile) {
      const count = readSync(this.#fd, bytes, done, fromFile - done, offset + done);
      if (count === 0) return bytes.subarray(0, done);
      done += count;
    }
    this.#inMemory?.copy(bytes, done, offset + done - this.#onDisk);
    return bytes;
  }

  #appendInMemory(bytes: Uint8Array): void {
    const buffered = this.#inMemory ?? Buffer.alloc(0);
    this.#inMemory = Buffer.concat([buffered, bytes.subarray(0, MEMORY_LIMIT - buffered.length)]);
  }

  /** Ends the log and drops later writes. */
  close(): void {
    this.#closed = true;
    this.#send();
  }

  /** Closes the file. Nothing may be read afterwards. */
  dispose(): void {
    this.close();
    closeSync(this.#fd);
  }
}

/** Milliseconds between two chunks of a slow log. Without the pause, each line would cost a request. */
const PACE = 1000;
/** The longest pause while nobody follows the build. It also applies between two reports of ordinary changes. */
export const QUIET_PACE = 30 * SECOND_MS;
/** Chunks sent without a pause at the start and after a silence, so that people see these lines at once. */
const BURST = 5;
/** With this many bytes waiting, the sender skips the pause. */
const URGENT_BYTES = 256 * KIB;
const STALLED: BackOff = { initial: 200, max: 5000 };

interface SendLogOptions {
  client: ApiClient;
  jobId: string;
  lease: number;
  buffer: LogBuffer;
  /** Resolves when the service has everything that must precede the next bytes, such as masks. */
  readyToSend: () => Promise<void>;
  audience: Audience;
  signal: AbortSignal;
  pace?: number;
  quietPace?: number;
}

/**
 * Returns the milliseconds until the next chunk while nobody follows the log. The first chunk has no step output, so no
 * pause follows it. Later pauses grow eightfold each time, up to `longest`.
 */
export const quietPauseAfter = (chunks: number, longest = QUIET_PACE, first = PACE): number =>
  chunks < 2 ? 0 : Math.min(longest, first * 8 ** (chunks - 2));

/**
 * Sends the growing log, always from the offset up to which the service has stored it. Ends when the buffer is closed
 * and fully stored, or when the service accepts no more bytes under this lease.
 */
export const sendLog = async (options: SendLogOptions): Promise<void> => {
  const { buffer, audience, readyToSend, signal, pace = PACE, quietPace = QUIET_PACE } = options;
  const spend = paceLimiter(pace);
  let next = 0;
  let chunks = 0;
  let sentOffset = 0;
  let stalls = 0;
  for (;;) {
    while (!buffer.closed && buffer.due <= Math.max(sentOffset, next)) {
      signal.throwIfAborted();
      await buffer.grown.wait(null, signal);
    }
    if (buffer.closed && next >= buffer.size) return;
    await readyToSend();
    const bytes = buffer.read(next, LIMITS.logChunkBytes);
    const end = next + bytes.length;
    const isFinal = buffer.closed && end === buffer.size;
    const storedOffset = await sendChunk(options, bytes, next, isFinal);
    chunks += 1;
    if (storedOffset === null) return;
    stalls = storedOffset === next ? stalls + 1 : 0;
    next = Math.min(storedOffset, buffer.size);
    sentOffset = end;
    const hasMore = next < end && (isFinal || bytes.length === LIMITS.logChunkBytes);
    if (stalls > 0 && hasMore) await sleep(backOffDelay(stalls - 1, STALLED, Math.random()), signal);
    const isQuiet = !audience.isThere;
    const wait = Math.max(spend(), isQuiet ? quietPauseAfter(chunks, quietPace, pace) : 0);
    if (wait === 0 || buffer.closed || buffer.size - sentOffset >= URGENT_BYTES) continue;
    if (isQuiet) await quietPause(options, wait);
    else await pause(buffer, wait, signal);
  }
};

/** Pauses until the time is over or somebody starts to follow the log. */
const quietPause = async ({ buffer, audience, signal }: SendLogOptions, milliseconds: number): Promise<void> => {
  const arrival = new AbortController();
  const forget = audience.onArrival(() => arrival.abort());
  await pause(buffer, milliseconds, AbortSignal.any([signal, arrival.signal]));
  forget();
};

/**
 * Creates a token bucket that holds BURST chunks and gains one chunk every `pace` milliseconds. Each call takes one
 * chunk's token.
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

/**
 * Sends one chunk. @returns the offset up to which the service has stored the log; null when the service accepts no
 * more bytes
 */
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
    timeout: MINUTE_MS,
  });
  const storedOffset = readStoredOffset(answer);
  if (answer.status === 200) audience.note(LogAccepted.safeParse(answer.body).data?.followed);
  if (storedOffset === null) logger.warn(`the service no longer accepts this build's log: ${describeAnswer(answer)}`);
  return storedOffset;
};

const readStoredOffset = ({ status, body }: { status: number; body: unknown }): number | null => {
  if (status === 200) return LogAccepted.safeParse(body).data?.next ?? null;
  return status === 409 ? (LogGapAnswer.safeParse(body).data?.expectedOffset ?? null) : null;
};

/** Pauses until the time is over. Ends early at the log's end, or when URGENT_BYTES are waiting. */
const pause = async (buffer: LogBuffer, milliseconds: number, signal: AbortSignal): Promise<void> => {
  const from = buffer.size;
  const limit = AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(milliseconds))]);
  while (!limit.aborted && !buffer.closed && buffer.size - from < URGENT_BYTES) await buffer.grown.wait(null, limit);
  buffer.grown.set();
};
