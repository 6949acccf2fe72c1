import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { DatabaseSession } from "../../../src/db/session.ts";
import { poolName } from "../../../src/domain/durable-objects.ts";
import { ORGANIZATION_LIMITS } from "../../../src/protocol/organization.ts";
import type { ServiceMetrics } from "../../../src/protocol/service-metrics.ts";
import { NO_TOTALS } from "../../../src/queue/metrics/service-numbers.ts";
import { countRows } from "../../../src/services/upkeep/row-counts.ts";
import type { Upkeep } from "../../../src/services/upkeep/run.ts";
import { endTurn } from "../../../src/services/upkeep/upkeep.ts";
import { call } from "../../support/api.ts";
import { finishNewJob, newBuildSetup, pollOnce, triggerBuild } from "../../support/build-setup.ts";
import { poolStub } from "../../support/deployment.ts";
import { fakeObjects } from "../../support/objects-by-name.ts";
import { fails, to } from "../../support/platform/effects.ts";
import { newPlatform } from "../../support/platform/platform.ts";
import { OBJECT } from "../../support/platform/texts.ts";
import { queryPlan, recordStatements, type Statement } from "../../support/recording-database.ts";
import { count, DAY_MS, failures, forgetTurns, upkeep } from "./support.ts";

const MINUTE_MS = 60_000;
const operator = env.OPERATOR_TOKEN ?? "";
const read = async (): Promise<ServiceMetrics> =>
  (await call<ServiceMetrics>(operator, "GET", "/operator/metrics")).body;
const sampleOf = (text: string, name: string): number | undefined => {
  const line = text.split("\n").find((one) => one.startsWith(`${name}{`) || one.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.split(" ").at(-1));
};

