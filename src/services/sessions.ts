import * as z from "zod/mini";
import { KeyUnknown, loadKeyring, SealBroken } from "../crypto/keyring.ts";
import { usable } from "./sealing.ts";

/** Milliseconds after which a person signs in anew, counted from the last page that was opened in the later half. */
export const SESSION_MS = 12 * 60 * 60 * 1000;

const Session = z.object({ token: z.string(), expiresAt: z.number() });
export type Session = z.infer<typeof Session>;

/** What a seal of a session is bound to: nothing else that is sealed opens as one. */
const CONTEXT = ["session"];

const keyring = (env: Pick<Env, "SECRETS_KEYS">) => usable("SECRETS_KEYS", () => loadKeyring(env.SECRETS_KEYS));

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
