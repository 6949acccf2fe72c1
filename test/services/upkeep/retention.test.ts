import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { logKey, recordKey } from "../../../src/archive/keys.ts";
import { poolName } from "../../../src/domain/durable-objects.ts";
import { writeOldRows } from "../../support/old-rows.ts";
import { fails, to } from "../../support/platform/effects.ts";
import { newPlatform } from "../../support/platform/platform.ts";
import { OBJECT, R2 } from "../../support/platform/texts.ts";
import { count, DAY_MS, failures, forgetTurns, NOW, upkeep } from "./support.ts";

const TABLES = ["build_summary", "audit_log", "variable_day"];
const left = async () => (await Promise.all(TABLES.map((table) => count(table)))).reduce((sum, rows) => sum + rows, 0);

it("retention removes expired data within ten rounds, though one pool always fails", async () => {
  const until = NOW - 500 * DAY_MS;
  await writeOldRows(env.DB, { orgId: "old", until, builds: 3000, audit: 1500, uses: 1500 });
  await env.DB.prepare("INSERT INTO pool VALUES ('stuck', 1, 1, 1, ?)").bind(NOW).run();
  const platform = newPlatform();
  const failing = platform.trouble("AGENT_POOL", fails(OBJECT.lost), to(poolName("stuck")));
  expect(await left()).toBe(6000);
  let rounds = 0;
  for (; rounds < 10 && (await left()) > 0; rounds++) await upkeep({}, NOW + rounds * 60_000);
  expect(rounds).toBeLessThan(10);
  expect(await failures()).toMatchObject([
    { kind: "sweep", subject: "stuck", org_id: "stuck", reason: "Error: Network connection lost." },
  ]);
  failing.end();
  const mended = await upkeep({}, NOW + 120 * 60_000);
  expect(mended.failed).toBe(0);
  expect(await failures()).toEqual([]);
});

it("retention keeps unexpired data, to the day for builds, whichever way the setting changes", async () => {
  const newest = NOW - 89 * DAY_MS;
  await writeOldRows(env.DB, { orgId: "kept", until: newest, builds: 5000, audit: 10, uses: 10 });
  await upkeep();
  await upkeep();
  const first = Date.UTC(2026, 10, 22) - 90 * DAY_MS;
  expect(await count("build_summary", `finished_at < ${first}`)).toBe(0);
  expect(await count("build_summary", "org_id = 'kept'")).toBe(Math.floor((newest - first) / 86_400) + 1);
  expect([await count("audit_log", "org_id = 'kept'"), await count("variable_day")]).toEqual([10, 10]);
});

it("retention forgets expired commits of listed authors, and never an existing branch", async () => {
  const rows = [
    ...[
      ["refs/heads/bot/x", null],
      ["old", NOW - 1],
      ["new", NOW + DAY_MS],
    ],
  ].map(([name, until]) => [name, until && new Date(until).toISOString()]);
  const row = "INSERT INTO listed_push SELECT 'r', value ->> 0, 'bot', value ->> 1 FROM json_each(?)";
  await env.DB.prepare(row).bind(JSON.stringify(rows)).run();
  await upkeep();
  expect([await count("listed_push"), await count("listed_push", "name = 'old'")]).toEqual([2, 0]);
});

it("retention removes test failures once nothing reads them, long before their build", async () => {
  const query = `INSERT INTO test_result (org_id, repo_id, test_id, build_id, job_id, suite, class_name, name, branch, at, kind)
    VALUES ('tests', 'r', ?1, 'b', 'j', '', '', ?1, 'main', ?2, 'failed')`;
  for (const days of [1, 13, 15, 89])
    await env.DB.prepare(query)
      .bind(String(days), NOW - days * DAY_MS)
      .run();
  await upkeep();
  const { results } = await env.DB.prepare("SELECT name FROM test_result ORDER BY at DESC").all();
  expect(results).toEqual([{ name: "1" }, { name: "13" }]);
});

it("retention removes the audit of every organization by the time in its ids", async () => {
  for (const orgId of ["a", "b", "c"]) {
    await writeOldRows(env.DB, { orgId, until: NOW - 399 * DAY_MS, audit: 2000 });
  }
  await upkeep();
  for (const orgId of ["a", "b", "c"]) {
    expect(await count("audit_log", `org_id = '${orgId}'`)).toBe(1001);
    expect(
      await count("audit_log", `org_id = '${orgId}' AND at < '${new Date(NOW - 400 * DAY_MS).toISOString()}'`),
    ).toBe(0);
  }
});

it("retention removes the archive's objects of expired days only", async () => {
  const keys = [
    recordKey("2020-01-01", "o", "b"),
    recordKey("2026-08-23", "o", "b"),
    recordKey("2026-08-24", "o", "b"),
    logKey("2020-01-01", "o", "j", 1),
    logKey("2026-08-24", "o", "j", 1),
    "record/README",
    "artifact/2026-11-21/o/j/1/a",
    "artifact/2026-11-21/o/j/1/a.list",
    "artifact/2026-11-22/o/j/1/a",
    "artifact/2027-01-01/o/j/1/a",
  ];
  for (const key of keys) await env.ARCHIVE.put(key, "x");
  await forgetTurns();
  await upkeep();
  const { objects } = await env.ARCHIVE.list();
  const found = objects.map(({ key }) => key).filter((key) => keys.includes(key));
  expect(found).toEqual([keys[8], keys[9], keys[4], keys[2], "record/README"]);
});

it("retention continues with all else while the archive is unavailable", async () => {
  await writeOldRows(env.DB, { orgId: "old", until: NOW - 500 * DAY_MS, builds: 10 });
  const away = newPlatform().trouble("ARCHIVE", fails(R2.internal));
  await forgetTurns();
  await upkeep();
  expect(away.injected).toBeGreaterThan(0);
  expect(await count("build_summary", "org_id = 'old'")).toBe(0);
  expect(await failures()).toMatchObject([
    { kind: "chore", subject: "countCaches" },
    { kind: "chore", subject: "removeArchived" },
    { kind: "chore", subject: "removeUnusedCache" },
  ]);
});
