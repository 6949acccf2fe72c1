import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { getTableColumns, getTableName, is } from "drizzle-orm";
import { SQLiteTable } from "drizzle-orm/sqlite-core";
import { afterEach, describe, expect, it, vi } from "vitest";
import { logKey, recordKey } from "../../../src/archive/keys.ts";
import { OWNED } from "../../../src/db/organization-rows.ts";
import * as schema from "../../../src/db/schema.ts";
import { gitHostName } from "../../../src/domain/durable-objects.ts";
import type { DeliveryNote } from "../../../src/githosts/core/delivery-note.ts";
import { keepUp } from "../../../src/services/upkeep/upkeep.ts";
import { call, create, expectProblem, newOrganization } from "../../support/api.ts";
import { newAppConnection } from "../../support/app-connection.ts";
import { type BuildSetup, finishNewJob, newBuildSetup, pollOnce, triggerBuild } from "../../support/build-setup.ts";
import { callDeployedWith, databaseWithHook, logStub, poolStub } from "../../support/deployment.ts";
import { HOST_TOKEN, newHost } from "../../support/host-at.ts";

const operator = env.OPERATOR_TOKEN ?? "";
const remove = (orgId: string, send: typeof call = call) => send(operator, "DELETE", `/organization/${orgId}`);

/** Runs upkeep in four consecutive minutes. @returns the shares of removals in each */
const takeTurns = async (bindings: typeof env, begin: number): Promise<number[]> => {
  const turns: number[] = [];
  for (let minute = 0; minute < 4; minute++) {
    const at = new Date(begin + minute * 60_000);
    const { removals = 0 } = await keepUp(bindings as Env, at, { buildDays: 90, auditDays: 400 });
    turns.push(removals);
  }
  return turns;
};

/** Returns a value that the tests plant wherever the organization can leave something. */
const canaryOf = ({ orgId }: { orgId: string }) => `canary-of-${orgId}`;

interface Leaving extends BuildSetup {
  buildIds: string[];
  connectionId: string;
  host: Awaited<ReturnType<typeof newHost>>;
}

const hostStub = (orgId: string, id: string) => env.GIT_HOST.getByName(gitHostName(orgId, id));

const noteOf = (id: string): DeliveryNote => ({
  ...{ id, at: 1, event: "push", repository: null, ref: null, sha: null },
  ...{ builds: [], ignored: "no pipeline builds this branch", arrival: null },
});

/** Creates an organization with data everywhere, and with an ended, a running and a waiting build. */
const newLeaving = async (): Promise<Leaving> => {
  const setup = await newBuildSetup();
  const { orgId, admin, pipeline, repository, agent } = setup;
  const canary = canaryOf(setup);
  const variable = { value: canary, isSecret: false, scope: "organization", orgId };
  await create(admin, "/secrets/variables", { ...variable, key: "PLAIN" });
  await create(admin, "/secrets/variables", { ...variable, key: "SECRET", isSecret: true });
  await create(admin, "/secrets/groups", { name: canary });
  await call(admin, "PUT", `/repository/${repository.id}/credential`, { kind: "token", username: canary, value: "x" });
  await create(admin, "/token", { name: canary, kind: "registration" });
  const host = await newHost({ kind: "github" });
  const connected = { kind: "github", name: canary, webUrl: host.webUrl, token: HOST_TOKEN };
  const { id: connectionId } = await create(admin, "/connection", connected);
  await create(admin, `/connection/${connectionId}/repository`, { hostRepoId: 41 });
  await hostStub(orgId, connectionId).noteDelivery(noteOf(orgId));
  const ended = await finishNewJob(setup);
  await triggerBuild(admin, pipeline.id);
  const { body: running } = await pollOnce(agent);
  const lease = { "X-Lease": String(running.lease) };
  await call(agent.token, "POST", `/build/${running.build.id}/start`, undefined, lease);
  const log = `/build/${running.build.id}/log?offset=0`;
  const octets = { ...lease, "Content-Type": "application/octet-stream" };
  await call(agent.token, "PUT", log, new TextEncoder().encode(`${"x".repeat(5000)} ${canary}\n`), octets);
  const waiting = await triggerBuild(admin, pipeline.id, { envVariables: { RUN: canary } });
  await poolStub(orgId).flush();
  for (const key of [
    recordKey("2026-01-02", orgId, "lost"),
    logKey("2026-01-03", orgId, "lost", 1),
    `artifact/2030-01-01/${orgId}/lost/1/x`,
  ]) {
    await env.ARCHIVE.put(key, canary);
  }
  return { ...setup, connectionId, host, buildIds: [ended.build.id, running.build.id, waiting.id] };
};

