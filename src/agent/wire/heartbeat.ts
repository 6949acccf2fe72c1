import type { CancelReason } from "../build/failure.ts";
import { HeartbeatAnswer } from "./answers.ts";
import type { AutoResetEvent } from "./auto-reset-event.ts";
import type { BackOff } from "./back-off.ts";
import type { ApiClient } from "./client.ts";
import type { HeartbeatSocket } from "./heartbeat-socket.ts";

/** A lease lasts a few heartbeats: after a lost connection several retries must fit before it expires. */
const retriesOf = (heartbeatSeconds: number): BackOff => ({
  initial: heartbeatSeconds * 50,
  max: (heartbeatSeconds * 1000) / 3,
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
    await cancelHint.wait(heartbeatSeconds * 1000, signal);
    if (signal.aborted) return;
    const heartbeat = (await socket?.heartbeat(lease, heartbeatSeconds)) ?? (await byHttp(options));
    if (signal.aborted) return;
    if (heartbeat.cancel) onCancel(reasonOf(heartbeat.reason));
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
    timeout: 10_000,
    backOff: retriesOf(heartbeatSeconds),
  });
  if (answer.status === 409) return { cancel: true, reason: "lease-lost" };
  const heartbeat = HeartbeatAnswer.safeParse(answer.body).data;
  return answer.status === 200 && heartbeat ? heartbeat : { cancel: false };
};

/** A cancel with an unknown reason still cancels. */
const reasonOf = (reason: CancelReason | "other" = "other"): CancelReason => (reason === "other" ? "canceled" : reason);
