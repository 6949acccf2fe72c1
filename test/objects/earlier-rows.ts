import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { vi } from "vitest";
import { actor, type Pool, poolOf, value } from "./pool/support.ts";

const FEATURES = ["environment" as const, "jobs" as const, "untrusted" as const];
const SECOND_MS = 1_000;

interface Speaker {
  agentId: string;
  tokenHash: string;
}

type Row = Record<string, string | number | null>;
type Tables = Record<string, Row[]>;

/** A pool from an earlier release, and that release's answers: about the rows as they were, and after `goOn`. */
export interface EarlierPool {
  orgId: string;
  /** The time of writing, in milliseconds since 1970. */
  at: number;
  tables: Tables;
  /** D1's rows about the pool. */
  d1: Tables;
  speakers: Speaker[];
  /** Started leases, and how their agents end them. */
  leases: (Speaker & { jobId: string; fence: number; status: "succeeded" | "canceled"; exitCode: number | null })[];
  ids: { builds: string[]; jobs: string[] };
  before: Answers;
  after: Answers;
}

type Answers = Awaited<ReturnType<typeof readAll>>;

const insert = (table: string, row: Row): [query: string, ...values: Row[string][]] => {
  const columns = Object.keys(row);
  const places = columns.map(() => "?").join(", ");
  return [
    `INSERT INTO ${table} (${columns.map((name) => `"${name}"`).join(", ")}) VALUES (${places})`,
    ...Object.values(row),
  ];
};

const rowsIn = (tables: Tables) =>
  Object.entries(tables).flatMap(([table, rows]) => rows.map((row) => insert(table, row)));

/** Creates the pool as the release left it; this release reads it at the next wake-up. */
export const leftBehind = async ({ orgId, tables, d1 }: EarlierPool): Promise<Pool> => {
  const pool = poolOf(orgId);
  await env.DB.batch(rowsIn(d1).map(([query, ...values]) => env.DB.prepare(query).bind(...values)));
  await runInDurableObject(pool, (_object, { storage: { sql } }) => {
    for (const [query, ...values] of rowsIn(tables)) sql.exec(query, ...values);
  });
  return pool;
};

const listsOf = async (buildIds: string[]) => {
  const query =
    "SELECT id, status, finished_at, jobs FROM build_summary WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id";
  return (await env.DB.prepare(query).bind(JSON.stringify(buildIds)).all()).results;
};

/** Returns the readers' view of these builds and jobs. */
export const readAll = async (pool: Pool, { speakers, ids }: Pick<EarlierPool, "speakers" | "ids">) => {
  const read = async (names: string[], one: (id: string) => Promise<unknown>): Promise<Record<string, unknown>> =>
    Object.fromEntries(await Promise.all(names.map(async (id) => [id, await one(id)] as const)));
  const all = [...ids.builds, ...ids.jobs];
  const seen = {
    builds: await read(ids.builds, (id) => pool.getBuild(id)),
    values: await read(ids.builds, (id) => pool.inputsOf(id)),
    summaries: await read(ids.builds, (id) => pool.summaryOf(id)),
    reasons: await read(all, (id) => pool.explain(id)),
    jobs: await read(ids.jobs, (id) => pool.getJob(id)),
    artifacts: await read(all, (id) => pool.artifactsOf(id)),
    tests: await read(all, (id) => pool.testsOf(id)),
    live: (await pool.liveBuilds()).map(({ id, status, waitsFor, jobCounts }) => ({ id, status, waitsFor, jobCounts })),
    runs: await pool.runs(speakers.map(({ agentId }) => agentId)),
    counts: await pool.now("admin"),
    agents: (await pool.listAgents()).map(({ id, status, currentBuildId }) => ({ id, status, currentBuildId })),
    lists: await listsOf(ids.builds),
  };
  return JSON.parse(JSON.stringify(seen)) as typeof seen;
};

/** Rounds of `goOn` that evict the object, so that its new rows mix with rows from the earlier release. */
const EVICTED = 3;

/** Ends the leases, approves jobs at gates, and runs the rest. */
export const goOn = async (pool: Pool, { speakers, leases, ids, at }: EarlierPool): Promise<void> => {
  let now = at;
  const next = () => {
    now += SECOND_MS;
    vi.setSystemTime(now);
  };
  for (const { status, exitCode, ...holder } of leases) {
    next();
    value(await pool.progress({ ...holder, summary: "further" }));
    await evictDurableObject(pool);
    value(await pool.finish({ ...holder, status, exitCode, outputs: { of: "lease" } }));
  }
  for (let rounds = 0; rounds < 20; rounds++) {
    for (const id of ids.builds) {
      for (const { jobId } of value(await pool.getBuild(id)).waitsFor) {
        next();
        value(await pool.decideGate({ id: jobId, approved: true, comment: null, role: "admin", name: "Ada", actor }));
        await evictDurableObject(pool);
      }
    }
    for (const speaker of speakers) {
      next();
      const grant = value(await pool.claim({ ...speaker, bootId: "b1", features: FEATURES }));
      if (!grant) continue;
      const holder = { ...speaker, jobId: grant.jobId, fence: grant.fence };
      value(await pool.deliver({ ...holder, environment: [] }));
      value(await pool.start(holder));
      if (rounds < EVICTED) await evictDurableObject(pool);
      value(await pool.finish({ ...holder, status: "succeeded", exitCode: 0, outputs: { n: String(rounds) } }));
    }
  }
  for (let times = 0; times < 3; times++) await pool.flush();
};
