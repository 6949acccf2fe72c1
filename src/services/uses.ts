import { and, asc, desc, eq, isNull, lt, or } from "drizzle-orm";
import * as z from "zod/mini";
import { variable, variableUse } from "../db/schema.ts";
import { PathId, QueryNumber } from "../protocol/common.ts";
import { Variable, VariableUse } from "../protocol/variable.ts";
import { notFound } from "./refusal.ts";
import { variableRecord } from "./variables.ts";
import { verb } from "./verb.ts";

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

/** Secrets that no build was given within the last `days`. */
export const listUnused = verb({
  access: { role: "maintainer" },
  query: z.strictObject({
    days: z._default(QueryNumber(1, 400, "must be 1 to 400"), 90),
  }),
  output: z.array(Variable),
  async run({ db, orgId, now }, { query }) {
    const since = new Date(now.getTime() - query.days * DAY_MS).toISOString();
    const idle = or(isNull(variable.lastUsedAt), lt(variable.lastUsedAt, since));
    const wanted = and(eq(variable.orgId, orgId), eq(variable.isSecret, true), idle);
    const [rows] = await db.run(db.sql.select().from(variable).where(wanted).orderBy(asc(variable.id)));
    return rows.map(variableRecord);
  },
});
