import type { Context } from "./context.ts";
import { holderOf } from "./jobs.ts";
import { settled } from "./refusal.ts";

interface Chunk {
  /** Bytes this lease sent before. */
  offset: number;
  final: boolean;
  bytes: Uint8Array<ArrayBuffer>;
}

/** Stores a chunk of a build's log, masked once more. A secret that the agent had let through is flagged on the build. */
export const appendLog = async (context: Context, buildId: string, chunk: Chunk): Promise<{ next: number }> => {
  const { fence, tokenHash } = await holderOf(context, buildId);
  const { next, leaked } = settled(await context.logOf(buildId).append({ fence, tokenHash, ...chunk }));
  if (leaked) settled(await context.poolOf(context.orgId).flagLeak({ buildId, fence }));
  return { next };
};