/** Skips the minute in which earlier requests end. */
const settle = (orgId: string) =>
  env.DB.prepare("UPDATE organization SET deleting_at = '2026-01-01T00:00:00.000Z' WHERE id = ?").bind(orgId).run();

const inObject = (stub: unknown): Promise<string> =>
  runInDurableObject(stub as DurableObjectStub, async (_, { storage }) => {
    const names = storage.sql.exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'").toArray();
    const tables = names.map(({ name }) => name).filter((name) => !name.startsWith("_"));
    const rows = tables.map((name) => storage.sql.exec(`SELECT * FROM ${name}`).toArray());
    return JSON.stringify([rows, [...storage.kv.list()], await storage.getAlarm()]);
  });

/** Returns where D1, the archive and the objects still contain something about the organization. */
const placesOf = async ({ orgId, buildIds, connectionId }: Leaving): Promise<string[]> => {
  const found: string[] = [];
  const look = (place: string, text: string) => {
    if ([orgId, ...buildIds].some((needle) => text.includes(needle))) found.push(place);
  };
  for (const table of Object.values(schema).filter((one) => is(one, SQLiteTable))) {
    const { results } = await env.DB.prepare(`SELECT * FROM ${getTableName(table)}`).all();
    look(getTableName(table), JSON.stringify(results));
  }
  const { objects } = await env.ARCHIVE.list();
  for (const { key } of objects) look("archive", key);
  look("pool", await inObject(poolStub(orgId)));
  look("host", await inObject(hostStub(orgId, connectionId)));
  for (const id of buildIds) {
    const log = await logStub(orgId, id).info();
    if (log.attempts.length > 0 || (await logStub(orgId, id).sealedWith()) !== null) found.push("log");
  }
  return [...new Set(found)];
};

/** Calls until the answer is 204. @returns the reported steps */
const finish = async (orgId: string): Promise<string[]> => {
  const steps: string[] = [];
  for (;;) {
    const { status, body, text } = await remove(orgId);
    if (status === 204) return steps;
    expect(status, text).toBe(202);
    steps.push(body.step);
    if (steps.length > 20) throw new Error(`no end: ${steps}`);
  }
};

afterEach(() => {
  vi.restoreAllMocks();
});

