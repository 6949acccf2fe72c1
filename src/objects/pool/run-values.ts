import { type Keyring, KeyUnknown, keyIdSql, SealBroken } from "../../crypto/keyring.ts";
import { inputsContext } from "../../domain/seal-context.ts";

const INPUTS = "json_extract(facts, '$.inputs')";
const KEY_ID = keyIdSql(INPUTS);
const SEALED = `${INPUTS} IS NOT NULL`;

/** Rows read at a time. */
const PAGE = 50;

/** Counts the stored run values by the id of the key that sealed them. */
export const countRunValues = (sql: SqlStorage): Record<string, number> => {
  const rows = sql.exec<{ id: string; count: number }>(
    `SELECT ${KEY_ID} AS id, count(*) AS count FROM inputs WHERE ${SEALED} GROUP BY id`,
  );
  return Object.fromEntries([...rows].map(({ id, count }) => [id, count]));
};

/** Seals the values of up to `limit` runs again under the current key. Leaves and names those that no key opens. */
export const rewrapRunValues = async (
  sql: SqlStorage,
  keyring: Keyring,
  orgId: string,
  limit: number,
): Promise<{ rewrapped: number; unopenable: string[] }> => {
  const unopenable: string[] = [];
  let rewrapped = 0;
  for (let after = 0; rewrapped < limit; ) {
    const rows = sql
      .exec<{ row: number; build_id: string; facts: string }>(
        `SELECT rowid AS row, build_id, facts FROM inputs
         WHERE rowid > ? AND ${SEALED} AND ${KEY_ID} <> ? ORDER BY rowid LIMIT ?`,
        after,
        keyring.current,
        Math.min(PAGE, limit - rewrapped),
      )
      .toArray();
    if (rows.length === 0) break;
    after = rows.at(-1)?.row ?? 0;
    for (const { build_id: buildId, facts } of rows) {
      const row = JSON.parse(facts) as { inputs: string };
      const context = inputsContext(orgId, buildId);
      try {
        const inputs = await keyring.seal(await keyring.open(row.inputs, context), context);
        const next = JSON.stringify({ ...row, inputs });
        sql.exec("UPDATE inputs SET facts = ? WHERE build_id = ? AND facts = ?", next, buildId, facts);
        rewrapped += 1;
      } catch (error) {
        if (!(error instanceof KeyUnknown || error instanceof SealBroken)) throw error;
        unopenable.push(buildId);
      }
    }
  }
  return { rewrapped, unopenable };
};
