import * as z from "zod/mini";
import { settingProblems } from "../../config.ts";
import { loadMint } from "../../crypto/token.ts";
import { sharedDatabase } from "../../db/database-of.ts";
import { checkMigrations, DatabaseSession, MigrationsMissing } from "../../db/session.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { ObjectStubs } from "../core/object-stubs.ts";
import { Refusal } from "../core/refusal.ts";
import { checkedKeyring, usable } from "../core/sealing.ts";

/** One dependency of the service. `detail` describes its fault, without quoting a secret. */
const Check = z.object({ isOk: z.boolean(), detail: z.optional(z.string()) });
type Check = z.infer<typeof Check>;

export const Readiness = z.object({
  isReady: z.boolean(),
  checks: z.object({
    settings: Check,
    operatorToken: Check,
    tokenKeys: Check,
    secretsKeys: Check,
    database: Check,
    migrations: Check,
    objects: Check,
    archive: Check,
  }),
});
export type Readiness = z.infer<typeof Readiness>;

/** A slug that no organization can have. The objects with this name hold nothing. */
const NO_ORG = "-";

/** Describes a part's fault. The text has no secret, and no message from a database or parser. */
const describeFailure = (error: unknown, otherwise: string): string => {
  if (error instanceof Refusal) return error.message;
  if (error instanceof MigrationsMissing) return `These migrations are not applied: ${error.missing.join(", ")}.`;
  return otherwise;
};

const check = async (otherwise: string, work: () => unknown): Promise<Check> => {
  try {
    await work();
    return { isOk: true };
  } catch (error) {
    return { isOk: false, detail: describeFailure(error, otherwise) };
  }
};

const checkSettings = (env: Env): void => {
  const problems = settingProblems(env);
  if (problems.length > 0) throw new Refusal("unavailable", problems.join(" "));
};

const checkOperatorToken = (token: string | undefined): void => {
  if (!token) throw new Refusal("unavailable", "The Worker secret OPERATOR_TOKEN is not set.");
  if (token.length >= LIMITS.operatorTokenCharacters) return;
  throw new Refusal(
    "unavailable",
    `The Worker secret OPERATOR_TOKEN has fewer than ${LIMITS.operatorTokenCharacters} characters.`,
  );
};

const checkObjects = async (env: Env): Promise<void> => {
  // Any cheap call is enough. `touch()` can replace listAgents once every deployed pool has it.
  const objects = new ObjectStubs(env);
  await Promise.all([objects.pool(NO_ORG).listAgents(), objects.log(NO_ORG, NO_ORG).sealedWith()]);
};

/** Reports whether every part that the service needs is usable. Names the unusable parts, and quotes no secret. */
export const readiness = async (env: Env): Promise<Readiness> => {
  const [settings, operatorToken, tokenKeys, secretsKeys, database, migrations, objects, archive] = await Promise.all([
    check("A setting is missing or wrong.", () => checkSettings(env)),
    check("The secret cannot be used.", () => checkOperatorToken(env.OPERATOR_TOKEN)),
    check("The secret cannot be used.", () => usable("TOKEN_KEYS", () => loadMint(env.TOKEN_KEYS))),
    check("The keys could not be compared with the database.", () =>
      checkedKeyring(new DatabaseSession(sharedDatabase(env), "first-primary"), env.SECRETS_KEYS),
    ),
    check("The database does not answer.", () => sharedDatabase(env).prepare("SELECT 1").run()),
    check("The database does not say which migrations it has.", () => checkMigrations(sharedDatabase(env))),
    check("The Durable Objects do not answer.", () => checkObjects(env)),
    check("The R2 bucket is not bound or does not answer.", () => env.ARCHIVE.head("-")),
  ]);
  const checks = { settings, operatorToken, tokenKeys, secretsKeys, database, migrations, objects, archive };
  return { isReady: Object.values(checks).every(({ isOk }) => isOk), checks };
};
