import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, expect, it } from "vitest";
import { gitHostName } from "../../../src/domain/durable-objects.ts";
import type { HostReport } from "../../../src/githosts/core/host-report.ts";
import type { GitHostObject } from "../../../src/objects/host/git-host.ts";
import { AgentPool } from "../../../src/objects/pool/agent-pool.ts";
import { HOST, namedSha, newDelivery, newRequestedBuild } from "../../support/arrivals.ts";
import { fakeObjects } from "../../support/objects-by-name.ts";
import { newConnection, passTime, setClockRight } from "../host/support.ts";
import { actor, newBuild, type Pool, poolOf, value } from "./support.ts";

// An alarm of the git host's object would find no connection, and delete its reports.
beforeEach(() => passTime(0));
afterEach(setClockRight);

const push = (orgId: string, head: string, before: string | null = null) =>
  newRequestedBuild(newBuild(orgId, { inputs: null, secretKeys: [] }), { head, before });

/** Returns the state of a commit's build that the git host's object has. */
const told = async (orgId: string, head: string): Promise<string | undefined> => {
  const hosts = env.GIT_HOST as DurableObjectNamespace<GitHostObject>;
  const statuses = await hosts.getByName(gitHostName(orgId, HOST.connectionId)).statuses(HOST.repoId, namedSha(head));
  return statuses.find(({ context }) => context === HOST.context)?.state;
};

it("the pool creates a delivery's builds once, even after an eviction, and notifies D1 and the host", async () => {
  const pool = poolOf("arrivals");
  const request = newDelivery("arrivals", "d1", { builds: [push("arrivals", "a")] });
  const first = value(await pool.arrive(request));
  expect(first.builds.map(({ outcome }) => outcome)).toEqual(["made"]);
  await evictDurableObject(pool);
  const again = newDelivery("arrivals", "d1", { builds: [push("arrivals", "b", "a")] });
  expect(value(await pool.arrive(again))).toEqual({ ...first, isRepeat: true });
  await evictDurableObject(pool);
  const other = newDelivery("arrivals", "d2", { builds: [push("arrivals", "a")] });
  expect(value(await pool.arrive(other)).builds[0]).toMatchObject({ ...first.builds[0], outcome: "same" });
  await pool.flush();
  const row = await env.DB.prepare("SELECT event, author, subject FROM build_summary WHERE id = ?")
    .bind(first.builds[0]!.buildId)
    .first();
  expect(row).toEqual({ event: "push", author: "mona", subject: "Fix it" });
  await expect.poll(() => told("arrivals", "a")).toBe("pending");
});

it("the pool remembers through an eviction which builds a newer head must end", async () => {
  await newConnection("github", "https://host.example", { id: HOST.connectionId, orgId: "heads" });
  const pool = poolOf("heads");
  const first = push("heads", "a");
  value(await pool.arrive(newDelivery("heads", "d1", { builds: [first] })));
  await evictDurableObject(pool);
  const second = push("heads", "b", "a");
  expect(value(await pool.arrive(newDelivery("heads", "d2", { builds: [second] }))).canceled).toEqual([first.id]);
  expect(value(await pool.getBuild(first.id))).toMatchObject({ status: "canceled", supersededBy: second.id });
  await expect.poll(() => told("heads", "a")).toBe("error");
});

it("the pool creates nothing for a delivery whose last statement fails, and everything on a repeat", async () => {
  const orgId = "half";
  const pool = poolOf(orgId);
  const builds = [push(orgId, "a"), { ...push(orgId, "a"), pipelineId: "other" }];
  const count = (object: Pool) =>
    runInDurableObject(object, (_pool, { storage: { sql } }) => {
      const tables = ["build", "number", "head", "delivery", "audit_outbox"];
      return tables.map((table) => sql.exec<{ n: number }>(`SELECT count(*) AS n FROM ${table}`).one().n);
    });
  const torn = runInDurableObject(pool, async (object, { storage: { sql } }) => {
    sql.exec("CREATE TRIGGER fails BEFORE INSERT ON delivery BEGIN SELECT RAISE(ABORT, 'disk full'); END");
    await (object as AgentPool).arrive(newDelivery(orgId, "d1", { builds }));
  });
  await expect(torn).rejects.toThrow("could not store");
  const reborn = poolOf(orgId);
  expect(await count(reborn)).toEqual([0, 0, 0, 0, 0]);
  await runInDurableObject(reborn, (_pool, { storage: { sql } }) => sql.exec("DROP TRIGGER fails"));
  const made = value(await reborn.arrive(newDelivery(orgId, "d1", { builds }))).builds;
  expect(made.map(({ outcome }) => outcome)).toEqual(["made", "made"]);
});

it("the pool rejects a delivery of another organization's connection", async () => {
  await runInDurableObject(poolOf("mine"), async (pool) => {
    await expect((pool as AgentPool).arrive(newDelivery("other", "d1"))).rejects.toThrow("another organization's pool");
  });
});

/** Creates a pool that reported a build's end to D1, but not to the git host. @returns the missed report */
const untoldEnd = async (orgId: string) => {
  const pool = poolOf(orgId);
  const build = push(orgId, "a");
  const missed: HostReport[] = [];
  await runInDurableObject(pool, async (_object, state) => {
    const report = (reports: HostReport[]) => {
      missed.push(...reports);
      return Promise.reject(new Error("away"));
    };
    const GIT_HOST = fakeObjects<Env["GIT_HOST"]>(() => ({ report }));
    const broken = new AgentPool(state, { ...env, GIT_HOST });
    await state.blockConcurrencyWhile(async () => {});
    value(await broken.arrive(newDelivery(orgId, "d1", { builds: [build] })));
    value(await broken.cancel({ buildId: build.id, actor }));
    await broken.flush();
  });
  return { pool, build, missed: missed.at(-1)! };
};

const rowsOf = (pool: Pool, what: string) =>
  runInDurableObject(pool, (_pool, { storage: { sql } }) => sql.exec(`SELECT * FROM ${what}`).toArray());

it("the pool notifies a host that was unavailable of an end, after D1 has it and the object was evicted", async () => {
  const { pool, build } = await untoldEnd("away");
  expect(await rowsOf(pool, "build WHERE ended_at IS NULL")).toMatchObject([{ id: build.id }]);
  await evictDurableObject(pool);
  await pool.flush();
  await expect.poll(() => told("away", "a")).toBe("error");
  expect(await rowsOf(pool, "build WHERE ended_at IS NULL")).toEqual([]);
});

it("the pool notifies the host of an end from an earlier release's row, even if the build is gone", async () => {
  const { pool, build, missed } = await untoldEnd("earlier");
  await runInDurableObject(pool, (_pool, { storage: { sql } }) => {
    sql.exec("DELETE FROM build");
    sql.exec("CREATE TABLE host_outbox (build_id TEXT PRIMARY KEY, facts TEXT NOT NULL) WITHOUT ROWID");
    sql.exec("INSERT INTO host_outbox VALUES (?, ?)", build.id, JSON.stringify(missed));
  });
  await evictDurableObject(pool);
  await pool.flush();
  await expect.poll(() => told("earlier", "a")).toBe("error");
  expect(await rowsOf(pool, "host_outbox")).toEqual([]);
});
