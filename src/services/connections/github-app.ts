import { and, eq } from "drizzle-orm";
import * as z from "zod/mini";
import { connection, repository } from "../../db/schema.ts";
import { connectionContext } from "../../domain/seal-context.ts";
import { HostProblem } from "../../githosts/core/host-api.ts";
import { convertManifest, type MadeApp } from "../../githosts/github/app.ts";
import { readAppSecret, writtenAppSecret } from "../../githosts/github/app-key.ts";
import { appFormUrl, appManifest, appName } from "../../githosts/github/app-manifest.ts";
import { HOSTS } from "../../githosts/hosts.ts";
import { PathId } from "../../protocol/common.ts";
import { type HookOutcome, InstalledConnection } from "../../protocol/connection.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { commit } from "../core/commit.ts";
import type { Context } from "../core/context.ts";
import { nextVersion, updateRow } from "../core/record.ts";
import { invalid, Refusal } from "../core/refusal.ts";
import { verb, versioned } from "../core/verb.ts";
import type { RepositoryColumns } from "../repositories/repositories.ts";
import { onlyPlace, sealedKey } from "./app-sealing.ts";
import { hookedRepositories, ofEach, removeHook } from "./connection-hooks.ts";
import { connectionDetail, connectionRecord, findConnection } from "./connections.ts";
import {
  asking,
  type ConnectionRow,
  hookToken,
  hostRefusal,
  openApp,
  openClient,
  openHookClient,
  readHookSettings,
  tellAppHook,
} from "./host-access.ts";

const NewApp = z.strictObject({
  organization: z.nullable(
    z.string().check(z.regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,98}$/, "must be the name of a GitHub organization")),
  ),
});
/**
 * The form that a browser sends to GitHub. The browser sends the form to the address `action`, with `manifest` as its
 * only field.
 */
const AppForm = z.object({ action: z.string(), manifest: z.string() });
const Made = z.strictObject({
  code: z.string().check(z.regex(/^[A-Za-z0-9_-]{1,200}$/, "is not a code from GitHub")),
  state: z.string(),
});

const visitor = ({ orgId, caller }: Context) => ({ orgId, sessionId: caller.sessionId ?? "" });

/** Begins a visit to GitHub, where a person creates an App for the connection. */
export const beginApp = verb({
  access: { role: "admin" },
  params: PathId,
  body: NewApp,
  output: AppForm,
  async run(context, { params, body }) {
    const row = await findConnection(context, params.id);
    if (!HOSTS[row.kind].app) throw new Refusal("conflict", "Only GitHub connections can have an App.");
    const { origin, orgId } = context;
    const state = await context.keys.appStates.grant({ ...visitor(context), connectionId: row.id }, Date.now());
    const { url: hookUrl } = await readHookSettings(context, row);
    const manifest = appManifest({ name: appName(orgId), origin, connectionId: row.id, hookUrl });
    return { action: appFormUrl(row.webUrl, body.organization, state), manifest: JSON.stringify(manifest) };
  },
});

/**
 * Exchanges the code for the App. GitHub accepts a code once, so an earlier call of the same visit may have stored the
 * App already.
 */
const convert = async (context: Context, row: ConnectionRow, code: string): Promise<MadeApp | null> => {
  try {
    return await convertManifest(row.apiUrl, code);
  } catch (error) {
    if (!(error instanceof HostProblem) || error.kind === "away") throw hostRefusal(error);
    if ((await findConnection(context, row.id)).auth === "app") return null;
    throw new Refusal("conflict", "GitHub does not recognize this App: create it again, and return within an hour.");
  }
};

/**
 * Adopts the App that a person has created. Seals the App's key at once, and shows the key to nobody. Completing a
 * visit twice creates nothing twice.
 */
export const takeApp = verb({
  access: { role: "admin" },
  body: Made,
  output: PathId,
  async run(context, { body }) {
    await context.admit();
    const id = await context.keys.appStates.recognize(body.state, visitor(context), Date.now());
    if (id === undefined) throw invalid("/state", "belongs to another session or is older than an hour: start again");
    const row = await findConnection(context, id);
    if (row.auth === "app") return { id };
    const app = await convert(context, row, body.code);
    if (!app) return { id };
    const next = { ...row, sealedVersion: row.sealedVersion + 1, ...nextVersion(context, row) };
    const { id: appId, clientId, key } = app;
    const withApp: ConnectionRow = {
      ...next,
      auth: "app",
      appId,
      clientId,
      installationId: null,
      account: null,
      sealed: await sealedKey(context, next, key, await hookToken(context, row)),
    };
    await commit(
      context,
      { action: "connection.update", subject: id, detail: { ...connectionDetail(withApp), hasNewKey: true } },
      updateRow(context, connection, row, withApp),
    );
    await context.objects.gitHost(context.orgId, id).connectionChanged();
    await tellAppHook(context, withApp, await readHookSettings(context, withApp));
    return { id };
  },
});

