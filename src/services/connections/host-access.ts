import type { connection } from "../../db/schema.ts";
import { connectionContext } from "../../domain/seal-context.ts";
import type { HookSettings, HostClient, HostReader } from "../../githosts/core/git-host.ts";
import { HostProblem } from "../../githosts/core/host-api.ts";
import { type AppAt, appAt, githubAppReader, notInstalled } from "../../githosts/github/app.ts";
import { AppKey, readAppSecret } from "../../githosts/github/app-key.ts";
import { HOSTS } from "../../githosts/hosts.ts";
import type { Context } from "../core/context.ts";
import type { Keys } from "../core/keys.ts";
import type { ObjectStubs } from "../core/object-stubs.ts";
import { Refusal } from "../core/refusal.ts";

export type ConnectionRow = typeof connection.$inferSelect;

/** Returns the name under which an App authenticates. */
export const chooseIssuer = ({ clientId, appId }: Pick<ConnectionRow, "clientId" | "appId">): string =>
  clientId ?? appId ?? "";

/** Opens the App's access to its own settings. @throws Damaged; Refusal keyring-unavailable */
export const openApp = async ({ keys }: { keys: Keys }, row: ConnectionRow): Promise<AppAt> => {
  const { key } = readAppSecret(await keys.open(row.sealed ?? "", connectionContext(row)));
  return appAt(row.apiUrl, await (await AppKey.of(key)).jwt(chooseIssuer(row), Date.now()));
};

/** The keys that open connections, and the objects that query their hosts. */
interface HostHolder {
  keys: Keys;
  objects: ObjectStubs;
}

/** Seconds that a client waits after a git host's failure before it retries. */
const RETRY_AFTER_SECONDS = 30;

/**
 * Returns the token for the hooks of single repositories. An App keeps its former token for these hooks until the
 * service has removed them.
 */
export const hookToken = async ({ keys }: Pick<HostHolder, "keys">, row: ConnectionRow): Promise<string | null> => {
  if (row.sealed === null) return null;
  const secret = await keys.open(row.sealed, connectionContext(row));
  return row.auth === "app" ? (readAppSecret(secret).formerToken ?? null) : secret;
};

/**
 * Creates the client for hooks of single repositories; null without a token.
 * @throws Damaged; Refusal keyring-unavailable
 */
export const openHookClient = async (
  holder: Pick<HostHolder, "keys">,
  row: ConnectionRow,
): Promise<HostClient | null> => {
  const token = await hookToken(holder, row);
  return token === null ? null : HOSTS[row.kind].client({ apiUrl: row.apiUrl, token });
};

/**
 * Creates the client for the connection's host, as the connection's App or with its token; null if it has neither.
 * @throws Damaged; HostProblem if the App gets no token; Refusal keyring-unavailable
 */
export const openClient = async (holder: HostHolder, row: ConnectionRow): Promise<HostReader | null> => {
  const { auth, installationId, apiUrl } = row;
  if (auth !== "app") return openHookClient(holder, row);
  if (installationId === null) {
    const before = await openHookClient(holder, row);
    if (before) return before;
    throw notInstalled();
  }
  const answer = await holder.objects.gitHost(row.orgId, row.id).installationToken();
  if ("problem" in answer) throw new HostProblem(answer.problem.kind, answer.problem.message);
  return githubAppReader(await openApp(holder, row), installationId, apiUrl, answer.token);
};

/** Returns the refusal for a request that ends because of the host. Returns other errors unchanged. */
export const hostRefusal = (error: unknown): unknown => {
  if (!(error instanceof HostProblem)) return error;
  const { kind, message, cause } = error;
  return kind === "away"
    ? new Refusal("unavailable", message, { retryAfterSeconds: RETRY_AFTER_SECONDS, cause })
    : new Refusal("conflict", message, { cause });
};

/** Waits for a host's answer and returns it. @throws Refusal conflict, unavailable */
export const asking = async <T>(answer: Promise<T>): Promise<T> => {
  try {
    return await answer;
  } catch (error) {
    throw hostRefusal(error);
  }
};

type HookedConnection = Pick<ConnectionRow, "orgId" | "kind" | "id" | "hookGeneration">;

/** Returns the address and secret of the connection's hook. @throws Refusal keyring-unavailable */
export const readHookSettings = async (
  { keys, origin }: Pick<Context, "keys" | "origin">,
  { orgId, kind, id, hookGeneration }: HookedConnection,
): Promise<HookSettings> => {
  const { token, secret } = await keys.hooks.grant({ orgId, kind, connectionId: id, generation: hookGeneration });
  return { url: `${origin}/hook/${token}`, secret };
};

/**
 * Sends GitHub the address for the App's deliveries, and the secret that proves them.
 * @throws Refusal conflict, unavailable
 */
export const tellAppHook = async (holder: { keys: Keys }, row: ConnectionRow, settings: HookSettings): Promise<void> =>
  asking((await openApp(holder, row)).setHook(settings));

/**
 * Uninstalls the App from the repositories. This ends the App's tokens and deliveries. The App itself stays with its
 * owner.
 * @returns whether the App is installed nowhere now; null if the connection has no App
 */
export const uninstall = async (holder: { keys: Keys }, row: ConnectionRow): Promise<boolean | null> => {
  if (row.auth !== "app") return null;
  try {
    const app = await openApp(holder, row);
    for (const { id } of await app.installations()) await app.uninstall(id);
    return true;
  } catch {
    return false;
  }
};

/** Returns why the App's deliveries do not arrive at this address; null if they do. @throws HostProblem */
export const appHookProblem = async (app: AppAt, { url }: HookSettings): Promise<string | null> =>
  (await app.hookUrl()) === url ? null : "GitHub sends the App's deliveries to another address: rotate the connection.";
