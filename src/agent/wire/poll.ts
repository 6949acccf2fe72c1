import { logger } from "../cli/logger.ts";
import { JobAnswer } from "./answers.ts";
import { sleep } from "./auto-reset-event.ts";
import { type ApiClient, describeAnswer, TokenRefused } from "./client.ts";
import type { HintSocket } from "./hint-socket.ts";

/** Milliseconds before the next poll after an answer that the agent cannot read. */
const UNREADABLE_WAIT = 10_000;
/** Milliseconds before the next poll when no hint arrives. Hints are rarely lost. */
const NO_HINT_WAIT = 10 * 60_000;

interface NextJobOptions {
  client: ApiClient;
  agentId: string;
  hintSocket: HintSocket;
  pollSeconds: number;
  signal: AbortSignal;
}

/**
 * Waits for a job. While the hint socket is open, polls once for each hint; without it, long-polls for `pollSeconds`.
 * A heartbeat after failed polls tells the service that this agent takes jobs again.
 * @throws TokenRefused, or the signal's reason.
 */
export const nextJob = async (options: NextJobOptions): Promise<JobAnswer> => {
  const { client, agentId, hintSocket, pollSeconds, signal } = options;
  for (;;) {
    signal.throwIfAborted();
    const wait = hintSocket.isOpen ? 0 : Math.min(60, pollSeconds);
    const answer = await client.send({
      method: "GET",
      path: `/buildagent/${agentId}/poll?wait=${wait}`,
      signal,
      timeout: (wait + 20) * 1000,
      isLongPoll: wait > 0,
    });
    if (answer.status === 403 || answer.status === 404) throw new TokenRefused(client.url);
    const job = answer.status === 200 ? JobAnswer.safeParse(answer.body) : null;
    if (job?.success) return job.data;
    if (answer.status !== 204) {
      logger.error(`cannot read the service's answer to a poll (${describeAnswer(answer)}): is this agent too old?`);
      await sleep(UNREADABLE_WAIT, signal);
    } else if (answer.failures > 0) {
      await client.send({ method: "POST", path: `/buildagent/${agentId}/heartbeat`, signal });
    } else if (hintSocket.isOpen) {
      await hintSocket.lookHint.wait(NO_HINT_WAIT, signal);
    }
  }
};
