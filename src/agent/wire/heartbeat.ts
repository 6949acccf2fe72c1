import type { HeartbeatMessage } from "../../protocol/jobs.ts";
import { SECOND_MS } from "../../protocol/units.ts";
import type { CancelReason } from "../build/failure.ts";
import { HeartbeatAnswer, type SocketReply } from "./answers.ts";
import type { AutoResetEvent } from "./auto-reset-event.ts";
import type { BackOff } from "./back-off.ts";
import type { ApiClient } from "./client.ts";

/** Milliseconds that an answer may take, of however long an interval. */
const MAX_WAIT = 5 * SECOND_MS;

/** The part of a WebSocket that heartbeats need. */
interface Line {
  send(text: string): void;
}

/**
 * Heartbeats on the agent's WebSocket, with their answers. A beat without an answer in time makes the socket `silent`:
 * beats are still sent there, but nobody waits for the answer, until one arrives or another socket opens.
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

  /** `isRefused`: the service accepts no heartbeats here, as one of an older release. */
  closed({ isRefused }: { isRefused: boolean }): void {
    this.#line = null;
    this.#isRefused ||= isRefused;
    this.#waiting?.end(null);
  }

  received(reply: SocketReply): void {
    this.#isSilent = false;
    if (this.#waiting?.lease === reply.lease) this.#waiting.end(reply);
  }

  /** A new job says again that heartbeats are accepted. */
  allow(): this {
    this.#isRefused = false;
    return this;
  }

  /** Sends one heartbeat. @returns the answer; null where it has to be sent by HTTP */
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

/** A lease lasts a few heartbeats: after a lost connection several retries must fit before it expires. */
const heartbeatBackOff = (heartbeatSeconds: number): BackOff => ({
  initial: heartbeatSeconds * 50,
  max: (heartbeatSeconds * SECOND_MS) / 3,
});

interface KeepLeaseOptions {
  client: ApiClient;
  agentId: string;
  lease: number;
  heartbeatSeconds: number;
  /** Where heartbeats go first; null where the job does not allow it. */
  socket: HeartbeatSocket | null;
  /** Set when the next heartbeat must not wait. */
  cancelHint: AutoResetEvent;
  onCancel: (reason: CancelReason) => void;
  signal: AbortSignal;
}

/**
 * Sends heartbeats, which renew the lease of the active build, until the signal is aborted: over the socket, and by HTTP
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

/** A call that ends with the lease is no error. */
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

/** A cancel with an unknown reason still cancels. */
const knownReason = (reason: CancelReason | "other" = "other"): CancelReason =>
  reason === "other" ? "canceled" : reason;
