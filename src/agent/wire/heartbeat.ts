import type { CancelReason } from "../failure.ts";
import { HeartbeatAnswer } from "./answers.ts";
import type { AutoResetEvent } from "./auto-reset-event.ts";
import type { BackOff } from "./back-off.ts";
import type { Client } from "./client.ts";

/** A lease lasts a few heartbeats: after a lost connection several retries must fit before it expires. */
const retriesOf = (heartbeatSeconds: number): BackOff => ({
  initial: heartbeatSeconds * 50,
  max: (heartbeatSeconds * 1000) / 3,
});

export interface KeepLeaseOptions {
  client: Client;
  agentId: string;
  lease: number;
  heartbeatSeconds: number;
  /** Set when the next heartbeat must not wait. */
  cancelHint: AutoResetEvent;
  onCancel: (reason: CancelReason) => void;
  signal: AbortSignal;
}

/** Sends heartbeats, which renew the lease of the active build, until the signal is aborted. Reports a cancel. */
export const keepLease = async (options: KeepLeaseOptions): Promise<void> => {
  const { client, agentId, lease, heartbeatSeconds, cancelHint, onCancel, signal } = options;
  while (!signal.aborted) {
    await cancelHint.wait(heartbeatSeconds * 1000, signal);
    if (signal.aborted) return;
    const answer = await client.send({
      method: "POST",
      path: `/buildagent/${agentId}/heartbeat`,
      lease,
      signal,
      timeout: 10_000,
      backOff: retriesOf(heartbeatSeconds),
    });
    const heartbeat = HeartbeatAnswer.safeParse(answer.body).data;
    if (answer.status === 409) onCancel("lease-lost");
    else if (answer.status === 200 && heartbeat?.cancel) onCancel(reasonOf(heartbeat.reason));
  }
};

/** A cancel with an unknown reason still cancels. */
const reasonOf = (reason: CancelReason | "other" = "other"): CancelReason => (reason === "other" ? "canceled" : reason);
