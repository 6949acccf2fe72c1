import { and, eq, getTableColumns, gte, lt } from "drizzle-orm";
import * as z from "zod/mini";
import { auditLog, isIndexedAction } from "../../db/schema.ts";
import { firstIdAt } from "../../domain/id-range.ts";
import { AuditEntry, AuditFilter, OF_EVERY_BUILD } from "../../protocol/audit.ts";
import { DEFAULTS } from "../../protocol/limits.ts";
import { indexed, listing, toPage } from "../core/listing.ts";
import { makeView, verb } from "../core/verb.ts";

const entries = listing(auditLog, getTableColumns(auditLog), {
  filters: {
    actor: (actor) => indexed(eq(auditLog.actor, actor)),
    action: (action) => and(indexed(eq(auditLog.action, action)), isIndexedAction),
    frequentAction: (action) => eq(auditLog.action, action),
    subject: (subject) => indexed(eq(auditLog.subject, subject)),
    since: (id) => gte(auditLog.id, id),
    until: (id) => lt(auditLog.id, id),
  },
  newestFirst: true,
});

const auditEntry = makeView(AuditEntry);

const firstIdSince = (time: string | undefined) => time && firstIdAt(Date.parse(time));

export const listAudit = verb({
  access: { role: "admin" },
  query: AuditFilter,
  output: z.array(AuditEntry),
  async run(context, { query: { action, since, until, ...query } }) {
    const isFrequent = OF_EVERY_BUILD.some((frequent) => frequent === action);
    const page = {
      limit: DEFAULTS.newestPageLength,
      ...query,
      [isFrequent ? "frequentAction" : "action"]: action,
      since: firstIdSince(since),
      until: firstIdSince(until),
    };
    const [rows] = await context.db.run(entries(context, page));
    return toPage(rows, page, auditEntry);
  },
});
