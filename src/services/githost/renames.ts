import { and, eq, sql } from "drizzle-orm";
import type { Query } from "../../db/query.ts";
import { auditLog, repository } from "../../db/schema.ts";
import { cloneOrigin } from "../../domain/clone-url.ts";
import type { Context } from "../core/context.ts";
import type { ConnectionRow, RepositoryRow } from "./arrival-rows.ts";

/** The clone address under the new name; null where it may not or need not follow. */
const movedUrl = ({ cloneUrl, fullName, hasCredential }: RepositoryRow, origin: string, to: string): string | null => {
  if (hasCredential === 1 || cloneOrigin(cloneUrl) !== origin) return null;
  const end = [`/${fullName}.git`, `/${fullName}`].find((one) => cloneUrl.endsWith(one));
  return end === undefined ? null : cloneUrl.slice(0, -end.length) + end.replace(fullName, () => to);
};

/**
 * Statements that give the repository the name that its host calls it by, with an audit row; none where it has it. The
 * clone address follows where it is one of the connection's host, and no credential could be sent to another place.
 */
export const renameStatements = (
  context: Context,
  row: RepositoryRow,
  { cloneOrigin: origin }: ConnectionRow,
  fullName: string,
): Query[] => {
  if (fullName === row.fullName) return [];
  const db = context.db.sql;
  const cloneUrl = movedUrl(row, origin, fullName) ?? row.cloneUrl;
  const isUnchanged = and(eq(repository.id, row.id), eq(repository.version, row.version));
  const detail = JSON.stringify({ fullName, cloneUrl, isActive: row.isActive });
  const audit = sql`SELECT ${context.orgId}, ${context.newId()}, ${context.at}, ${context.admitted.actor},
    ${"repository.update"}, ${row.id}, ${context.requestId}, ${detail} FROM ${repository} WHERE ${isUnchanged}`;
  return [
    db.insert(auditLog).select(audit),
    db
      .update(repository)
      .set({ fullName, cloneUrl, version: row.version + 1, updatedAt: context.at })
      .where(isUnchanged),
  ];
};
