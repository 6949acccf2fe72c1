import type { HeartbeatMessage } from "../../protocol/jobs.ts";
import { SECOND_MS } from "../../protocol/units.ts";
import type { CancelReason } from "../build/failure.ts";
import { HeartbeatAnswer, type SocketReply } from "./answers.ts";
import type { AutoResetEvent } from "./auto-reset-event.ts";
import type { BackOff } from "./back-off.ts";
import type { ApiClient } from "./client.ts";

/** Maximum milliseconds for an answer, however long the interval is. */
const MAX_WAIT = 5 * SECOND_MS;

/** The part of a WebSocket that heartbeats need. */
interface Line {
  send(text: string): void;
}

/**
 * Heartbeats on the agent's WebSocket, with their answers. A missing answer makes the socket silent. The agent then
 * still sends heartbeats there but does not wait for answers, until an answer arrives or another socket opens.
 */
export class HeartbeatSocket {
  readonly #boot: string | undefined;
  #line: Line | null = null;
  #isSilent = false;
  #isRefused = false;
  #waiting: { lease: number; end: (reply: SocketReply | null) => void } | null = null;

  constructor(boot: string | undefined) {
    this.#boot = boot;
  }

  opened(line: Line): void {
    this.#line = line;
    this.#isSilent = false;
  }

  /** `isRefused` says that the service accepts no heartbeats here, as in an older release. */
  closed({ isRefused }: { isRefused: boolean }): void {
    this.#line = null;
    this.#isRefused ||= isRefused;
    this.#waiting?.end(null);
  }

  received(reply: SocketReply): void {
    this.#isSilent = false;
    if (this.#waiting?.lease === reply.lease) this.#waiting.end(reply);
  }

  /** Allows heartbeats again, because a new job confirms that the service accepts them. */
  allow(): this {
    this.#isRefused = false;
    return this;
  }

  /** Sends one heartbeat. @returns the answer; null if the heartbeat must use HTTP */
  async heartbeat(lease: number, heartbeatSeconds: number): Promise<HeartbeatAnswer | null> {
    if (!this.#line || this.#isRefused) return null;
    const message: HeartbeatMessage = { type: "heartbeat", lease, boot: this.#boot };
    const answered = this.#isSilent ? null : this.#answer(lease, Math.min(MAX_WAIT, heartbeatSeconds * 500));
    this.#line.send(JSON.stringify(message));
    return (await answered) ?? null;
  }

  #answer(lease: number, milliseconds: number): Promise<SocketReply | null> {
    return new Promise((resolve) => {
      const end = (reply: SocketReply | null): void => {
        clearTimeout(timer);
        this.#waiting = null;
        resolve(reply);
      };
      const timer = setTimeout(() => {
        this.#isSilent = true;
        end(null);
      }, milliseconds);
      this.#waiting = { lease, end };
    });
  }
}

/**
 * Returns the backoff. A lease lasts a few heartbeats, and several retries must fit after a lost connection before it
 * expires.
 */
const heartbeatBackOff = (heartbeatSeconds: number): BackOff => ({
  initial: heartbeatSeconds * 50,
  max: (heartbeatSeconds * SECOND_MS) / 3,
});

interface KeepLeaseOptions {
  client: ApiClient;
  agentId: string;
  lease: number;
  heartbeatSeconds: number;
  /** The first channel to try for heartbeats; null if the job does not allow it. */
  socket: HeartbeatSocket | null;
  /** Set when the next heartbeat must not wait. */
  cancelHint: AutoResetEvent;
  onCancel: (reason: CancelReason) => void;
  signal: AbortSignal;
}

/**
 * Sends heartbeats, which renew the active build's lease, until the signal is aborted. Uses the socket, and HTTP
 * whenever the socket gives no answer. Reports a cancel.
 */
export const keepLease = async (options: KeepLeaseOptions): Promise<void> => {
  const { lease, heartbeatSeconds, socket, cancelHint, onCancel, signal } = options;
  while (!signal.aborted) {
    await cancelHint.wait(heartbeatSeconds * SECOND_MS, signal);
    if (signal.aborted) return;
    const heartbeat = (await socket?.heartbeat(lease, heartbeatSeconds)) ?? (await byHttp(options));
    if (signal.aborted) return;
    if (heartbeat.cancel) onCancel(knownReason(heartbeat.reason));
  }
};

/** Sends a heartbeat by HTTP. A call that ends with the lease is not an error. */
const byHttp = (options: KeepLeaseOptions): Promise<HeartbeatAnswer> =>
  sendByHttp(options).catch((error: unknown) => {
    if (options.signal.aborted) return { cancel: false };
    throw error;
  });

const sendByHttp = async (options: KeepLeaseOptions): Promise<HeartbeatAnswer> => {
  const { client, agentId, lease, heartbeatSeconds, signal } = options;
  const answer = await client.send({
    method: "POST",
    path: `/buildagent/${agentId}/heartbeat`,
    lease,
    signal,
    timeout: 10 * SECOND_MS,
    backOff: heartbeatBackOff(heartbeatSeconds),
  });
  if (answer.status === 409) return { cancel: true, reason: "lease-lost" };
  const heartbeat = HeartbeatAnswer.safeParse(answer.body).data;
  return answer.status === 200 && heartbeat ? heartbeat : { cancel: false };
};

/** Returns a reason for the cancel, because a cancel with an unknown reason still counts. */
const knownReason = (reason: CancelReason | "other" = "other"): CancelReason =>
  reason === "other" ? "canceled" : reason;
