import { and, asc, eq, isNotNull, notLike, sql } from "drizzle-orm";
import { type Keyring, KeyUnknown, SealBroken } from "../crypto/keyring.ts";
import type { Query } from "../db/open.ts";
import { credential, organization, variable } from "../db/schema.ts";
import { credentialContext, variableContext } from "../domain/seal-context.ts";
import { LIVE } from "../protocol/build.ts";
import { Rewrap, Rewrapped, SealedCounts } from "../protocol/rewrap.ts";
import type { Context } from "./context.ts";
import { verb } from "./verb.ts";

type Kind = "variables" | "credentials" | "inputs" | "logs";

const keyIdIn = (column: typeof variable.sealed | typeof credential.sealed) =>
  sql<string>`substr(${column}, 4, instr(substr(${column}, 4), '.') - 1)`;

const countAll = async (context: Context): Promise<SealedCounts> => {
  const keyring = await context.keyring();
  const { sql: db } = context.db;
  const count = sql<number>`count(*)`;
  const [variables, credentials, orgs] = await context.db.run(
    db
      .select({ id: keyIdIn(variable.sealed).as("key_id"), count: count.as("count") })
      .from(variable)
      .where(isNotNull(variable.sealed))
      .groupBy(sql`key_id`),
    db
      .select({ id: keyIdIn(credential.sealed).as("key_id"), count: count.as("count") })
      .from(credential)
      .groupBy(sql`key_id`),
    db.select({ id: organization.id }).from(organization).orderBy(asc(organization.id)),
  );
  const byKeyId: SealedCounts["byKeyId"] = {};
  const add = (id: string, kind: Kind, more: number) => {
    byKeyId[id] ??= { variables: 0, credentials: 0, inputs: 0, logs: 0 };
    byKeyId[id][kind] += more;
  };
  add(keyring.current, "variables", 0);
  for (const row of variables) add(row.id, "variables", row.count);
  for (const row of credentials) add(row.id, "credentials", row.count);
  for (const { id } of orgs) {
    for (const [keyId, more] of Object.entries(await context.poolOf(id).sealedInputs())) add(keyId, "inputs", more);
    for (const keyId of await openLogKeys(context, id)) add(keyId, "logs", 1);
  }
  const isComplete = Object.keys(byKeyId).every((id) => id === keyring.current);
  return { currentKeyId: keyring.current, knownKeyIds: [...keyring.ids], byKeyId, isComplete };
};

/** Builds in an agent's hands: only their logs keep what they mask. */
const logsOpen = async (context: Context, orgId: string) =>
  (await context.poolOf(orgId).liveBuilds()).filter(({ status }) => LIVE.some((live) => live === status));

const openLogKeys = async (context: Context, orgId: string): Promise<string[]> => {
  const live = await logsOpen(context, orgId);
  const keys = await Promise.all(live.map(({ id }) => context.logOf(id, orgId).sealedWith()));
  return keys.filter((id) => id !== null);
};

interface Done {
  rewrapped: number;
  unopenable: string[];
}

/** Opens and seals one value; `null` where no known key opens it. */
const reseal = async (keyring: Keyring, sealed: string, place: string[]): Promise<string | null> => {
  try {
    return await keyring.seal(await keyring.open(sealed, place), place);
  } catch (error) {
    if (error instanceof KeyUnknown || error instanceof SealBroken) return null;
    throw error;
  }
};

/** Rows of D1: each is written only if it is still what was read, so that a change made meanwhile wins. */
const rewrapRows = async (context: Context, keyring: Keyring, limit: number): Promise<Done> => {
  const { sql: db } = context.db;
  const isOld = (column: typeof variable.sealed | typeof credential.sealed) =>
    notLike(column, `m1.${keyring.current}.%`);
  const [variables, credentials] = await context.db.run(
    db
      .select()
      .from(variable)
      .where(and(isNotNull(variable.sealed), isOld(variable.sealed)))
      .limit(limit),
    db.select().from(credential).where(isOld(credential.sealed)).limit(limit),
  );
  const unopenable: string[] = [];
  const writes: Query[] = [];
  for (const row of variables) {
    const sealed = await reseal(keyring, row.sealed ?? "", variableContext(row));
    const same = and(eq(variable.id, row.id), eq(variable.sealed, row.sealed ?? ""));
    if (sealed === null) unopenable.push(row.id);
    else writes.push(db.update(variable).set({ sealed }).where(same));
  }
  for (const row of credentials) {
    const sealed = await reseal(keyring, row.sealed, credentialContext(row));
    const same = and(eq(credential.repoId, row.repoId), eq(credential.sealed, row.sealed));
    if (sealed === null) unopenable.push(row.repoId);
    else writes.push(db.update(credential).set({ sealed }).where(same));
  }
  await context.db.run(...writes);
  return { rewrapped: writes.length, unopenable };
};

/** What the objects keep sealed: runs' values, and what open logs are masked with. */
const rewrapObjects = async (context: Context, limit: number): Promise<Done> => {
  const { sql: db } = context.db;
  const [orgs] = await context.db.run(
    db.select({ id: organization.id }).from(organization).orderBy(asc(organization.id)),
  );
  const unopenable: string[] = [];
  let rewrapped = 0;
  for (const { id: orgId } of orgs) {
    if (rewrapped >= limit) break;
    const inputs = await context.poolOf(orgId).rewrapInputs(orgId, limit - rewrapped);
    unopenable.push(...inputs.unopenable);
    rewrapped += inputs.rewrapped;
    for (const { id } of await logsOpen(context, orgId)) {
      const log = await context.logOf(id, orgId).rewrap();
      if (!log.ok) unopenable.push(id);
      else if (log.value.isChanged) rewrapped += 1;
    }
  }
  return { rewrapped, unopenable };
};

export const readSealed = verb({
  access: { operator: true },
  output: SealedCounts,
  async run(context) {
    await context.admit();
    return countAll(context);
  },
});

/** Seals one batch anew with the current key. Safe to stop at any point, to repeat, and to run beside changes. */
export const rewrap = verb({
  access: { operator: true },
  body: Rewrap,
  output: Rewrapped,
  async run(context, { body }) {
    await context.admit();
    const keyring = await context.keyring();
    const rows = await rewrapRows(context, keyring, body.limit);
    const rest = Math.max(0, body.limit - rows.rewrapped);
    const objects = rest > 0 ? await rewrapObjects(context, rest) : { rewrapped: 0, unopenable: [] };
    return {
      ...(await countAll(context)),
      rewrapped: rows.rewrapped + objects.rewrapped,
      unopenable: [...rows.unopenable, ...objects.unopenable],
    };
  },
});
