import { eq, getTableColumns, gte, lt } from "drizzle-orm";
import * as z from "zod/mini";
import { audit } from "../db/schema.ts";
import { AuditEntry, AuditFilter } from "../protocol/audit.ts";
import { DEFAULTS } from "../protocol/limits.ts";
import { listing, pageOf } from "./core/listing.ts";
import { verb } from "./core/verb.ts";
import { viewOf } from "./core/view.ts";

const entries = listing(audit, getTableColumns(audit), {
  filters: {
    actor: (actor) => eq(audit.actor, actor),
    action: (action) => eq(audit.action, action),
    subject: (subject) => eq(audit.subject, subject),
    since: (at) => gte(audit.at, at),
    until: (at) => lt(audit.at, at),
  },
  newestFirst: true,
});

const auditEntry = viewOf(AuditEntry);

/** A time with any offset in the form of D1's columns (UTC, milliseconds), which compares as text. */
const comparable = (time: string | undefined) => time && new Date(time).toISOString();

export const listAudit = verb({
  access: { role: "admin" },
  query: AuditFilter,
  output: z.array(AuditEntry),
  async run(context, { query }) {
    const page = {
      limit: DEFAULTS.newestPageLength,
      ...query,
      since: comparable(query.since),
      until: comparable(query.until),
    };
    const [rows] = await context.db.run(entries(context, page));
    return pageOf(rows, page, auditEntry);
  },
});
