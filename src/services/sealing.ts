import { type Keyring, keyIdOf, loadKeyring, SealBroken } from "../crypto/keyring.ts";
import { KeysUnusable } from "../crypto/keys.ts";
import type { Door } from "../db/open.ts";
import { keyCheck } from "../db/schema.ts";
import { keyCheckContext } from "../domain/seal-context.ts";
import { Refusal } from "./refusal.ts";

const CHECK_TEXT = "this key is the one it was";

/** Keyrings this isolate has checked against the database: keys do not change while it lives. */
const checked = new WeakSet<Keyring>();

/** What `load` makes of a Worker secret. @throws Refusal keyring-unavailable, naming the secret and what is wrong */
export const usable = <T>(name: string, load: () => T): T => {
  try {
    return load();
  } catch (error) {
    if (!(error instanceof KeysUnusable)) throw error;
    throw new Refusal("keyring-unavailable", `The Worker secret ${name} cannot be used: ${error.message}.`);
  }
};

/**
 * The keyring of this deployment, once each of its keys has opened what was sealed with the key of that id before:
 * a key that was mistyped or replaced under its old id must not seal anything.
 * @throws Refusal keyring-unavailable, naming the ids that are known
 */
export const checkedKeyring = async (db: Door, secret: string | undefined): Promise<Keyring> => {
  const keyring = usable("SECRETS_KEYS", () => loadKeyring(secret));
  if (checked.has(keyring)) return keyring;
  const all = db.sql.select().from(keyCheck);
  const [known] = await db.run(all);
  const fresh = keyring.ids.filter((id) => !known.some((row) => row.id === id));
  if (fresh.length > 0) {
    const rows = await Promise.all(fresh.map(async (id) => ({ id, sealed: await sealCheck(keyring, id) })));
    const [, stored] = await db.run(db.sql.insert(keyCheck).values(rows).onConflictDoNothing(), all);
    await verify(keyring, stored);
  } else await verify(keyring, known);
  checked.add(keyring);
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
      throw new Refusal(
        "keyring-unavailable",
        `The key ${id} in SECRETS_KEYS is not the one that was used under this id. Known ids: ${keyring.ids.join(", ")}.`,
      );
    }
  }
};
