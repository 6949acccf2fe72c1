import { HOP_HEADERS } from "../protocol/headers.ts";
import { findBuild } from "./builds.ts";
import type { Context } from "./core/context.ts";
import { Refusal, settled } from "./core/refusal.ts";
import { holderOf } from "./jobs.ts";

interface Chunk {
  /** Bytes that this lease sent before. */
  offset: number;
  final: boolean;
  bytes: Uint8Array<ArrayBuffer>;
}

/** Stores a chunk of a build's log, masked again; flags the build when the agent had left a secret unmasked. */
export const appendLog = async (context: Context, buildId: string, chunk: Chunk): Promise<{ next: number }> => {
  await context.admit();
  const { fence, tokenHash } = await holderOf(context, buildId);
  const { next, leaked } = settled(
    await context.objects.log(context.orgId, buildId).append({ fence, tokenHash, ...chunk }),
  );
  if (leaked) settled(await context.objects.pool(context.orgId).flagLeak({ buildId, fence }));
  return { next };
};

interface Part {
  attempt?: number;
  start?: number;
  /** Exclusive. */
  end?: number;
  /** The number of bytes at the end, instead of `start` and `end`. */
  suffix?: number;
}

/** Stored bytes of a build's log, as a stream. @throws Refusal not-found */
export const openLog = async (context: Context, buildId: string, part: Part) => {
  await findBuild(context, buildId);
  return readFound(context, buildId, part);
};

/** The same, for a build that `findBuild` has returned. */
export const readFound = async (context: Context, buildId: string, { attempt, start, end, suffix }: Part) => {
  const log = context.objects.log(context.orgId, buildId);
  if (suffix === undefined) return settled(await log.read({ attempt, start, end }));
  const { size } = settled(await log.read({ attempt, end: 0 }));
  return settled(await log.read({ attempt, start: Math.max(0, size - suffix), end: size }));
};

/** A WebSocket that receives the log while it is written (messages: `protocol/follow.ts`). */
export const followLog = async (
  context: Context,
  buildId: string,
  attempt: number | undefined,
  from: string,
): Promise<WebSocket> => {
  await findBuild(context, buildId);
  const query = new URLSearchParams({ from, ...(attempt === undefined ? {} : { attempt: String(attempt) }) });
  const { webSocket } = await context.objects.log(context.orgId, buildId).fetch(`https://log/follow?${query}`, {
    headers: { Upgrade: "websocket", [HOP_HEADERS.tokenHash]: context.caller.tokenHash },
  });
  if (!webSocket) throw new Refusal("unavailable", "The log cannot be followed just now.", { retryAfterSeconds: 5 });
  return webSocket;
};
