import type { AuditAction, AuditEntry } from "../protocol/audit.ts";
import { audit } from "./schema.ts";
import type { Database } from "./session.ts";

/** The row that stands in the same batch as the change it tells of: both commit, or neither does. */
export const auditRow = (db: Database, entry: AuditEntry & { action: AuditAction }) => db.insert(audit).values(entry);