describe("DELETE /organization/{id}", () => {
  it("rejects its tokens and agents at once, and a minute later leaves no data anywhere", async () => {
    const leaving = await newLeaving();
    const { orgId, admin, agent, pipeline } = leaving;
    const other = await newBuildSetup();
    const before = await placesOf(leaving);
    expect(before).toEqual(
      expect.arrayContaining(["organization", "token", "variable", "archive", "pool", "log", "connection", "host"]),
    );

    const begun = await remove(orgId);
    expect([begun.status, begun.headers.get("Retry-After")]).toEqual([202, "60"]);
    expect(begun.body).toEqual({ id: orgId, deletingAt: expect.any(String), step: "closing", removed: 0 });
    expectProblem(
      await call(admin, "POST", "/build", { pipelineId: pipeline.id, branch: "main" }),
      401,
      "unauthenticated",
    );
    expectProblem((await pollOnce(agent)) as never, 401, "unauthenticated");
    expectProblem(await call(agent.token, "GET", `/buildagent/${agent.id}`), 401, "unauthenticated");
    expectProblem(await call(operator, "POST", `/organization/${orgId}/token`), 409, "conflict");
    expect(await poolStub(orgId).registerAgent({ orgId } as never)).toMatchObject({ ok: false });
    expect((await remove(orgId)).body).toEqual(begun.body);

    await settle(orgId);
    await finish(orgId);
    expect(await placesOf(leaving)).toEqual(["former_organization"]);
    expect((await leaving.host.seen()).hooks).toEqual([]);
    expect((await remove(orgId)).status).toBe(204);
    expectProblem(await call(operator, "POST", "/organization", { id: orgId, name: "again" }), 409, "duplicate");
    expectProblem(await remove("never-there"), 404, "not-found");
    expect((await call(other.admin, "GET", "/repository")).body).toHaveLength(1);
    expect((await pollOnce(other.agent)).status).toBe(204);
  });

  it("uninstalls its App at the host", async () => {
    const { orgId } = await newOrganization();
    const { host } = await newAppConnection(orgId);
    await remove(orgId);
    await settle(orgId);
    await finish(orgId);
    const { requests } = await host.seen();
    expect(requests.at(-1)).toMatchObject({ method: "DELETE", path: "/app/installations/99", problems: [] });
  });

  it("continues after a crash at any write", async () => {
    const leaving = await newLeaving();
    const { orgId } = leaving;
    await remove(orgId);
    await settle(orgId);
    vi.spyOn(console, "error").mockImplementation(() => {});
    const away = () => Promise.reject(new Error("D1_ERROR: killed here"));
    const archive = { list: away } as unknown as R2Bucket;
    expectProblem(await remove(orgId, callDeployedWith({ ARCHIVE: archive }) as typeof call), 503, "unavailable");
    let deaths = 0;
    for (let status = 503; status === 503; deaths++) {
      let batches = 0;
      const DB = databaseWithHook(async () => {
        if (++batches > deaths + 1) await away();
      });
      ({ status } = await remove(orgId, callDeployedWith({ DB }) as typeof call));
      expect([202, 204, 503]).toContain(status);
    }
    expect(deaths).toBeGreaterThan(10);
    await finish(orgId);
    expect(await placesOf(leaving)).toEqual(["former_organization"]);
  });

  it("is completed by the service without another call, even beside one that fails", async () => {
    const [stuck, leaving] = [await newLeaving(), await newLeaving()];
    for (const { orgId } of [stuck, leaving]) {
      await remove(orgId);
      await settle(orgId);
    }
    const list = (options: R2ListOptions) =>
      options.prefix?.includes(stuck.orgId) ? Promise.reject(new Error("no list")) : env.ARCHIVE.list(options);
    const archive = { list, delete: (keys: string[]) => env.ARCHIVE.delete(keys) } as unknown as R2Bucket;
    const told = vi.spyOn(console, "error").mockImplementation(() => {});
    const now = Date.now();
    // The failing organization is retried in the minute after the next.
    expect(await takeTurns({ ...env, ARCHIVE: archive }, now)).toEqual([1, 1, 1, 0]);
    expect(await placesOf(leaving)).toEqual(["former_organization"]);
    expect(await placesOf(stuck)).toContain("organization");
    expect(told).toHaveBeenCalledWith(expect.stringContaining(stuck.orgId));
    expect(await takeTurns(env, now + 60 * 60_000)).toEqual([1, 0, 0, 0]);
    expect(await placesOf(stuck)).toEqual(["former_organization"]);
  });

  it("covers each table with rows of organizations", () => {
    const ofBuilds = [schema.buildSummary, schema.job];
    const ofNobody = [schema.keyCheck, schema.guard, schema.serviceMetric, schema.endedSession];
    const known = new Set<SQLiteTable>([
      ...OWNED.map(({ table }) => table),
      ...[...ofBuilds, ...ofNobody, schema.organization, schema.formerOrganization],
    ]);
    const tables = Object.values(schema).filter((one) => is(one, SQLiteTable));
    expect(tables.filter((table) => !known.has(table)).map(getTableName)).toEqual([]);
    const owned = tables.filter((table) => "orgId" in getTableColumns(table));
    expect(owned.length).toBeGreaterThan(12);
  });
});
