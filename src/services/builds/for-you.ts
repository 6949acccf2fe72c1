import { and, desc, eq, gte, sql } from "drizzle-orm";
import { buildSummary, token } from "../../db/schema.ts";
import { firstIdAt } from "../../domain/id-range.ts";
import type { Build } from "../../protocol/build.ts";
import type { Context } from "../core/context.ts";
import { buildOfRow, buildRecord } from "./build-rows.ts";

/** Builds that have not ended, and those of the last that have: of so many at most. */
const LIVE = 200;
const LAST = 60;
const SINCE_MS = 86_400_000;

export interface ForYou {
  /** Builds that have not ended, the newest first. */
  live: Build[];
  /** Those of the last day that the caller's token asked for and that failed, the newest first. */
  failed: Build[];
}

/** What may concern the caller, in one round to D1 and one call of the pool. */
export const readForYou = async (context: Context): Promise<ForYou> => {
  const { db, orgId } = context;
  const isOwn = sql`${buildSummary.createdBy} ->> 'id' =
    (SELECT ${token.id} FROM ${token} WHERE ${token.hash} = ${context.caller.tokenHash})`;
  const last = db.sql
    .select()
    .from(buildSummary)
    .where(and(eq(buildSummary.orgId, orgId), gte(buildSummary.id, firstIdAt(context.now.getTime() - SINCE_MS))))
    .orderBy(desc(buildSummary.id))
    .limit(LAST);
  const [[rows], live] = await Promise.all([
    db.run(
      db.sql
        .select()
        .from(last.as("build_summary"))
        .where(and(eq(buildSummary.status, "failed"), isOwn)),
    ),
    context.pool().then((pool) => pool.liveBuilds({ limit: LIVE, ids: [] })),
  ]);
  return {
    live: live.map((build) => buildRecord(context, build)).sort((a, b) => (a.id < b.id ? 1 : -1)),
    failed: rows.map((row) => buildRecord(context, buildOfRow(row))),
  };
};
