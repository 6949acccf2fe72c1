import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { poolName } from "../../src/domain/object-names.ts";
import type { ServiceMetrics } from "../../src/protocol/service-metrics.ts";
import { call } from "../support/api.ts";
import { newBuildSetup, poll, takeNewJob, trigger } from "../support/build-setup.ts";
import { poolStub } from "../support/deployment.ts";
import { broken, upkeep } from "./support.ts";

const operator = env.OPERATOR_TOKEN ?? "";
const read = async (): Promise<ServiceMetrics> =>
  (await call<ServiceMetrics>(operator, "GET", "/operator/metrics")).body;
const sampleOf = (text: string, name: string): number | undefined => {
  const line = text.split("\n").find((one) => one.startsWith(`${name}{`) || one.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.split(" ").at(-1));
};

describe("GET /operator/metrics", () => {
  it("answers before upkeep ever ran, and says that it did not", async () => {
    const { body, status } = await call<ServiceMetrics>(operator, "GET", "/operator/metrics");
    expect(status).toBe(200);
    expect(body).toMatchObject({ isUp: false, upkeep: { lastRunAt: null, ageSeconds: null }, builds: { ended: [] } });
  });

  it("has what upkeep found in the pools of all organizations", async () => {
    const now = Date.now();
    const [one, other] = [await newBuildSetup(), await newBuildSetup()];
    await takeNewJob(one);
    await trigger(one.admin, one.pipeline.id);
    await trigger(other.admin, other.pipeline.id);
    expect((await poll(other.agent)).status).toBe(200);
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

  it("says the same to Prometheus", async () => {
    const answer = await call<string>(operator, "GET", "/operator/metrics", undefined, { Accept: "text/plain" });
    expect(answer.headers.get("Content-Type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect(sampleOf(answer.text, "millrace_up")).toBe(1);
    expect(sampleOf(answer.text, 'millrace_builds_ended_total{status="succeeded"')).toBeUndefined();
    expect(answer.text).toContain('millrace_builds_ended_total{status="succeeded",reason=""} 1\n');
    expect(answer.text).toContain('millrace_leases_lost_total{cause="removed"} 1\n');
    expect(sampleOf(answer.text, "millrace_database_nearly_full")).toBe(0);
  });

  it("counts a pool that fails, and goes on with the others", async () => {
    const { orgId } = await newBuildSetup();
    const later = Date.now() + 3_600_000;
    await env.DB.prepare("INSERT OR REPLACE INTO pool VALUES (?, 1, 1, 1, ?)").bind(orgId, later).run();
    await upkeep({ AGENT_POOL: broken(env.AGENT_POOL, poolName(orgId)) }, later);
    const found = await read();
    expect(found.pools).toMatchObject({ failed: 1 });
    expect(found.pools.swept).toBeGreaterThan(0);
    expect(found.upkeep.setAside).toEqual([{ kind: "sweep", count: 1, mostTries: 1 }]);
  });
});
