import { and, eq, isNotNull, sql } from "drizzle-orm";
import type { Database, Query } from "../../db/query.ts";
import { connection, repository } from "../../db/schema.ts";
import type { HookSettings, HostClient, HostHook, RepositoryName } from "../../githosts/core/git-host.ts";
import { hookName } from "../../githosts/core/hook-address.ts";
import { HostProblem } from "../../githosts/core/host-api.ts";
import { PathId } from "../../protocol/common.ts";
import { ConnectionHook, type HookOutcome, RotatedConnection } from "../../protocol/connection.ts";
import { auditRow, commit } from "../core/commit.ts";
import type { Context } from "../core/context.ts";
import { nextVersion, updateRow } from "../core/record.ts";
import { Answer, verb, versioned } from "../core/verb.ts";
import { tellRevoked } from "../tokens/tokens.ts";
import { connectionRecord, findConnection } from "./connections.ts";
import { type ConnectionRow, openHookClient, readHookSettings, tellAppHook } from "./host-access.ts";

type RepositoryRow = typeof repository.$inferSelect;

/** Hooks that one request changes or queries at most. A Worker may send a thousand requests. */
const MOST_HOOKS = 100;
/**
 * Consecutive failures to reach the host after which the service stops its requests. Each of them may take ten seconds.
 */
const MOST_AWAY = 2;

/** Finds the hook that this connection created, in any generation and under any name of the service. */
export const ownHook = (hooks: HostHook[], { orgId, kind, id }: ConnectionRow): HostHook | undefined =>
  hooks.find(({ url }) => url.includes(`/hook/mrh_${orgId}_${kind}.${id}.`));

const toName = ({ gitHostRepoId, fullName }: RepositoryRow): RepositoryName => ({ id: gitHostRepoId, fullName });

/** Creates the hook, or updates an existing hook's address and secret. @returns the hook's id @throws HostProblem */
export const registerHook = async (
  client: HostClient,
  row: ConnectionRow,
  name: RepositoryName,
  settings: HookSettings,
): Promise<string> => {
  const hook = ownHook(await client.hooks(name), row);
  if (!hook) return client.createHook(name, settings);
  await client.updateHook(name, hook.id, settings);
  return hook.id;
};

/** Selects the connection's repositories whose hooks the service registered. */
export const hookedRepositories = (db: Database, { orgId, id }: Pick<ConnectionRow, "orgId" | "id">) =>
  db
    .select()
    .from(repository)
    .where(and(eq(repository.orgId, orgId), eq(repository.connectionId, id), isNotNull(repository.hostHookId)))
    .orderBy(repository.id)
    .limit(MOST_HOOKS + 1);

/**
 * Queries the host for each repository, one after another, because GitHub limits concurrent requests. Reports
 * repositories as not done if they exceed the limit, or if the host became unavailable before their turn.
 * @param problemFor Returns null if it succeeded.
 * @throws errors other than HostProblem
 */
export const ofEach = async (
  rows: RepositoryRow[],
  problemFor: (row: RepositoryRow) => Promise<string | null>,
): Promise<HookOutcome[]> => {
  const outcomes: HookOutcome[] = [];
  let [away, reason] = [0, ""];
  const attempt = async (row: RepositoryRow): Promise<string | null> => {
    if (outcomes.length >= MOST_HOOKS) return "Skipped: too many at once.";
    if (away >= MOST_AWAY) return `Skipped: ${reason}`;
    try {
      const problem = await problemFor(row);
      away = 0;
      return problem;
    } catch (error) {
      if (!(error instanceof HostProblem)) throw error;
      [away, reason] = [error.kind === "away" ? away + 1 : 0, error.message];
      return reason;
    }
  };
  for (const row of rows) {
    outcomes.push({ repositoryId: row.id, fullName: row.fullName, problem: await attempt(row) });
  }
  return outcomes;
};

/** Removes a hook. @throws HostProblem if the host may still have it */
export const removeHook = (client: HostClient, row: RepositoryRow): Promise<void> =>
  client.deleteHook(toName(row), row.hostHookId ?? "");

