import type { Job } from "../protocol/jobs.ts";
import type { Context } from "./core/context.ts";
import { handOut } from "./hand-out.ts";

/** Whether there is reason to look, at the first hint or once the socket breaks; not at the time limit. */
const firstHint = (socket: WebSocket, milliseconds: number, gone: AbortSignal): Promise<boolean> =>
  new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), milliseconds);
    const wake = () => {
      clearTimeout(timer);
      resolve(true);
    };
    socket.addEventListener("message", wake);
    socket.addEventListener("close", wake);
    socket.addEventListener("error", wake);
    gone.addEventListener("abort", wake);
  });

/**
 * A long poll: waits here, in a Worker that costs nothing while it does, on a socket the pool can sleep behind.
 * Gives `null` after `seconds` without a build.
 */
export const waitForJob = async (
  context: Context,
  agentId: string,
  seconds: number,
  gone: AbortSignal,
): Promise<Job | null> => {
  const job = await handOut(context, agentId);
  if (job || seconds === 0 || gone.aborted) return job;
  const deadline = context.now.getTime() + seconds * 1000;
  const { webSocket: socket } = await context.connectToPool(agentId, deadline);
  if (!socket) return null;
  socket.accept();
  const isHinted = await firstHint(socket, seconds * 1000, gone).finally(() => socket.close(1000));
  return isHinted && !gone.aborted ? handOut(context, agentId) : null;
};
