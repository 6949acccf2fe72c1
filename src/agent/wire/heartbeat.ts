import type { CancelReason } from "../failure.ts";
import { HeartbeatAnswer } from "./answers.ts";
import type { AutoResetEvent } from "./auto-reset-event.ts";
import type { BackOff } from "./back-off.ts";
import type { Client } from "./client.ts";

/** A lease is a few heartbeats long: after a cut the next try must come well before its end. */
const eager = (everySeconds: number): BackOff => ({ initial: everySeconds * 50, max: (everySeconds * 1000) / 3 });

export interface KeepLeaseOptions {
  client: Client;
  agentId: string;
  lease: number;
  heartbeatSeconds: number;
  /** Rung when there is reason to ask at once. */
  cancelHint: AutoResetEvent;
  onCancel: (reason: CancelReason) => void;
  signal: AbortSignal;
}

/** Keeps the lease of the build under way, and hears whether it is to be stopped. Ends with the signal. */
export const keepLease = async ({
  client,
  agentId,
  lease,
  heartbeatSeconds,
  cancelHint,
  onCancel,
  signal,
}: KeepLeaseOptions) => {
  while (!signal.aborted) {
    await cancelHint.wait(heartbeatSeconds * 1000, signal);
    if (signal.aborted) return;
    const answer = await client.send({
      method: "POST",
      path: `/buildagent/${agentId}/heartbeat`,
      lease,
      signal,
      timeout: 10_000,
      backOff: eager(heartbeatSeconds),
    });
    const heartbeat = HeartbeatAnswer.safeParse(answer.body).data;
    if (answer.status === 409) onCancel("lease-lost");
    else if (answer.status === 200 && heartbeat?.cancel) onCancel(reasonOf(heartbeat.reason));
  }
};

/** Whatever the reason: to stop is to stop. */
const reasonOf = (reason: CancelReason | "other" = "other"): CancelReason => (reason === "other" ? "canceled" : reason);
