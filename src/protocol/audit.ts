import * as z from "zod/mini";
import { Id, OrgId, Timestamp } from "./common.ts";
import { NEWEST_PAGE } from "./page.ts";

/** One change or hand-out: who, what, when. Names of keys, never values. */
export const AuditEntry = z.object({
  id: Id,
  orgId: OrgId,
  at: Timestamp,
  actor: z.string(),
  action: z.string(),
  subject: z.string(),
  requestId: z.nullable(z.string()),
  detail: z.record(z.string(), z.unknown()),
});
export type AuditEntry = z.infer<typeof AuditEntry>;

export const AuditFilter = z.strictObject({
  actor: z.optional(z.string().check(z.maxLength(100))),
  action: z.optional(z.string().check(z.maxLength(100))),
  subject: z.optional(z.string().check(z.maxLength(100))),
  since: z.optional(z.iso.datetime({ offset: true })),
  until: z.optional(z.iso.datetime({ offset: true })),
  ...NEWEST_PAGE,
});
