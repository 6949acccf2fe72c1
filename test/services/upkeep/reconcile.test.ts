import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { poolName } from "../../../src/domain/durable-objects.ts";
import { poolStub } from "../../support/deployment.ts";
import { fakeObjects } from "../../support/objects-by-name.ts";
import { writeSummary } from "../../support/summary-row.ts";
import { upkeep } from "./support.ts";

const HOUR_MS = 60 * 60_000;
/** A full hour: its run asks the pools about active builds. */
const NOW = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;

const rowOf = (id: string) =>
  env.DB.prepare("SELECT status, reason, finished_at FROM build_summary WHERE id = ?").bind(id).first();

it("reconcile ends builds that D1 calls active and no pool knows, once they are an hour old", async () => {
  const active = { status: "running", finished_at: null, pool_version: 1 };
  const lost = await writeSummary("lost", { ...active, queued_at: NOW - 2 * HOUR_MS });
  const young = await writeSummary("lost", { ...active, queued_at: NOW - HOUR_MS / 2 });
  await env.DB.prepare("INSERT INTO pool VALUES ('lost', 0, 0, 0, ?)").bind(NOW).run();
  await upkeep({}, NOW);
  await poolStub("lost").flush();
  expect(await rowOf(lost.id)).toMatchObject({ status: "failed", reason: "agent-lost" });
  expect(await rowOf(young.id)).toMatchObject({ status: "running", finished_at: null });
});

it("reconcile queries the pools of all organizations, a hundred in a run, and starts over after an hour", async () => {
  const active = { status: "running", finished_at: null, pool_version: 1, queued_at: NOW - 2 * HOUR_MS };
  const orgs = Array.from({ length: 230 }, (_, n) => `many-${String(n).padStart(3, "0")}`);
  for (const orgId of orgs) await writeSummary(orgId, active);
  await env.DB.prepare("INSERT INTO pool SELECT value, 0, 0, 0, 0 FROM json_each(?)").bind(JSON.stringify(orgs)).run();
  const asked: string[] = [];
  const AGENT_POOL = fakeObjects<Env["AGENT_POOL"]>((name) => ({
    sweep: async () => undefined,
    reconcile: async () => {
      asked.push(name);
      return { ok: true };
    },
  }));
  await env.DB.exec("DELETE FROM upkeep_failure");
  const runs: number[] = [];
  for (const minute of [0, 1, 2, 3, 30, 61, 62]) {
    const before = asked.length;
    await upkeep({ AGENT_POOL }, NOW + minute * 60_000);
    runs.push(asked.length - before);
  }
  expect(asked.slice(0, 230)).toEqual(orgs.map(poolName));
  expect(runs).toEqual([100, 100, 30, 0, 0, 0, 100]);
});

it("reconcile reads one range of ids for each organization", async () => {
  const query = `EXPLAIN QUERY PLAN SELECT build_summary.id FROM pool CROSS JOIN build_summary ON build_summary.org_id = pool.org_id
    AND build_summary.id >= '0' AND build_summary.id < '1' WHERE finished_at IS NULL`;
  const { results } = await env.DB.prepare(query).all<{ detail: string }>();
  expect(results.map(({ detail }) => detail)).toContain(
    "SEARCH build_summary USING PRIMARY KEY (org_id=? AND id>? AND id<?)",
  );
});