describe("GET /operator/metrics", () => {
  it("answers before the first upkeep run, and says that it never ran", async () => {
    const { body, status } = await call<ServiceMetrics>(operator, "GET", "/operator/metrics");
    expect(status).toBe(200);
    expect(body).toMatchObject({ isUp: false, upkeep: { lastRunAt: null, ageSeconds: null }, builds: { ended: [] } });
  });

  it("has upkeep's figures from the pools of all organizations", async () => {
    const now = Date.now();
    const [one, other] = [await newBuildSetup(), await newBuildSetup()];
    await finishNewJob(one);
    await triggerBuild(one.admin, one.pipeline.id);
    await triggerBuild(other.admin, other.pipeline.id);
    expect((await pollOnce(other.agent)).status).toBe(200);
    await Promise.all([one, other].map(({ orgId }) => poolStub(orgId).flush()));
    await upkeep({}, now);
    const first = await read();
    expect(first).toMatchObject({
      isUp: true,
      upkeep: { setAside: [] },
      pools: { swept: 2, failed: 0, notable: [] },
      builds: {
        active: 2,
        waiting: 1,
        ended: [{ status: "succeeded", reason: null, count: 1 }],
        requeues: 0,
        handOuts: 2,
        offersIgnored: 0,
      },
      leasesLost: { expired: 0 },
      outbox: { deadLetters: {} },
      database: { isNearlyFull: false },
    });
    expect(first.organizations).toEqual(
      [one, other].map(({ orgId }, n) => ({
        orgId,
        buildsToday: 2 - n,
        buildsPerDay: ORGANIZATION_LIMITS.buildsPerDay,
      })),
    );
    expect(first.database.bytes).toBeGreaterThan(100_000);
    expect(first.database.rows.audit_log).toBeGreaterThan(0);
    expect(first.database.rows).toMatchObject({ job: 0, test_result: 0 });
    await call(other.admin, "DELETE", `/buildagent/${other.agent.id}`);
    await Promise.all([upkeep({}, now + 60_000), upkeep({}, now + 60_000)]);
    expect(await read()).toMatchObject({
      builds: { ended: [{ status: "succeeded", reason: null, count: 1 }], requeues: 1, waiting: 2 },
      leasesLost: { removed: 1 },
    });
  });

  it("reports the same to Prometheus", async () => {
    const answer = await call<string>(operator, "GET", "/operator/metrics", undefined, { Accept: "text/plain" });
    expect(answer.headers.get("Content-Type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect(sampleOf(answer.text, "millrace_up")).toBe(1);
    expect(sampleOf(answer.text, 'millrace_builds_ended_total{status="succeeded"')).toBeUndefined();
    expect(answer.text).toContain('millrace_builds_ended_total{status="succeeded",reason=""} 1\n');
    expect(answer.text).toContain('millrace_leases_lost_total{cause="removed"} 1\n');
    expect(sampleOf(answer.text, "millrace_database_nearly_full")).toBe(0);
  });

  it("counts a failing pool, and continues with the others", async () => {
    const { orgId } = await newBuildSetup();
    const later = Date.now() + 3_600_000;
    await env.DB.prepare("INSERT OR REPLACE INTO pool VALUES (?, 1, 1, 1, ?)").bind(orgId, later).run();
    newPlatform().trouble("AGENT_POOL", fails(OBJECT.lost), to(poolName(orgId)));
    await upkeep({}, later);
    const found = await read();
    expect(found.pools).toMatchObject({ failed: 1 });
    expect(found.pools.swept).toBeGreaterThan(0);
    expect(found.upkeep.setAside).toEqual([{ kind: "sweep", count: 1, mostTries: 1 }]);
  });
});

describe("the count of rows", () => {
  const countsRows = ({ sql }: Statement) => /^SELECT (count\(\*\) AS rows|.* OFFSET )|\(SELECT count/.test(sql);
  const tooSlow = recordStatements(env.DB, {
    push(...statements) {
      if (statements.some(countsRows)) throw new Error("D1_ERROR: D1 DB exceeded its CPU time limit and was reset.");
      return 0;
    },
  });

  it("delays nothing where the database is too slow for it", async () => {
    await forgetTurns();
    // The previous release counted in the sweep, and wrote this.
    await env.DB.exec(`UPDATE service_metric SET facts = json_set(facts, '$.rows', json('{"at":1,"tables":{}}'))`);
    const later = Date.now() + 2 * DAY_MS;
    await upkeep({ DB: tooSlow }, later);
    expect((await read()).upkeep).toEqual({
      ...{ lastRunAt: new Date(later).toISOString(), ageSeconds: 0 },
      setAside: [{ kind: "chore", count: 1, mostTries: 1 }],
    });
    expect(await failures()).toMatchObject([{ subject: "countRows" }]);
  });

  const fill = (table: string, columns: string, rows: number) =>
    env.DB.prepare(`INSERT INTO ${table} WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n LIMIT ${rows})
      SELECT ${columns} FROM n`).run();

  it("takes as many runs as it needs, over ranges of keys, and shows the last full count meanwhile", async () => {
    await forgetTurns();
    await fill("audit_log", "'o' || n % 7, 'id' || n, '', '', '', '', NULL, '{}'", 20_000);
    await fill("variable_day", "'v' || n % 7, 'day' || n, '', '', ''", 130_000);
    const statements: Statement[] = [];
    const turn = { place: "", goesOn: false };
    /** Continues the count. @returns the rows that D1 read for it */
    const goOn = async (now: number): Promise<number> => {
      const db = new DatabaseSession(recordStatements(env.DB, statements), "first-primary");
      turn.goesOn = false;
      await countRows({ db, now, turn } as Upkeep);
      await endTurn(new DatabaseSession(env.DB, "first-primary"), now, { name: "countRows", everyMinutes: 1440 }, turn);
      return db.tally.rowsRead;
    };
    const countAll = async (now: number) => {
      const rowsRead = [await goOn(now)];
      const { database } = await read();
      while (turn.goesOn) rowsRead.push(await goOn(now));
      return { rowsRead, meanwhile: database.rows.variable_day };
    };
    const first = await countAll(1);
    expect(first.meanwhile).toBeUndefined();
    await env.DB.exec("DELETE FROM variable_day WHERE day >= 'day9'");
    expect((await read()).database).toMatchObject({
      rowsCountedAt: new Date(1).toISOString(),
      rows: { variable_day: 130_000 },
    });
    const second = await countAll(2);
    const { database } = await read();
    const tables = "build_summary job test_result audit_log variable_day".split(" ");
    const counts = await Promise.all(tables.map(async (table) => [table, await count(table)]));
    expect(database).toMatchObject({ rowsCountedAt: new Date(2).toISOString(), rows: Object.fromEntries(counts) });
    expect(second.meanwhile).toBe(130_000);
    for (const { rowsRead } of [first, second]) {
      expect(rowsRead).toHaveLength(2);
      expect(Math.max(...rowsRead)).toBeLessThan(2 * 100_000);
    }
    for (const statement of statements) {
      for (const step of await queryPlan(env.DB, statement))
        expect(step).toMatch(/^SEARCH \w+ USING (PRIMARY KEY|COVERING INDEX) .*>/);
    }
  });
});

describe("sweeping many pools", () => {
  /** Creates pools that answer. `runs` lists the swept pools for each run. */
  const answering = () => {
    const runs: string[][] = [];
    const none = {
      storedBytes: 0,
      buildsToday: 0,
      waiting: 0,
      oldestWaitSeconds: 0,
      outboxSeconds: 0,
      outboxFailures: 0,
      deadLetters: 0,
    };
    const events = { ended: [], leasesLost: NO_TOTALS.leasesLost, requeues: 0, handOuts: 0, offersIgnored: 0 };
    const AGENT_POOL = fakeObjects<Env["AGENT_POOL"]>((name) => ({
      sweep: async () => {
        runs.at(-1)?.push(name);
        return { ...none, ...events, databaseBytes: 4096, active: name.includes("busy") ? 1 : 0 };
      },
    }));
    return { runs, AGENT_POOL };
  };

  it("reaches quiet pools too, at most 250 in a run, and adds up busy ones once", async () => {
    const now = Math.ceil(Date.now() / (15 * MINUTE_MS)) * 15 * MINUTE_MS + 10 * DAY_MS;
    const pools = (kind: string, count: number, active: number, at: number) =>
      env.DB.prepare("INSERT INTO pool SELECT ?1 || key, 0, 0, ?2, ?3 FROM json_each(?4)")
        .bind(kind, active, at, JSON.stringify(Array(count).fill(0)))
        .run();
    await env.DB.exec("DELETE FROM pool; DELETE FROM upkeep_failure");
    await pools("busy", 220, 1, now);
    await pools("quiet", 700, 0, now - 3_600_000);
    const { runs, AGENT_POOL } = answering();
    const actives: number[] = [];
    for (const minute of [0, 1, 2, 3, 4, 6, 15, 16, 17, 18, 19, 21]) {
      runs.push([]);
      await upkeep({ AGENT_POOL }, now + minute * MINUTE_MS);
      actives.push((await read()).builds.active);
    }
    const asked = (kind: string) => runs.map((run) => run.filter((name) => name.includes(kind)).length);
    expect(asked("busy")).toEqual([200, 20, 200, 20, 200, 20, 200, 20, 200, 20, 200, 20]);
    expect(asked("quiet")).toEqual([50, 230, 50, 230, 50, 90, 50, 230, 50, 230, 50, 90]);
    expect(new Set(runs.slice(0, 6).flat()).size).toBe(920);
    expect(actives.slice(1)).toEqual(Array(11).fill(220));
  });
});
