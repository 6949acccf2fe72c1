import { and, eq, inArray } from "drizzle-orm";
import { connection, openPull, repository } from "../../db/schema.ts";
import type { DatabaseSession } from "../../db/session.ts";
import { hookName } from "../../githosts/core/hook-address.ts";
import { PathId } from "../../protocol/common.ts";
import { commit } from "../core/commit.ts";
import type { Context } from "../core/context.ts";
import type { Keys } from "../core/keys.ts";
import type { ObjectStubs } from "../core/object-stubs.ts";
import { deleteRow, nextVersion, updateRow } from "../core/record.ts";
import { verb } from "../core/verb.ts";
import { tellRevoked } from "../tokens/tokens.ts";
import { hookedRepositories, removeHooks } from "./connection-hooks.ts";
import { connectionDetail, findConnection } from "./connections.ts";
import { type ConnectionRow, uninstall } from "./host-access.ts";

/** An organization's connections that one call removes at most. Each of them may have many hooks. */
const CONNECTIONS_AT_ONCE = 5;

/** Creates statements that detach the connection's repositories. */
const unlink = ({ db: { sql: db }, orgId, at }: Context, { id }: ConnectionRow) => {
  const isLinked = and(eq(repository.orgId, orgId), eq(repository.connectionId, id));
  const linked = db.select({ id: repository.id }).from(repository).where(isLinked);
  return [
    db.delete(openPull).where(inArray(openPull.repoId, linked)),
    db.update(repository).set({ connectionId: null, hostHookId: null, updatedAt: at }).where(isLinked),
  ];
};

/**
 * Deletes a connection. First, the connection stops accepting deliveries. Then the service removes the connection's
 * hooks at the host and the connection's object, and finally the row that names them. After an interruption, a client
 * can repeat the call.
 */
export const deleteConnection = verb({
  access: { role: "admin" },
  params: PathId,
  async run(context, { params }) {
    const row = await findConnection(context, params.id);
    const closed = { ...row, isActive: false, ...nextVersion(context, row) };
    const { sql: db } = context.db;
    await commit(
      context,
      { action: "connection.update", subject: row.id, detail: connectionDetail(closed) },
      updateRow(context, connection, row, closed),
    );
    const [hooked] = await context.db.run(hookedRepositories(db, row));
    const hooks = await removeHooks(context, row, hooked);
    const isUninstalled = await uninstall(context, row);
    await tellRevoked(context, "hook", hookName(row.id, row.hookGeneration));
    await context.objects.gitHost(context.orgId, row.id).destroy();
    await commit(
      context,
      {
        action: "connection.delete",
        subject: row.id,
        detail: { ...connectionDetail(closed), hooks, ...(isUninstalled === null ? {} : { isUninstalled }) },
      },
      deleteRow(context, connection, closed, unlink(context, row)),
    );
  },
});

/** The parts of the service that hold an organization's data. */
export interface OrganizationHolders {
  orgId: string;
  db: DatabaseSession;
  objects: ObjectStubs;
  keys: Keys;
}

/**
 * Removes the connections of an organization that is being deleted, with their hooks at the host and their objects.
 * @returns how many it removed; a full share means that some may be left
 */
export const removeConnections = async (
  holders: OrganizationHolders,
): Promise<{ isDone: boolean; removed: number }> => {
  const { orgId, db, objects, keys } = holders;
  const [rows] = await db.run(
    db.sql
      .select()
      .from(connection)
      .where(eq(connection.orgId, orgId))
      .orderBy(connection.id)
      .limit(CONNECTIONS_AT_ONCE),
  );
  for (const row of rows) {
    const [hooked] = await db.run(hookedRepositories(db.sql, row));
    await removeHooks({ keys }, row, hooked);
    await uninstall({ keys }, row);
    await objects.gitHost(orgId, row.id).destroy();
    await db.run(db.sql.delete(connection).where(and(eq(connection.orgId, orgId), eq(connection.id, row.id))));
  }
  return { isDone: rows.length < CONNECTIONS_AT_ONCE, removed: rows.length };
};