/**
 * The result of removing unused hooks: the number of removed hooks, and the repositories whose hooks are still at the
 * host.
 */
interface RemovalOutcome {
  removed: number;
  left: string[];
}

/** Removes as many hooks at the host as possible. If the token cannot be opened, all hooks stay. */
export const removeHooks = async (
  holder: Pick<Context, "keys">,
  row: ConnectionRow,
  rows: RepositoryRow[],
): Promise<RemovalOutcome> => {
  const client = await openHookClient(holder, row).catch(() => null);
  const outcomes = await ofEach(rows, async (one) => {
    if (!client) return "The connection has no token.";
    await removeHook(client, one);
    return null;
  });
  const remaining = outcomes.filter(({ problem }) => problem !== null).map(({ fullName }) => fullName);
  return { removed: outcomes.length - remaining.length, left: remaining };
};

/** Removes the hook of a repository that left the connection, and records the result. */
export const unhook = async (context: Context, row: RepositoryRow): Promise<void> => {
  const { connectionId, hostHookId } = row;
  if (connectionId === null || hostHookId === null) return;
  const { sql: db } = context.db;
  const [[owner]] = await context.db.run(db.select().from(connection).where(eq(connection.id, connectionId)));
  if (!owner) return;
  const outcome = await removeHooks(context, owner, [row]);
  await context.db.run(
    auditRow(context, { action: "connection.unhook", subject: connectionId, detail: { ...outcome } }),
  );
};

/** Stores the hook's new id after the host changed it. */
const keepHook = (context: Context, row: RepositoryRow, hostHookId: string): Query =>
  context.db.sql
    .update(repository)
    .set({ hostHookId, version: sql`${repository.version} + 1` })
    .where(and(eq(repository.id, row.id), eq(repository.connectionId, row.connectionId ?? "")));

/** Sends the host the current address and secret, for the App's hook and for every repository with one of our hooks. */
const registerAll = async (context: Context, row: ConnectionRow): Promise<HookOutcome[]> => {
  if (row.auth === "app") await tellAppHook(context, row, await readHookSettings(context, row));
  const client = await openHookClient(context, row);
  if (!client) return [];
  const [rows] = await context.db.run(hookedRepositories(context.db.sql, row));
  const settings = await readHookSettings(context, row);
  return ofEach(rows, async (one) => {
    const hostHookId = await registerHook(client, row, toName(one), settings);
    if (hostHookId !== one.hostHookId) await context.db.run(keepHook(context, one, hostHookId));
    return null;
  });
};

/**
 * Gives the connection's hook a new address and secret. The service rejects the previous address and secret from then
 * on. It therefore first updates the hooks that it registered. People change the hooks that they created.
 */
export const rotateConnection = verb({
  access: { role: "admin" },
  params: PathId,
  output: RotatedConnection,
  async run(context, { params }) {
    const row = await findConnection(context, params.id);
    const next = { ...row, hookGeneration: row.hookGeneration + 1, ...nextVersion(context, row) };
    const { name, hookGeneration } = next;
    await commit(
      context,
      { action: "connection.rotate", subject: row.id, detail: { name, hookGeneration } },
      updateRow(context, connection, row, next),
    );
    const hooks = await registerAll(context, next);
    await tellRevoked(context, "hook", hookName(row.id, row.hookGeneration));
    return versioned({ ...connectionRecord(next), hooks }, next.version);
  },
});

/**
 * Returns the address and secret of the connection's hook. No other answer shows them, and the audit records each call.
 */
export const showHook = verb({
  access: { role: "admin" },
  params: PathId,
  output: ConnectionHook,
  async run(context, { params }) {
    const row = await findConnection(context, params.id);
    const { name, hookGeneration } = row;
    const hook = await readHookSettings(context, row);
    await commit(context, { action: "connection.reveal", subject: row.id, detail: { name, hookGeneration } }, []);
    return new Answer(hook, { isSecret: true });
  },
});
