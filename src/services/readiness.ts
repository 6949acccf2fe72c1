import { $ZodError } from "zod/v4/core";
import { readConfig } from "../config.ts";
import { loadMint } from "../crypto/token.ts";
import { checkMigrations, MigrationsMissing } from "../db/migrations.ts";
import { DatabaseSession } from "../db/session.ts";
import { buildLogName, poolName } from "../domain/object-names.ts";
import { LIMITS } from "../protocol/limits.ts";
import type { Check, Readiness } from "../protocol/readiness.ts";
import { Refusal } from "./core/refusal.ts";
import { checkedKeyring, usable } from "./core/sealing.ts";

/** No organization has this slug, so the objects of that name belong to nobody. */
const NOBODY = "-";

/** What a part says of itself: nothing secret, and no text of a database or parser. */
const told = (error: unknown, otherwise: string): string => {
  if (error instanceof Refusal) return error.message;
  if (error instanceof MigrationsMissing) return `These are not applied: ${error.missing.join(", ")}.`;
  if (error instanceof $ZodError)
    return error.issues.map(({ path }) => `${path.join(".")} is missing or wrong`).join(", ");
  return otherwise;
};

const check = async (otherwise: string, work: () => unknown): Promise<Check> => {
  try {
    await work();
    return { isOk: true };
  } catch (error) {
    return { isOk: false, detail: told(error, otherwise) };
  }
};

const checkOperatorToken = (token: string | undefined): void => {
  if (!token) throw new Refusal("unavailable", "The Worker secret OPERATOR_TOKEN is not set.");
  if (token.length >= LIMITS.operatorTokenCharacters) return;
  throw new Refusal(
    "unavailable",
    `The Worker secret OPERATOR_TOKEN has less than ${LIMITS.operatorTokenCharacters} characters.`,
  );
};

const checkObjects = async (env: Env): Promise<void> => {
  await Promise.all([
    env.AGENT_POOL.getByName(poolName(NOBODY)).listAgents(),
    env.BUILD_LOG.getByName(buildLogName(NOBODY, NOBODY)).sealedWith(),
  ]);
};

/** Whether everything the service needs is there and usable. Names what is not, and quotes nothing of it. */
export const readiness = async (env: Env): Promise<Readiness> => {
  const [settings, operatorToken, tokenKeys, secretsKeys, database, migrations, objects] = await Promise.all([
    check("A setting is missing or wrong.", () => readConfig(env)),
    check("It cannot be used.", () => checkOperatorToken(env.OPERATOR_TOKEN)),
    check("It cannot be used.", () => usable("TOKEN_KEYS", () => loadMint(env.TOKEN_KEYS))),
    check("It could not be compared with the database.", () =>
      checkedKeyring(new DatabaseSession(env.DB, "first-primary"), env.SECRETS_KEYS),
    ),
    check("The database does not answer.", () => env.DB.prepare("SELECT 1").run()),
    check("The database does not say which migrations it has.", () => checkMigrations(env.DB)),
    check("The Durable Objects do not answer.", () => checkObjects(env)),
  ]);
  const checks = { settings, operatorToken, tokenKeys, secretsKeys, database, migrations, objects };
  return { isReady: Object.values(checks).every(({ isOk }) => isOk), checks };
};
