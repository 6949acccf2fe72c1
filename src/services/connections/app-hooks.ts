import type { HookSettings } from "../../githosts/core/host-client.ts";
import type { AppAt } from "../../githosts/github/app.ts";
import type { Keys } from "../core/keys.ts";
import { appOf } from "./app-proof.ts";
import { asking, type ConnectionRow } from "./host-access.ts";

/** Tells GitHub where the App's deliveries go, and the secret that proves them. @throws Refusal conflict, unavailable */
export const tellAppHook = async (holder: { keys: Keys }, row: ConnectionRow, settings: HookSettings): Promise<void> =>
  asking((await appOf(holder, row)).setHook(settings));

/**
 * Takes the App off the repositories: its tokens and deliveries end with that. The App itself is left to its owner.
 * @returns whether it is installed nowhere now; null where the connection has no App
 */
export const uninstall = async (holder: { keys: Keys }, row: ConnectionRow): Promise<boolean | null> => {
  if (row.auth !== "app") return null;
  try {
    const app = await appOf(holder, row);
    for (const { id } of await app.installations()) await app.uninstall(id);
    return true;
  } catch {
    return false;
  }
};

/** Why the App's deliveries do not come to this address; null where they do. @throws HostProblem */
export const appHookProblem = async (app: AppAt, { url }: HookSettings): Promise<string | null> =>
  (await app.hookUrl()) === url ? null : "GitHub sends the App's deliveries to another address: rotate the connection.";
