import { and, eq } from "drizzle-orm";
import { connection, repository } from "../../db/schema.ts";
import { connectionContext } from "../../domain/seal-context.ts";
import { readAppSecret, writtenAppSecret } from "../../githosts/core/connection-secret.ts";
import { PathId } from "../../protocol/common.ts";
import { type HookOutcome, InstalledConnection } from "../../protocol/connection.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { versioned } from "../core/answer.ts";
import { commit } from "../core/commit.ts";
import type { Context } from "../core/context.ts";
import { nextVersion, updateRow } from "../core/record.ts";
import { Refusal } from "../core/refusal.ts";
import { verb } from "../core/verb.ts";
import type { RepositoryColumns } from "../repositories/repositories.ts";
import { appOf } from "./app-proof.ts";
import { onlyPlace } from "./app-sealing.ts";
import { hookedRepositories, ofEach, removeHook } from "./connection-hooks.ts";
import { connectionDetail, connectionRecord, findConnection } from "./connections.ts";
import { asking, type ConnectionRow, clientOf, hookClientOf } from "./host-access.ts";

/** Pages of repositories that one request reads. */
const MOST_PAGES = 20;
const UNSEEN = "The App is not installed for this repository: its hook of before stays.";

/** The numbers of the repositories that the App is installed for, as far as one request reads them. */
const seenBy = async (context: Context, row: ConnectionRow): Promise<Set<number>> => {
  const client = await asking(clientOf(context, row));
  const seen = new Set<number>();
  for (let page = 1; client && page <= MOST_PAGES; page++) {
    const some = await asking(client.repositories(page, LIMITS.hostPageLength));
    for (const { id } of some) seen.add(id);
    if (some.length < LIMITS.hostPageLength) break;
  }
  return seen;
};

/** The record no longer names the hook. */
const forgetHook = async (context: Context, { id, connectionId }: RepositoryColumns): Promise<void> => {
  const isSame = and(eq(repository.id, id), eq(repository.connectionId, connectionId ?? ""));
  await context.db.run(context.db.sql.update(repository).set({ hostHookId: null }).where(isSame));
};

/** Removes the hooks of before where the App delivers now: until then both do, and make one build of a push. */
const removeFormerHooks = async (context: Context, row: ConnectionRow): Promise<HookOutcome[]> => {
  const client = await hookClientOf(context, row);
  if (!client) return [];
  const [rows] = await context.db.run(hookedRepositories(context.db.sql, row));
  const seen = rows.length > 0 ? await seenBy(context, row) : new Set<number>();
  return ofEach(rows, async (one) => {
    if (!seen.has(one.gitHostRepoId)) return UNSEEN;
    await removeHook(client, one);
    await forgetHook(context, one);
    return null;
  });
};

/** The row without the token of before, which nobody needs any more. */
const withoutFormer = async (context: Context, row: ConnectionRow): Promise<ConnectionRow> => {
  const { key } = readAppSecret(await context.keys.open(row.sealed ?? "", connectionContext(row)));
  const next = { ...row, sealedVersion: row.sealedVersion + 1 };
  return { ...next, sealed: await context.keys.seal(writtenAppSecret({ key }), connectionContext(next)) };
};

/**
 * Finds where the connection's App is installed. Once it is, hooks that the service made by the token of before are
 * removed, and then the token is forgotten. May be repeated.
 */
export const installConnection = verb({
  access: { role: "admin" },
  params: PathId,
  output: InstalledConnection,
  async run(context, { params }) {
    const row = await findConnection(context, params.id);
    if (row.auth !== "app") throw new Refusal("conflict", "The connection has no GitHub App.");
    const app = await appOf(context, row);
    const { pageUrl } = await asking(app.facts());
    const place = onlyPlace(await asking(app.installations()));
    const found = { ...row, installationId: place?.id ?? null, account: place?.account ?? null };
    const kept = await keep(context, row, found);
    const hooks = place ? await removeFormerHooks(context, kept) : [];
    const isMoved = place !== null && hooks.every(({ problem }) => problem === null);
    const done = isMoved && (await hookClientOf(context, kept)) ? await withoutFormer(context, kept) : kept;
    const last = await keep(context, kept, done);
    return versioned({ ...connectionRecord(last), pageUrl, hooks }, last.version);
  },
});

/** Stores what has changed, and tells the object of the connection. */
const keep = async (context: Context, row: ConnectionRow, found: ConnectionRow): Promise<ConnectionRow> => {
  if (found.installationId === row.installationId && found.sealed === row.sealed) return row;
  const next = { ...found, ...nextVersion(context, row) };
  await commit(
    context,
    { action: "connection.update", subject: row.id, detail: connectionDetail(next) },
    updateRow(context, connection, row, next),
  );
  await context.objects.gitHost(context.orgId, row.id).connectionChanged();
  return next;
};
