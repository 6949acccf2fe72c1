import type { Context } from "../core/context.ts";
import { Refusal, settled } from "../core/refusal.ts";

/**
 * Tells the pool what is no longer valid: a token by its id, a replaced secret by its hash, or a hook by its name. It
 * refuses what comes from there, and tells D1 again should D1 be restored to an earlier time.
 * @throws Refusal unavailable where the pool does not answer
 */
export const tellRevoked = async (context: Context, what: "token" | "hook", name: string): Promise<void> => {
  try {
    settled(await (await context.pool()).revoke([name]));
  } catch (error) {
    const detail = `The ${what} is no longer valid, but a part of the service was not told: repeat the request.`;
    throw new Refusal("unavailable", detail, { retryAfterSeconds: 5, cause: error });
  }
};
