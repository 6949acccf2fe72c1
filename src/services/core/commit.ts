import { sql } from "drizzle-orm";
import { ensure, explainRollback, PreconditionFailed, UniqueViolation } from "../../db/guard.ts";
import type { Query } from "../../db/query.ts";
import { auditLog, connection, pipeline, repository, token, variableGroup } from "../../db/schema.ts";
import { isValidToken } from "../../db/valid-token.ts";
import type { AuditAction } from "../../protocol/audit.ts";
import { ORGANIZATION_LIMITS } from "../../protocol/organization.ts";
import type { Context } from "./context.ts";
import { invalid, Refusal, tokenInvalid } from "./refusal.ts";

export interface AuditNote {
  action: AuditAction;
  subject: string;
  /** The change's organization, if it differs from the caller's. The operator has no organization. */
  orgId?: string;
  /** Names and numbers of the change, but never values. */
  detail?: Record<string, unknown>;
  /** The actor, if the service knows it without admitting the caller. */
  actor?: string;
}

/** Creates the audit row for a change's batch. D1 commits either both or neither. */
export const auditRow = (context: Context, change: AuditNote) => {
  const { action, subject, orgId = context.orgId, detail = {}, actor = context.admitted.actor } = change;
  return context.db.sql.insert(auditLog).values({
    id: context.newId(),
    orgId,
    at: context.at,
    actor,
    action,
    subject,
    requestId: context.requestId,
    detail,
  });
};

/** Rolls the batch back if somebody revoked the caller's token after the check. */
const ensureTokenValid = (context: Context): Query[] => {
  if (context.caller.kind === "operator" || context.caller.kind === "connection") return [];
  const isValid = sql`EXISTS (SELECT 1 FROM ${token} WHERE ${isValidToken(context.caller.tokenHash, context.at)})`;
  return [ensure(context.db.sql, "token_live", isValid)];
};

/**
 * Commits statements in one batch with their audit row and a check of the caller's token.
 * @throws Refusal when D1 rolls the batch back. `existing` finds the row that already has the same unique columns.
 */
export const commit = async (
  context: Context,
  change: AuditNote,
  statements: Query[],
  existing?: Query,
): Promise<void> => {
  await context.admit();
  try {
    await context.db.run(...ensureTokenValid(context), ...statements, auditRow(context, change));
  } catch (error) {
    const reason = explainRollback(error);
    if (reason instanceof UniqueViolation && existing) throw await findDuplicate(context, existing);
    throw reason instanceof PreconditionFailed ? toRefusal(reason) : reason;
  }
};

const findDuplicate = async (context: Context, existing: Query): Promise<Refusal> => {
  const [rows] = (await context.db.run(existing)) as [{ id: string }[]];
  return new Refusal("duplicate", "It already exists: see existingId.", { existingId: rows[0]?.id });
};

const toRefusal = ({ precondition }: PreconditionFailed): Refusal => {
  switch (precondition) {
    case "token_live":
      return tokenInvalid();
    case "unchanged":
      return new Refusal(
        "conflict",
        "The record was changed at the same moment: read it again and repeat the request.",
      );
    case "owner_exists":
      return invalid("", "An id in the request does not exist in this organization.");
    case "within_limit":
      return new Refusal("limit-reached", "The limit is reached: delete what is no longer used.");
    case "unused":
      return new Refusal("in-use", "It is still in use.");
  }
};

const COUNTED = {
  tokens: token,
  connections: connection,
  repositories: repository,
  pipelines: pipeline,
  groups: variableGroup,
};

/**
 * Creates a statement that rolls its batch back once the organization has reached its limit. D1 commits one batch at a
 * time. Simultaneous requests therefore cannot exceed a limit together.
 */
export const ensureRoom = ({ db: { sql: db }, orgId }: Context, what: keyof typeof COUNTED) => {
  const table = COUNTED[what];
  const own = sql`(SELECT limits ->> ${what} FROM organization WHERE id = ${orgId})`;
  const count = sql`(SELECT count(*) FROM ${table} WHERE ${table.orgId} = ${orgId})`;
  return ensure(db, "within_limit", sql`${count} < coalesce(${own}, ${ORGANIZATION_LIMITS[what]})`);
};
