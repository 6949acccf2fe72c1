import { and, desc, eq, gte, lt } from "drizzle-orm";
import * as z from "zod";
import { audit } from "../db/schema.ts";
import { AuditEntry, AuditFilter } from "../protocol/audit.ts";
import { verb } from "./verb.ts";

const PAGE = 50;

export const listAudit = verb({
  access: { role: "admin" },
  query: AuditFilter,
  output: z.array(AuditEntry),
  async run({ db, orgId }, { query }) {
    const wanted = and(
      eq(audit.orgId, orgId),
      query.actor ? eq(audit.actor, query.actor) : undefined,
      query.action ? eq(audit.action, query.action) : undefined,
      query.subject ? eq(audit.subject, query.subject) : undefined,
      query.since ? gte(audit.at, new Date(query.since).toISOString()) : undefined,
      query.until ? lt(audit.at, new Date(query.until).toISOString()) : undefined,
    );
    const [rows] = await db.run(db.sql.select().from(audit).where(wanted).orderBy(desc(audit.id)).limit(PAGE));
    return rows;
  },
});
