import type { HookSettings } from "../../githosts/core/host-client.ts";
import type { Context } from "../core/context.ts";
import type { ConnectionRow } from "./host-access.ts";

type Hooked = Pick<ConnectionRow, "orgId" | "kind" | "id" | "hookGeneration">;

/** The address of the connection's hook, and its secret. @throws Refusal keyring-unavailable */
export const settingsOf = async (
  { keys, origin }: Pick<Context, "keys" | "origin">,
  { orgId, kind, id, hookGeneration }: Hooked,
): Promise<HookSettings> => {
  const { token, secret } = await keys.hooks.grant({ orgId, kind, connectionId: id, generation: hookGeneration });
  return { url: `${origin}/hook/${token}`, secret };
};
