import { encodeCursor } from "../../protocol/page.ts";
import type { Context } from "./context.ts";

export interface PageOf {
  limit?: number;
  cursor?: string;
}

/** The rows of this page; the answer will lead to the next one where there is one. */
export const pageOf = <T extends { id: string }>(context: Context, rows: T[], { limit }: PageOf): T[] => {
  if (limit === undefined || rows.length <= limit) return rows;
  const kept = rows.slice(0, limit);
  context.nextCursor = encodeCursor(kept.at(-1)?.id ?? "");
  return kept;
};
