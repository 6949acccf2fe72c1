import { and, desc, eq, gte, lt } from "drizzle-orm";
import * as z from "zod";
import { audit } from "../db/schema.ts";
import { AuditEntry, AuditFilter } from "../protocol/audit.ts";
import { before, pageOf, rowsFor } from "./paging.ts";
import { verb } from "./verb.ts";

const PAGE_LENGTH = 50;

export const listAudit = verb({
  access: { role: "admin" },
  query: AuditFilter,
  output: z.array(AuditEntry),
  async run(context, { query }) {
    const { db, orgId } = context;
    const page = { limit: PAGE_LENGTH, ...query };
    const wanted = and(
      eq(audit.orgId, orgId),
      query.actor ? eq(audit.actor, query.actor) : undefined,
      query.action ? eq(audit.action, query.action) : undefined,
      query.subject ? eq(audit.subject, query.subject) : undefined,
      query.since ? gte(audit.at, new Date(query.since).toISOString()) : undefined,
      query.until ? lt(audit.at, new Date(query.until).toISOString()) : undefined,
      before(audit.id, page),
    );
    const newest = db.sql.select().from(audit).where(wanted).orderBy(desc(audit.id)).limit(rowsFor(page));
    return pageOf(context, (await db.run(newest))[0], page);
  },
});