/** Pages of repositories that one request reads at most. */
const MOST_PAGES = 20;
const UNSEEN = "The App is not installed for this repository: the existing hook stays.";

/** Returns the numbers of the repositories where the App is installed, as far as one request can read them. */
const seenBy = async (context: Context, row: ConnectionRow): Promise<Set<number>> => {
  const client = await asking(openClient(context, row));
  const visibleIds = new Set<number>();
  for (let page = 1; client && page <= MOST_PAGES; page++) {
    const some = await asking(client.repositories(page, LIMITS.hostPageLength));
    for (const { id } of some) visibleIds.add(id);
    if (some.length < LIMITS.hostPageLength) break;
  }
  return visibleIds;
};

/** Removes the hook from the repository's record. */
const forgetHook = async (context: Context, { id, connectionId }: RepositoryColumns): Promise<void> => {
  const isSame = and(eq(repository.id, id), eq(repository.connectionId, connectionId ?? ""));
  await context.db.run(context.db.sql.update(repository).set({ hostHookId: null }).where(isSame));
};

/**
 * Removes the earlier hooks of repositories where the App delivers now. Until then both deliver, and a push still
 * creates only one build.
 */
const removeFormerHooks = async (context: Context, row: ConnectionRow): Promise<HookOutcome[]> => {
  const client = await openHookClient(context, row);
  if (!client) return [];
  const [rows] = await context.db.run(hookedRepositories(context.db.sql, row));
  const visibleIds = rows.length > 0 ? await seenBy(context, row) : new Set<number>();
  return ofEach(rows, async (one) => {
    if (!visibleIds.has(one.gitHostRepoId)) return UNSEEN;
    await removeHook(client, one);
    await forgetHook(context, one);
    return null;
  });
};

/** Returns the row without the former token, which the service no longer needs. */
const withoutFormer = async (context: Context, row: ConnectionRow): Promise<ConnectionRow> => {
  const { key } = readAppSecret(await context.keys.open(row.sealed ?? "", connectionContext(row)));
  const next = { ...row, sealedVersion: row.sealedVersion + 1 };
  return { ...next, sealed: await context.keys.seal(writtenAppSecret({ key }), connectionContext(next)) };
};

/**
 * Finds where the connection's App is installed. After the installation, removes the hooks that the service created
 * with the former token, and then deletes that token. A client can repeat the call.
 */
export const installConnection = verb({
  access: { role: "admin" },
  params: PathId,
  output: InstalledConnection,
  async run(context, { params }) {
    const row = await findConnection(context, params.id);
    if (row.auth !== "app") throw new Refusal("conflict", "The connection has no GitHub App.");
    const app = await openApp(context, row);
    const { pageUrl } = await asking(app.facts());
    const place = onlyPlace(await asking(app.installations()));
    const installedRow = { ...row, installationId: place?.id ?? null, account: place?.account ?? null };
    const storedRow = await keep(context, row, installedRow);
    const hooks = place ? await removeFormerHooks(context, storedRow) : [];
    const isMoved = place !== null && hooks.every(({ problem }) => problem === null);
    const done =
      isMoved && (await openHookClient(context, storedRow)) ? await withoutFormer(context, storedRow) : storedRow;
    const last = await keep(context, storedRow, done);
    return versioned({ ...connectionRecord(last), pageUrl, hooks }, last.version);
  },
});

/** Stores the changes, and notifies the connection's object. */
const keep = async (context: Context, row: ConnectionRow, change: ConnectionRow): Promise<ConnectionRow> => {
  if (change.installationId === row.installationId && change.sealed === row.sealed) return row;
  const next = { ...change, ...nextVersion(context, row) };
  await commit(
    context,
    { action: "connection.update", subject: row.id, detail: connectionDetail(next) },
    updateRow(context, connection, row, next),
  );
  await context.objects.gitHost(context.orgId, row.id).connectionChanged();
  return next;
};
