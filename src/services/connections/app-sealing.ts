import { connectionContext } from "../../domain/seal-context.ts";
import { HostProblem } from "../../githosts/core/host-api.ts";
import { appAt, type InstalledPlace } from "../../githosts/github/app.ts";
import { AppKey, AppKeyUnusable, writtenAppSecret } from "../../githosts/github/app-key.ts";
import { HOSTS } from "../../githosts/hosts.ts";
import type { Context } from "../core/context.ts";
import { invalid } from "../core/refusal.ts";
import { type ConnectionRow, hostRefusal, readHookSettings } from "./host-access.ts";

/** An App as a person names it. `id` is its number or its client id; it is empty if the person gave neither. */
interface NamedApp {
  id: string;
  privateKey: string;
}

type ConnectionToProve = Pick<ConnectionRow, "id" | "orgId" | "kind" | "apiUrl" | "sealedVersion" | "hookGeneration">;
/** The columns that a connection stores for its App. */
type AppColumns = Pick<ConnectionRow, "auth" | "sealed" | "account" | "appId" | "clientId" | "installationId">;

/** Reads a private key. @throws Refusal invalid, which quotes no part of the key */
const readKey = async (pem: string): Promise<AppKey> => {
  try {
    return await AppKey.of(pem);
  } catch (error) {
    if (!(error instanceof AppKeyUnusable)) throw error;
    throw invalid("/app/privateKey", "must be the private key of a GitHub App: PEM, RSA of 2048 bits or more");
  }
};

/** Returns the place where an organization's App is installed; null if it is not installed yet. @throws Refusal */
export const onlyPlace = (places: InstalledPlace[]): InstalledPlace | null => {
  const [first, ...others] = places.filter(({ isSuspended }) => !isSuspended);
  if (others.length > 0) throw invalid("/app", "is installed for several accounts: create a private App for each");
  return first ?? null;
};

/** Seals an App's key. @param formerToken the token that manages the earlier hooks */
export const sealedKey = (
  { keys }: Pick<Context, "keys">,
  row: Pick<ConnectionRow, "id" | "kind" | "apiUrl" | "sealedVersion">,
  key: string,
  formerToken: string | null,
): Promise<string> => {
  const secret = writtenAppSecret({ key, ...(formerToken === null ? {} : { formerToken }) });
  return keys.seal(secret, connectionContext({ ...row, auth: "app" }));
};

/**
 * Seals an App's key after GitHub has confirmed it, and directs the App's deliveries to this connection.
 * @param formerToken the token that manages the earlier hooks
 * @throws Refusal if GitHub rejects the key
 */
export const sealedApp = async (
  context: Context,
  row: ConnectionToProve,
  { id, privateKey }: NamedApp,
  formerToken: string | null = null,
): Promise<AppColumns> => {
  if (!HOSTS[row.kind].app) throw invalid("/app", "is only for GitHub: this is another git host");
  if (id === "") throw invalid("/app/id", "is required: the connection has no App yet");
  const key = await readKey(privateKey);
  try {
    const app = appAt(row.apiUrl, await key.jwt(id, Date.now()));
    const appFacts = await app.facts();
    const place = onlyPlace(await app.installations());
    await app.setHook(await readHookSettings(context, row));
    return {
      auth: "app",
      sealed: await sealedKey(context, row, privateKey, formerToken),
      account: place?.account ?? null,
      appId: appFacts.id,
      clientId: appFacts.clientId,
      installationId: place?.id ?? null,
    };
  } catch (error) {
    if (!(error instanceof HostProblem)) throw error;
    const { kind, message } = error;
    if (kind === "token" || kind === "missing") throw invalid("/app/privateKey", "GitHub rejects it for this App");
    throw kind === "away" ? hostRefusal(error) : invalid("/webUrl", message);
  }
};
