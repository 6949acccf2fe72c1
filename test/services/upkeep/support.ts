import { env } from "cloudflare:workers";
import { keepUp } from "../../../src/services/upkeep/upkeep.ts";

export const DAY_MS = 86_400_000;
export const NOW = Date.UTC(2026, 10, 22, 5, 7);
const RETENTION = { buildDays: 90, auditDays: 400 };

export const upkeep = (change: Partial<Env> = {}, now = NOW) =>
  keepUp({ ...env, ...change } as Env, new Date(now), RETENTION);

export const count = async (table: string, where = "1"): Promise<number> => {
  const row = await env.DB.prepare(`SELECT count(*) AS count FROM ${table} WHERE ${where}`).first<{ count: number }>();
  return row?.count ?? 0;
};

/** Makes every chore due, as if upkeep had never run. */
export const forgetTurns = () => env.DB.exec("DELETE FROM upkeep_failure WHERE kind = 'turn'");

export const failures = async () =>
  (await env.DB.prepare("SELECT * FROM upkeep_failure WHERE kind <> 'turn' ORDER BY kind, subject").all()).results;
