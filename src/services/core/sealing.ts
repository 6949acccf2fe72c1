import { eq } from "drizzle-orm";
import { type Keyring, KeyUnknown, keyIdOf, loadKeyring, SealBroken } from "../../crypto/keyring.ts";
import { KeysUnusable } from "../../crypto/keys.ts";
import { keyCheck } from "../../db/schema.ts";
import type { DatabaseSession } from "../../db/session.ts";
import { keyCheckContext } from "../../domain/seal-context.ts";
import { oncePer } from "../../once-per.ts";
import { Refusal } from "./refusal.ts";

/** Seconds until a retry if a key is missing, because an operator has to restore the key. */
const RETRY_AFTER_SECONDS = 30;
const CHECK_TEXT = "this key is the one it was";

const once = oncePer<Keyring>();

/** Loads a Worker secret. @throws Refusal keyring-unavailable, naming the secret and its fault */
export const usable = <T>(name: string, load: () => T): T => {
  try {
    return load();
  } catch (error) {
    if (!(error instanceof KeysUnusable)) throw error;
    throw unusable(`The Worker secret ${name} cannot be used: ${error.message}.`);
  }
};

const unusable = (detail: string) =>
  new Refusal("keyring-unavailable", detail, { retryAfterSeconds: RETRY_AFTER_SECONDS });

/** A stored value that cannot be opened in its place. The refusal is the same for every kind of damage. */
export class Damaged extends Refusal {
  constructor() {
    super("conflict", "A sealed value is damaged: set it again.");
  }
}

/**
 * Opens a stored value. The id of a key that never sealed anything counts as damage, not as a missing key.
 * @throws Damaged; Refusal keyring-unavailable if the value's key is not on the keyring, naming the ids of the keys
 * that are
 */
export const openStored = async (
  db: DatabaseSession,
  keyring: Keyring,
  sealed: string,
  place: string[],
): Promise<string> => {
  try {
    return await keyring.openText(sealed, place);
  } catch (error) {
    if (error instanceof SealBroken) throw new Damaged();
    if (!(error instanceof KeyUnknown)) throw error;
    const [[used]] = await db.run(db.sql.select().from(keyCheck).where(eq(keyCheck.id, error.keyId)));
    if (!used) throw new Damaged();
    throw unusable(`A value was sealed with a key that is not in SECRETS_KEYS, which has: ${keyring.ids.join(", ")}.`);
  }
};

/**
 * Returns the deployment's keyring, after each key has opened the check that the key with the same id sealed earlier. A
 * key that was mistyped, or replaced under its old id, must not seal any value.
 * @throws Refusal keyring-unavailable, naming the known ids
 */
export const checkedKeyring = async (db: DatabaseSession, secret: string | undefined): Promise<Keyring> => {
  const keyring = usable("SECRETS_KEYS", () => loadKeyring(secret));
  return once(keyring, () => verifyWith(db, keyring));
};

/** Checks the keyring against the database, and stores a check for each new key. */
const verifyWith = async (db: DatabaseSession, keyring: Keyring): Promise<Keyring> => {
  const all = db.sql.select().from(keyCheck);
  const [checks] = await db.run(all);
  await verify(keyring, checks);
  const fresh = keyring.ids.filter((id) => !checks.some((row) => row.id === id));
  if (fresh.length > 0) {
    const rows = await Promise.all(fresh.map(async (id) => ({ id, sealed: await sealCheck(keyring, id) })));
    const [, checksNow] = await db.run(db.sql.insert(keyCheck).values(rows).onConflictDoNothing(), all);
    await verify(keyring, checksNow);
  }
  return keyring;
};

const sealCheck = (keyring: Keyring, id: string): Promise<string> =>
  keyring.withFirst(id).seal(CHECK_TEXT, keyCheckContext(id));

const verify = async (keyring: Keyring, rows: { id: string; sealed: string }[]): Promise<void> => {
  for (const { id, sealed } of rows) {
    if (!keyring.ids.includes(id)) continue;
    try {
      if (keyIdOf(sealed) !== id) throw new SealBroken();
      await keyring.open(sealed, keyCheckContext(id));
    } catch (error) {
      if (!(error instanceof SealBroken)) throw error;
      throw unusable(
        `The key ${id} in SECRETS_KEYS is not the key that was used under this id. Known ids: ${keyring.ids.join(", ")}.`,
      );
    }
  }
};
