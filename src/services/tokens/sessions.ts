import { v7 as uuid } from "uuid";
import * as z from "zod/mini";
import { KeyUnknown, loadKeyring, SealBroken } from "../../crypto/keyring.ts";
import { databaseOf } from "../../db/database-of.ts";
import { endedSession } from "../../db/schema.ts";
import { DatabaseSession } from "../../db/session.ts";
import { PERIODS } from "../../protocol/limits.ts";
import { HOUR_MS } from "../../protocol/units.ts";
import { usable } from "../core/sealing.ts";

/**
 * Milliseconds that a session lasts. If somebody opens a page in the session's later half, that extends the session by
 * the same time.
 */
export const SESSION_MS = PERIODS.sessionHours * HOUR_MS;
/** Milliseconds from a sign-in until a person must sign in again, however often the session was extended. */
export const LONGEST_MS = PERIODS.longestSessionDays * 24 * HOUR_MS;

const Session = z.object({
  token: z.string(),
  expiresAt: z.number(),
  id: z.string(),
  begunAt: z.number(),
});
export type Session = z.infer<typeof Session>;

/** The context of a sealed session, which ensures that no other sealed value opens as a session. */
const CONTEXT = ["session"];

const keyring = (env: Pick<Env, "SECRETS_KEYS">) => usable("SECRETS_KEYS", () => loadKeyring(env.SECRETS_KEYS));

/** Creates a session, or extends `before`. */
export const freshSession = (token: string, now: Date, before?: Session): Session => {
  const begunAt = before?.begunAt ?? now.getTime();
  const expiresAt = Math.min(now.getTime() + SESSION_MS, begunAt + LONGEST_MS);
  return { token, expiresAt, id: before?.id ?? uuid(), begunAt };
};

/** Ends the session for every copy of its cookie. */
export const endSession = async (env: Pick<Env, "DB">, { id, begunAt, token }: Session): Promise<void> => {
  const db = new DatabaseSession(databaseOf(env, token.split("_")[1] ?? ""), "first-primary");
  const until = new Date(begunAt + LONGEST_MS).toISOString();
  await db.run(db.sql.insert(endedSession).values({ id, until }).onConflictDoNothing());
};

/** Seals a session for its cookie. The session holds the person's token. @throws Refusal keyring-unavailable */
export const sealSession = (env: Pick<Env, "SECRETS_KEYS">, session: Session): Promise<string> =>
  keyring(env).seal(JSON.stringify(session), CONTEXT);

/** Opens a cookie's session; null if it has expired or no key opens it. @throws Refusal keyring-unavailable */
export const openSession = async (
  env: Pick<Env, "SECRETS_KEYS">,
  sealed: string,
  now: Date,
): Promise<Session | null> => {
  try {
    const { data } = Session.safeParse(JSON.parse(await keyring(env).openText(sealed, CONTEXT)));
    return data && data.expiresAt > now.getTime() ? data : null;
  } catch (error) {
    if (error instanceof SealBroken || error instanceof KeyUnknown) return null;
    throw error;
  }
};
