import { logger } from "../cli/logger.ts";
import { JobAnswer } from "./answers.ts";
import { AutoResetEvent } from "./auto-reset-event.ts";
import { type Client, describeAnswer, TokenRefused } from "./client.ts";
import type { HintSocket } from "./hint-socket.ts";

/** Milliseconds before asking again after an answer that makes no sense. */
const AFTER_NONSENSE = 10_000;
/** Milliseconds without a hint after which it looks all the same: a hint is lost only where something broke. */
const UNHINTED = 10 * 60_000;

export interface NextJobOptions {
  client: Client;
  agentId: string;
  hintSocket: HintSocket;
  pollSeconds: number;
  signal: AbortSignal;
}

/**
 * Waits for work: with the hints' socket open it looks when told to; without it, the service holds the question open
 * for `pollSeconds`. After trouble a heartbeat says that it is back, should it have ignored what it was offered.
 * @throws Refused, or the signal's reason.
 */
export const nextJob = async ({
  client,
  agentId,
  hintSocket,
  pollSeconds,
  signal,
}: NextJobOptions): Promise<JobAnswer> => {
  for (;;) {
    signal.throwIfAborted();
    const wait = hintSocket.isOpen ? 0 : Math.min(60, pollSeconds);
    const answer = await client.send({
      method: "GET",
      path: `/buildagent/${agentId}/poll?wait=${wait}`,
      signal,
      timeout: (wait + 20) * 1000,
    });
    if (answer.status === 403 || answer.status === 404) throw new TokenRefused(client.url);
    const job = answer.status === 200 ? JobAnswer.safeParse(answer.body) : null;
    if (job?.success) return job.data;
    if (answer.status !== 204) {
      logger.error(
        `the service's answer to a poll is not understood (${describeAnswer(answer)}): is this agent too old?`,
      );
      await new AutoResetEvent().wait(AFTER_NONSENSE, signal);
    } else if (answer.failures > 0) {
      await client.send({ method: "POST", path: `/buildagent/${agentId}/heartbeat`, signal });
    } else if (hintSocket.isOpen) await hintSocket.lookHint.wait(UNHINTED, signal);
  }
};
