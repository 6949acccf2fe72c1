import type { AuditEntry } from "../protocol/audit.ts";
import type { Database } from "./open.ts";
import { audit } from "./schema.ts";

/** The row that stands in the same batch as the change it tells of: both commit, or neither does. */
export const auditRow = (db: Database, entry: AuditEntry) => db.insert(audit).values(entry);
