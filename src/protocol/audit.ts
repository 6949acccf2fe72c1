import * as z from "zod";
import { Id, OrgId, Timestamp } from "./common.ts";
import { PAGE } from "./page.ts";

/** One change or hand-out: who, what, when. Names of keys, never values. */
export const AuditEntry = z.object({
  id: Id,
  orgId: OrgId,
  at: Timestamp,
  actor: z.string().meta({ description: "token:ID, agent:ID, operator, or system" }),
  action: z.string().meta({ description: "noun.verb, for example variable.create or build.deliver" }),
  subject: z.string().meta({ description: "Id of what was changed" }),
  requestId: z.string().nullable(),
  detail: z.record(z.string(), z.unknown()),
});
export type AuditEntry = z.infer<typeof AuditEntry>;

export const AuditFilter = z.strictObject({
  actor: z.string().max(100).optional(),
  action: z.string().max(100).optional(),
  subject: z.string().max(100).optional(),
  since: z.iso.datetime({ offset: true }).optional(),
  until: z.iso.datetime({ offset: true }).optional(),
  ...PAGE,
});
