import type { Result } from "../../src/queue/commands/commands.ts";
import type { Push } from "../../src/queue/state/decision.ts";
import type { PoolState } from "../../src/queue/state/state.ts";
import type { AnyInput, CheckContext } from "./observations.ts";
import { STOP_AGAIN_MS } from "./specification.ts";
import { must } from "./violation.ts";

/** An agent with a socket gets the stop repeatedly, until the answer to its heartbeat contains it. */
export const checkStops = (
  { observed, call }: CheckContext,
  state: PoolState,
  answer: Result<AnyInput>,
  pushes: readonly Push[],
): void => {
  const { command, input, now } = call;
  for (const [id, { lease }] of state.jobs) {
    const seen = observed.jobs.get(id)!;
    if (!lease?.stop) {
      seen.toldToStop = null;
      continue;
    }
    const isTold = pushes.some(({ agentId, hint }) => hint.type === "cancel" && agentId === lease.agentId);
    if (isTold || !seen.toldToStop) seen.toldToStop = { at: isTold ? now : lease.stop.at, isAnswered: false };
    const isByHolder = input?.agentId === lease.agentId && answer.ok;
    if (command === "heartbeat" && isByHolder && answer.value.reason === lease.stop.reason)
      seen.toldToStop.isAnswered = true;
    if (seen.toldToStop.isAnswered || state.waiters.get(lease.agentId)?.until !== null) continue;
    const opensSocket = command === "wait" && isByHolder && input.until === null;
    must(10, isTold || !opensSocket, "an agent opened a socket and did not get the stop of its build");
    // If the clock went back and the object was evicted, the pool counts from the order itself.
    const isDue = now >= Math.max(seen.toldToStop.at, lease.stop.at) + STOP_AGAIN_MS;
    must(10, !isDue, "an agent that did not answer did not get the stop again");
  }
};
