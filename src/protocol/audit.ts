import * as z from "zod/mini";
import { atMost } from "./checks.ts";
import { Id, OrgId, Timestamp } from "./common.ts";
import { LIMITS } from "./limits.ts";
import { NEWEST_PAGE } from "./page.ts";

/** Actions in rows of earlier releases. Today the build itself records how it started and ended. */
export const EARLIER_ACTIONS = ["build.finish", "build.release", "build.requeue", "build.start"] as const;

/** Every action in the audit, as `noun.verb`. Never rename an action, because stored rows keep the old name. */
export const AUDIT_ACTIONS = [
  ...EARLIER_ACTIONS,
  "agent.forget",
  "agent.register",
  "agent.remove",
  "agent.update",
  "artifact.delete",
  "artifact.share",
  "cache.delete",
  "badge.create",
  "badge.delete",
  "build.cancel",
  "build.create",
  "build.delete",
  "build.deliver",
  "build.leak",
  "build.plan",
  "connection.create",
  "connection.delete",
  "connection.reveal",
  "connection.rotate",
  "connection.unhook",
  "connection.update",
  "credential.delete",
  "credential.set",
  "dead-letter.retry",
  "group.create",
  "group.delete",
  "group.update",
  "job.approve",
  "job.cancel",
  "job.reject",
  "log.delete",
  "organization.create",
  "organization.export",
  "organization.restore",
  "organization.update",
  "pipeline.create",
  "pipeline.delete",
  "pipeline.read-file",
  "pipeline.update",
  "repository.connect",
  "repository.delete",
  "repository.update",
  "schedule.create",
  "schedule.delete",
  "schedule.update",
  "secrets.rewrap",
  "token.create",
  "token.revoke",
  "token.rotate",
  "token.update",
  "variable.create",
  "variable.delete",
  "variable.update",
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** The actions that every build has. They have far more rows than all other actions together. */
export const OF_EVERY_BUILD = ["build.create", "build.deliver"] as const satisfies AuditAction[];

/** One change or hand-out. `detail` has names and numbers, never values. `action` may come from a later release. */
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
  actor: z.optional(z.string().check(atMost(LIMITS.filterCharacters))),
  action: z.optional(z.string().check(atMost(LIMITS.filterCharacters))),
  subject: z.optional(z.string().check(atMost(LIMITS.filterCharacters))),
  since: z.optional(z.iso.datetime({ offset: true })),
  until: z.optional(z.iso.datetime({ offset: true })),
  ...NEWEST_PAGE,
});
