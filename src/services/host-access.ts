import type { connection } from "../db/schema.ts";
import { connectionContext } from "../domain/seal-context.ts";
import { hostClient } from "../hosts/clients.ts";
import type { HostClient } from "../hosts/host-client.ts";
import { HostProblem } from "../hosts/host-problem.ts";
import type { Keys } from "./core/keys.ts";
import { Refusal } from "./core/refusal.ts";

export type ConnectionRow = typeof connection.$inferSelect;

/** How long a client waits before it asks again for what a git host did not answer. */
const RETRY_AFTER_SECONDS = 30;

/** What asks the connection's host with its token; null where it has none. @throws Damaged; Refusal keyring-unavailable */
export const clientOf = async ({ keys }: { keys: Keys }, row: ConnectionRow): Promise<HostClient | null> => {
  const { kind, apiUrl, sealed } = row;
  return sealed === null ? null : hostClient(kind, { apiUrl, token: await keys.open(sealed, connectionContext(row)) });
};

/** The refusal with which a request ends because of the host. Other errors stay as they are. */
export const hostRefusal = (error: unknown): unknown => {
  if (!(error instanceof HostProblem)) return error;
  const { kind, message, cause } = error;
  return kind === "away"
    ? new Refusal("unavailable", message, { retryAfterSeconds: RETRY_AFTER_SECONDS, cause })
    : new Refusal("conflict", message, { cause });
};

/** What a host answers. @throws Refusal conflict, unavailable */
export const asking = async <T>(answer: Promise<T>): Promise<T> => {
  try {
    return await answer;
  } catch (error) {
    throw hostRefusal(error);
  }
};
