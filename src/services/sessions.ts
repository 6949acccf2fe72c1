import { v7 as uuid } from "uuid";
import * as z from "zod/mini";
import { KeyUnknown, loadKeyring, SealBroken } from "../crypto/keyring.ts";
import { endedSession } from "../db/schema.ts";
import { DatabaseSession } from "../db/session.ts";
import { PERIODS } from "../protocol/limits.ts";
import { usable } from "./core/sealing.ts";

const HOUR_MS = 60 * 60 * 1000;
/** Milliseconds after which a person signs in anew, counted from the last page that was opened in the later half. */
export const SESSION_MS = PERIODS.sessionHours * HOUR_MS;
/** The same, however many pages are opened, counted from the sign-in. */
export const LONGEST_MS = PERIODS.longestSessionDays * 24 * HOUR_MS;

/** One that the release before sealed has neither `id` nor `begunAt`, and gets both when it is prolonged. */
const Session = z.object({
  ...{ token: z.string(), expiresAt: z.number() },
  ...{ id: z.optional(z.string()), begunAt: z.optional(z.number()) },
});
export type Session = z.infer<typeof Session>;

/** What a seal of a session is bound to: nothing else that is sealed opens as one. */
const CONTEXT = ["session"];

const keyring = (env: Pick<Env, "SECRETS_KEYS">) => usable("SECRETS_KEYS", () => loadKeyring(env.SECRETS_KEYS));

/** A session that begins now, or the one it prolongs. */
export const freshSession = (token: string, now: Date, before?: Session): Session => {
  const begunAt = before?.begunAt ?? now.getTime();
  const expiresAt = Math.min(now.getTime() + SESSION_MS, begunAt + LONGEST_MS);
  return { token, expiresAt, id: before?.id ?? uuid(), begunAt };
};

/** From now on nobody comes in with this session, wherever its cookie may lie. */
export const endSession = async (env: Pick<Env, "DB">, { id, begunAt }: Session): Promise<void> => {
  if (id === undefined || begunAt === undefined) return;
  const db = new DatabaseSession(env.DB, "first-primary");
  const until = new Date(begunAt + LONGEST_MS).toISOString();
  await db.run(db.sql.insert(endedSession).values({ id, until }).onConflictDoNothing());
};

/** A signed-in person's token as only the service can read it. @throws Refusal keyring-unavailable */
export const sealSession = (env: Pick<Env, "SECRETS_KEYS">, session: Session): Promise<string> =>
  keyring(env).seal(JSON.stringify(session), CONTEXT);

/** The session, or null where it is over, or was not sealed here. @throws Refusal keyring-unavailable */
export const openSession = async (
  env: Pick<Env, "SECRETS_KEYS">,
  sealed: string,
  now: Date,
): Promise<Session | null> => {
  try {
    const session = Session.parse(JSON.parse(await keyring(env).openText(sealed, CONTEXT)));
    return session.expiresAt > now.getTime() ? session : null;
  } catch (error) {
    if (error instanceof SealBroken || error instanceof KeyUnknown) return null;
    throw error;
  }
};
