import type { connection } from "../../db/schema.ts";
import { connectionContext } from "../../domain/seal-context.ts";
import { type AppAt, appAt } from "../../githosts/github/app.ts";
import { AppKey, readAppSecret } from "../../githosts/github/app-key.ts";
import type { Keys } from "../core/keys.ts";

type ConnectionRow = typeof connection.$inferSelect;

/** The name under which an App proves itself. */
export const issuerOf = ({ clientId, appId }: Pick<ConnectionRow, "clientId" | "appId">): string =>
  clientId ?? appId ?? "";

/** What a connection's App may ask of itself. @throws Damaged; Refusal keyring-unavailable */
export const appOf = async ({ keys }: { keys: Keys }, row: ConnectionRow): Promise<AppAt> => {
  const { key } = readAppSecret(await keys.open(row.sealed ?? "", connectionContext(row)));
  return appAt(row.apiUrl, await (await AppKey.of(key)).jwt(issuerOf(row), Date.now()));
};
