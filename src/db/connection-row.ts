import type { connection } from "./schema.ts";

/** The columns that a request to the connection's git host needs. */
export type ConnectionToAsk = Pick<
  typeof connection.$inferSelect,
  "id" | "kind" | "apiUrl" | "auth" | "appId" | "clientId" | "installationId" | "sealed" | "sealedVersion"
> & { isActive: number };

/**
 * Reads a connection of an organization at the primary database, because the connection may have changed a moment ago.
 */
export const readConnection = (db: D1Database, orgId: string, id: string): Promise<ConnectionToAsk | null> =>
  db
    .withSession("first-primary")
    .prepare(
      `SELECT id, kind, api_url AS apiUrl, auth, app_id AS appId, client_id AS clientId,
         installation_id AS installationId, sealed, sealed_version AS sealedVersion, is_active AS isActive
       FROM connection WHERE id = ? AND org_id = ?`,
    )
    .bind(id, orgId)
    .first<ConnectionToAsk>();
