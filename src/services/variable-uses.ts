import { and, desc, eq, getTableColumns, isNull, lt, or } from "drizzle-orm";
import * as z from "zod/mini";
import { variable, variableUse } from "../db/schema.ts";
import { PathId } from "../protocol/common.ts";
import { UnusedFilter, Variable, VariableUse } from "../protocol/variable.ts";
import { listing } from "./core/listing.ts";
import { pageOf } from "./core/paging.ts";
import { notFound } from "./core/refusal.ts";
import { verb } from "./core/verb.ts";
import { variableRecord } from "./variables.ts";

const DAY_MS = 86_400_000;
const NEWEST = 200;

/** Which builds and agents were given a variable, the newest 200. */
export const listUses = verb({
  access: { role: "maintainer" },
  params: PathId,
  output: z.array(VariableUse),
  async run({ db, orgId }, { params }) {
    const mine = and(eq(variable.orgId, orgId), eq(variable.id, params.id));
    const [[found], uses] = await db.run(
      db.sql.select({ id: variable.id }).from(variable).where(mine),
      db.sql
        .select({ buildId: variableUse.buildId, agentId: variableUse.agentId, at: variableUse.at })
        .from(variableUse)
        .where(eq(variableUse.variableId, params.id))
        .orderBy(desc(variableUse.buildId))
        .limit(NEWEST),
    );
    if (!found) throw notFound();
    return uses;
  },
});

const unused = listing(variable, getTableColumns(variable), {
  filters: {
    since: (since) => and(eq(variable.isSecret, true), or(isNull(variable.lastUsedAt), lt(variable.lastUsedAt, since))),
  },
});

/** Secrets that no build was given within the last `days`. */
export const listUnused = verb({
  access: { role: "maintainer" },
  query: UnusedFilter,
  output: z.array(Variable),
  async run(context, { query }) {
    const since = new Date(context.now.getTime() - query.days * DAY_MS).toISOString();
    const [rows] = await context.db.run(unused(context, { ...query, since }));
    return pageOf(context, rows, query).map(variableRecord);
  },
});
