import { eq, getTableColumns, gte, lt } from "drizzle-orm";
import * as z from "zod/mini";
import { audit } from "../db/schema.ts";
import { AuditEntry, AuditFilter } from "../protocol/audit.ts";
import { DEFAULTS } from "../protocol/limits.ts";
import { listing } from "./core/listing.ts";
import { pageOf } from "./core/paging.ts";
import { verb } from "./core/verb.ts";

const entries = listing(audit, getTableColumns(audit), {
  filters: {
    ...{ actor: (actor) => eq(audit.actor, actor), action: (action) => eq(audit.action, action) },
    subject: (subject) => eq(audit.subject, subject),
    ...{ since: (at) => gte(audit.at, at), until: (at) => lt(audit.at, at) },
  },
  newestFirst: true,
});

/** A time as stored. */
const stored = (time: string | undefined) => time && new Date(time).toISOString();

export const listAudit = verb({
  access: { role: "admin" },
  query: AuditFilter,
  output: z.array(AuditEntry),
  async run(context, { query }) {
    const page = { limit: DEFAULTS.newestPageLength, ...query, since: stored(query.since), until: stored(query.until) };
    const [rows] = await context.db.run(entries(context, page));
    return pageOf(context, rows, page);
  },
});
