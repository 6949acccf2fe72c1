import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { poolStub } from "./deployment.ts";

const POOL = ["agent", "build", "report", "inputs", "number", "idempotency", "audit_outbox", "log_outbox"];

const tables = async (): Promise<string[]> => {
  const named = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_%' ESCAPE '\\'";
  const { results } = await env.DB.prepare(`${named} AND name NOT LIKE 'sqlite%'`).all<{ name: string }>();
  return results.map(({ name }) => name);
};

/** Returns every row in D1 and in the pools of these organizations as text, without the time of a token's last use. */
export const storedRows = async (...orgIds: string[]): Promise<string> => {
  const inD1 = await env.DB.batch((await tables()).map((name) => env.DB.prepare(`SELECT * FROM ${name}`)));
  const pools = orgIds.map((orgId) =>
    runInDurableObject(poolStub(orgId), (_, { storage: { sql } }) =>
      POOL.map((table) => sql.exec(`SELECT * FROM ${table}`).toArray()),
    ),
  );
  const withoutLastUse = (key: string, value: unknown) => (key === "last_used_at" ? null : value);
  return JSON.stringify([inD1.map(({ results }) => results), await Promise.all(pools)], withoutLastUse);
};
