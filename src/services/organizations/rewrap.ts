import { and, asc, eq, gt, isNotNull, notLike, type SQL, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { type Keyring, KeyUnknown, keyIdSql, SealBroken, sealPrefix } from "../../crypto/keyring.ts";
import type { Query } from "../../db/query.ts";
import { connection, credential, repository, schedule, variable } from "../../db/schema.ts";
import { connectionContext, credentialContext, scheduleContext, variableContext } from "../../domain/seal-context.ts";
import { Rewrap, Rewrapped, SealedCounts, SealedFilter } from "../../protocol/operator.ts";
import { auditRow } from "../core/commit.ts";
import type { Context } from "../core/context.ts";
import { verb } from "../core/verb.ts";
import { addCounts, keepRound, type ObjectCounts, openRound, roundAfter, walkObjects } from "./rewrap-objects.ts";

/** The number of rows in one round trip. With the largest values, they have about 6 MB. */
const PAGE = 50;

type Kind = "variables" | "credentials" | "connections" | "inputs" | "logs";

/** The id of the key that sealed a row, in a query of one table. */
const KEY_ID = sql.raw(keyIdSql("sealed")) as SQL<string>;

/** The sealed text of a schedule's values. */
const SCHEDULED = sql<string>`json_extract(${schedule.envVariables}, '$.sealed')`;
const SCHEDULED_KEY_ID = sql.raw(keyIdSql("json_extract(env_variables, '$.sealed')")) as SQL<string>;

/** Counts the tables' current values, and adds the objects' counts. */
const countAll = async (
  context: Context,
  keyring: Keyring,
  objects: ObjectCounts | Promise<ObjectCounts>,
): Promise<SealedCounts["byKeyId"]> => {
  const { sql: db } = context.db;
  const count = sql<number>`count(*)`.as("count");
  const countsIn = (table: SQLiteTable, keyId: SQL<string>, isSealed?: SQL) =>
    db
      .select({ id: keyId.as("key_id"), count })
      .from(table)
      .where(isSealed)
      .groupBy(sql`key_id`);
  const tables = context.db.run(
    countsIn(variable, KEY_ID, isNotNull(variable.sealed)),
    countsIn(credential, KEY_ID),
    countsIn(connection, KEY_ID, isNotNull(connection.sealed)),
    countsIn(schedule, SCHEDULED_KEY_ID, isNotNull(schedule.envVariables)),
  );
  const [[variables, credentials, connections, scheduled], objectCounts] = await Promise.all([tables, objects]);
  const byKeyId: SealedCounts["byKeyId"] = {};
  const add = (id: string, kind: Kind, more: number) => {
    byKeyId[id] ??= { variables: 0, credentials: 0, connections: 0, inputs: 0, logs: 0 };
    byKeyId[id][kind] += more;
  };
  add(keyring.current, "variables", 0);
  for (const row of [...variables, ...scheduled]) add(row.id, "variables", row.count);
  for (const row of credentials) add(row.id, "credentials", row.count);
  for (const row of connections) add(row.id, "connections", row.count);
  for (const [keyId, { inputs, logs }] of Object.entries(objectCounts)) {
    add(keyId, "inputs", inputs);
    add(keyId, "logs", logs);
  }
  return byKeyId;
};

const isUnderCurrentKey = (keyring: Keyring, byKeyId: SealedCounts["byKeyId"]): boolean =>
  Object.keys(byKeyId).every((id) => id === keyring.current);

interface Progress {
  rewrapped: number;
  unopenable: string[];
}

/** Reseals a value with the current key; returns null if no known key opens it. */
const reseal = async (keyring: Keyring, sealed: string, place: string[]): Promise<string | null> => {
  try {
    return await keyring.seal(await keyring.open(sealed, place), place);
  } catch (error) {
    if (error instanceof KeyUnknown || error instanceof SealBroken) return null;
    throw error;
  }
};

/** A row in D1 that an older key sealed. `replace` changes nothing if somebody changed the value meanwhile. */
interface SealedRow {
  id: string;
  orgId: string;
  sealed: string;
  place: string[];
  replace(sealed: string): Query;
}
type Table = (context: Context, current: string, after: string, limit: number) => Promise<SealedRow[]>;

const isOld = (column: typeof variable.sealed | typeof credential.sealed | typeof connection.sealed, current: string) =>
  notLike(column, `${sealPrefix(current)}%`);

/** Selects the old rows of a table that seals one value in each row, in a column. */
const oldRows =
  <T extends typeof variable | typeof connection>(table: T, placeOf: (row: T["$inferSelect"]) => string[]): Table =>
  async ({ db }, current, after, limit) => {
    const old = and(isOld(table.sealed, current), gt(table.id, after));
    const [rows] = await db.run(db.sql.select().from(table).where(old).orderBy(asc(table.id)).limit(limit));
    return rows.map((row) => {
      const before = row.sealed ?? "";
      const same = and(eq(table.id, row.id), eq(table.sealed, before));
      const replace = (sealed: string) =>
        db.sql
          .update(table)
          .set({ sealed } as never)
          .where(same)
          .returning({ id: table.id });
      return { id: row.id, orgId: row.orgId, sealed: before, place: placeOf(row as T["$inferSelect"]), replace };
    });
  };

const oldVariables = oldRows(variable, variableContext);
const oldConnections = oldRows(connection, connectionContext);

const oldCredentials: Table = async ({ db }, current, after, limit) => {
  const old = and(isOld(credential.sealed, current), gt(credential.repoId, after));
  const [rows] = await db.run(
    db.sql
      .select({ credential, cloneUrl: repository.cloneUrl })
      .from(credential)
      .innerJoin(repository, eq(repository.id, credential.repoId))
      .where(old)
      .orderBy(asc(credential.repoId))
      .limit(limit),
  );
  return rows.map(({ credential: row, cloneUrl }) => {
    const same = and(eq(credential.repoId, row.repoId), eq(credential.sealed, row.sealed));
    const replace = (sealed: string) =>
      db.sql.update(credential).set({ sealed }).where(same).returning({ id: credential.repoId });
    return { id: row.repoId, orgId: row.orgId, sealed: row.sealed, place: credentialContext(row, cloneUrl), replace };
  });
};

const oldSchedules: Table = async ({ db }, current, after, limit) => {
  const old = and(notLike(SCHEDULED, `${sealPrefix(current)}%`), gt(schedule.id, after));
  const [rows] = await db.run(db.sql.select().from(schedule).where(old).orderBy(asc(schedule.id)).limit(limit));
  return rows.flatMap((row) => {
    const { envVariables: before } = row;
    if (before === null) return [];
    const same = and(eq(schedule.id, row.id), eq(SCHEDULED, before.sealed));
    const replace = (sealed: string) =>
      db.sql
        .update(schedule)
        .set({ envVariables: { ...before, sealed } })
        .where(same)
        .returning({ id: schedule.id });
    return [{ id: row.id, orgId: row.orgId, sealed: before.sealed, place: scheduleContext(row), replace }];
  });
};

/** Reseals a table's rows, page by page, and skips rows that no key opens. A page commits with its audit rows. */
const rewrapTable = async (context: Context, keyring: Keyring, table: Table, limit: number): Promise<Progress> => {
  const done: Progress = { rewrapped: 0, unopenable: [] };
  for (let after = ""; done.rewrapped < limit; ) {
    const room = limit - done.rewrapped;
    const rows = await table(context, keyring.current, after, Math.min(PAGE, room + done.unopenable.length));
    after = rows.at(-1)?.id ?? "";
    if (after === "") break;
    const resealed = await Promise.all(
      rows.map(async (row) => ({ ...row, fresh: await reseal(keyring, row.sealed, row.place) })),
    );
    done.unopenable.push(...resealed.filter(({ fresh }) => fresh === null).map(({ id }) => id));
    const opened = resealed.filter(({ fresh }) => fresh !== null).slice(0, room);
    const writes = opened.map(({ fresh, replace }) => replace(fresh ?? ""));
    const results = await context.db.run(...writes, ...auditRows(context, keyring, opened));
    done.rewrapped += results.slice(0, writes.length).reduce((sum, ids) => sum + (ids as unknown[]).length, 0);
  }
  return done;
};

/** Creates one audit row for each organization with resealed values. */
const auditRows = (context: Context, { current: keyId }: Keyring, rows: SealedRow[]): Query[] =>
  [...Map.groupBy(rows, ({ orgId }) => orgId)].map(([orgId, { length: count }]) =>
    auditRow(context, { action: "secrets.rewrap", subject: orgId, orgId, detail: { keyId, count } }),
  );

export const countSealed = verb({
  access: { operator: true },
  query: SealedFilter,
  output: SealedCounts,
  async run(context, { query }) {
    await context.admit();
    const keyring = await context.keys.keyring();
    const from = query.after ?? "";
    const walking = walkObjects(context, keyring.current, from, 0);
    const counting = countAll(
      context,
      keyring,
      walking.then(({ counts }) => counts),
    );
    const [{ after }, byKeyId] = await Promise.all([walking, counting]);
    const isComplete = from === "" && after === null && isUnderCurrentKey(keyring, byKeyId);
    return { currentKeyId: keyring.current, knownKeyIds: [...keyring.ids], byKeyId, isComplete, after };
  },
});

/**
 * Reseals one batch with the current key. An operator can stop it at any point, repeat it, and run it alongside
 * changes.
 */
export const rewrap = verb({
  access: { operator: true },
  body: Rewrap,
  output: Rewrapped,
  async run(context, { body }) {
    await context.admit();
    const keyring = await context.keys.keyring();
    const parts: Progress[] = [];
    const rest = () => parts.reduce((room, { rewrapped }) => room - rewrapped, body.limit);
    for (const table of [oldVariables, oldCredentials, oldConnections, oldSchedules]) {
      parts.push(await rewrapTable(context, keyring, table, rest()));
    }
    const { round, text } = await openRound(context, keyring.current);
    const walk = await walkObjects(context, keyring.current, round.after, rest());
    parts.push(walk);
    const next = roundAfter(round, walk);
    const isKept = await keepRound(context, text, next);
    const objects = structuredClone(round.counts);
    addCounts(objects, walk.counts);
    const byKeyId = await countAll(context, keyring, objects);
    return {
      currentKeyId: keyring.current,
      knownKeyIds: [...keyring.ids],
      byKeyId,
      isComplete: isKept && next === null && !round.hasSealed && isUnderCurrentKey(keyring, byKeyId),
      after: next?.after ?? null,
      rewrapped: body.limit - rest(),
      unopenable: parts.flatMap(({ unopenable }) => unopenable),
    };
  },
});
