import { comeBackDelay, isAway } from "../../protocol/coming-back.ts";
import { HOP_HEADERS } from "../../protocol/headers.ts";
import { BOOT_HEADER, FEATURES_HEADER, type Job } from "../../protocol/jobs.ts";
import { SECOND_MS } from "../../protocol/units.ts";
import { XCODES_HEADER } from "../../protocol/xcodes.ts";
import type { Context } from "../core/context.ts";
import { handOut } from "./hand-out.ts";

/**
 * Opens a WebSocket to the pool that receives hints for the agent. The WebSocket ends at `deadline` (milliseconds
 * since 1970), if the caller gives one. The pool checks the agent's token.
 */
export const connectToPool = ({ caller, headers, objects, orgId }: Context, agentId: string, deadline: number | null) =>
  objects.pool(orgId).fetch("https://pool/wait", {
    headers: {
      Upgrade: "websocket",
      [HOP_HEADERS.agentId]: agentId,
      [HOP_HEADERS.tokenHash]: caller.tokenHash,
      [FEATURES_HEADER]: headers.features.join(","),
      ...(headers.xcodes.length > 0 ? { [XCODES_HEADER]: headers.xcodes.join(",") } : {}),
      ...(headers.bootId === null ? {} : { [BOOT_HEADER]: headers.bootId }),
      ...(deadline === null ? {} : { [HOP_HEADERS.deadline]: String(deadline) }),
    },
  });

/** How the wait on a socket ended. `lost` means that the pool restarted, as it does with each deploy. */
type WaitEnd = "hint" | "closed" | "lost" | "over";

const firstHint = (socket: WebSocket, milliseconds: number, signal: AbortSignal): Promise<WaitEnd> =>
  new Promise((resolve) => {
    const timer = setTimeout(() => resolve("over"), milliseconds);
    const end = (how: WaitEnd) => {
      clearTimeout(timer);
      resolve(how);
    };
    socket.addEventListener("message", () => end("hint"));
    socket.addEventListener("close", ({ code }) => end(isAway(code) ? "lost" : "closed"));
    socket.addEventListener("error", () => end("lost"));
    signal.addEventListener("abort", () => end("closed"));
  });

/** Waits for `milliseconds`, or until the agent disconnects. */
const pause = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });

/**
 * Runs a long poll on a socket that lets the pool hibernate. The wait is in the Worker, because the platform does not
 * bill a Worker for waiting. Returns null after `seconds` without a build.
 */
export const waitForJob = async (
  context: Context,
  agentId: string,
  seconds: number,
  signal: AbortSignal,
): Promise<Job | null> => {
  const job = await handOut(context, agentId);
  if (job || seconds === 0 || signal.aborted) return job;
  const deadline = context.now.getTime() + seconds * SECOND_MS;
  const { webSocket: socket } = await connectToPool(context, agentId, deadline);
  if (!socket) return null;
  socket.accept();
  const end = await firstHint(socket, seconds * SECOND_MS, signal).finally(() => socket.close(1000));
  if (end === "over") return null;
  // All polls lose their sockets at once when the pool restarts. This pause makes them reconnect one after another.
  if (end === "lost") await pause(Math.min(comeBackDelay(Math.random()), deadline - Date.now()), signal);
  return signal.aborted ? null : handOut(context, agentId);
};
