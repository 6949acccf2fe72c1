import { HOP_HEADERS } from "../protocol/headers.ts";
import { BOOT_HEADER, type Job } from "../protocol/jobs.ts";
import type { Context } from "./core/context.ts";
import { handOut } from "./hand-out.ts";

/**
 * Opens a WebSocket to the pool that receives hints for the agent, until `deadline` (milliseconds since 1970) where
 * there is one. The pool checks the agent's token.
 */
export const connectToPool = ({ caller, headers, objects, orgId }: Context, agentId: string, deadline: number | null) =>
  objects.pool(orgId).fetch("https://pool/wait", {
    headers: {
      Upgrade: "websocket",
      [HOP_HEADERS.agentId]: agentId,
      [HOP_HEADERS.tokenHash]: caller.tokenHash,
      ...(headers.bootId === null ? {} : { [BOOT_HEADER]: headers.bootId }),
      ...(deadline === null ? {} : { [HOP_HEADERS.deadline]: String(deadline) }),
    },
  });

/** True at the first hint, or when either side closes its connection; false when the time is over. */
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
 * A long poll. It waits in the Worker, which is not billed for waiting, on a socket that lets the pool hibernate.
 * Returns null after `seconds` without a build.
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
  const { webSocket: socket } = await connectToPool(context, agentId, deadline);
  if (!socket) return null;
  socket.accept();
  const isHinted = await firstHint(socket, seconds * 1000, gone).finally(() => socket.close(1000));
  return isHinted && !gone.aborted ? handOut(context, agentId) : null;
};
