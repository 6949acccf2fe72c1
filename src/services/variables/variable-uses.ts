import { and, desc, eq, isNull, lt, or } from "drizzle-orm";
import * as z from "zod/mini";
import { variable, variableDay } from "../../db/schema.ts";
import { PathId } from "../../protocol/common.ts";
import { DAY_MS } from "../../protocol/units.ts";
import { UnusedFilter, Variable, VariableUse } from "../../protocol/variable.ts";
import { listing, toPage } from "../core/listing.ts";
import { isOwn } from "../core/record.ts";
import { notFound } from "../core/refusal.ts";
import { verb } from "../core/verb.ts";
import { LISTED, variableRecord } from "./variables.ts";

const NEWEST = 200;

/** Lists a variable's first hand-out on each of the newest 200 days. */
export const listUses = verb({
  access: { role: "maintainer" },
  params: PathId,
  output: z.array(VariableUse),
  async run(context, { params }) {
    const { db } = context;
    const [[ownVariable], uses] = await db.run(
      db.sql
        .select({ id: variable.id })
        .from(variable)
        .where(isOwn(context, variable, params.id)),
      db.sql
        .select({ buildId: variableDay.buildId, agentId: variableDay.agentId, at: variableDay.at })
        .from(variableDay)
        .where(eq(variableDay.variableId, params.id))
        .orderBy(desc(variableDay.at))
        .limit(NEWEST),
    );
    if (!ownVariable) throw notFound();
    return uses;
  },
});

const unused = listing(variable, LISTED, {
  filters: {
    since: (since) => and(eq(variable.isSecret, true), or(isNull(variable.lastUsedAt), lt(variable.lastUsedAt, since))),
  },
});

/** Lists active and inactive secrets that were not handed out within the last `days`. */
export const listUnused = verb({
  access: { role: "maintainer" },
  query: UnusedFilter,
  output: z.array(Variable),
  async run(context, { query }) {
    const since = new Date(context.now.getTime() - query.days * DAY_MS).toISOString();
    const [rows] = await context.db.run(unused(context, { ...query, since }));
    return toPage(rows, query, variableRecord);
  },
});
