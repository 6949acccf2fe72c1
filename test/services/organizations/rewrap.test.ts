import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { Keyring, keyIdOf } from "../../../src/crypto/keyring.ts";
import { parseKeys } from "../../../src/crypto/keys.ts";
import { variableContext } from "../../../src/domain/seal-context.ts";
import { call, create, expectProblem, newOrganization, newPipeline, newRepository } from "../../support/api.ts";
import { type BuildSetup, completeJob, newBuildSetup, pollOnce, triggerBuild } from "../../support/build-setup.ts";
import { callDeployedWith, databaseWithHook, logStub, poolStub, redeploy } from "../../support/deployment.ts";
import { HOST_TOKEN, newHost } from "../../support/host-at.ts";
import { finishNextJob, planNextBuild, startNextJob } from "../../support/jobs.ts";

const OLD = env.SECRETS_KEYS ?? "";
const FRESH = `s2:${btoa("the second key of tests, 32 byte")}`;
const BOTH = `${FRESH},${OLD}`;
const operator = env.OPERATOR_TOKEN ?? "";
const appended = callDeployedWith({ SECRETS_KEYS: `${OLD},${FRESH}` });
const moved = callDeployedWith({ SECRETS_KEYS: BOTH });
const removed = callDeployedWith({ SECRETS_KEYS: FRESH });
const ring = new Keyring(parseKeys(BOTH));

interface Kept {
  id: string;
  orgId: string;
  ownerId: string;
  key: string;
  value: string;
  sealed: string;
}

/** Creates an organization's secrets, sealed with the old key and written as the service writes them. */
const fill = async (orgId: string, count: number): Promise<Kept[]> => {
  const keyring = new Keyring(parseKeys(OLD));
  const rows = Array.from({ length: count }, async (_, index): Promise<Kept> => {
    const place = { orgId, scope: "organization" as const, ownerId: orgId, id: crypto.randomUUID(), key: `K${index}` };
    const value = `value-${index}-${crypto.randomUUID()}`;
    return { ...place, value, sealed: await keyring.seal(value, variableContext({ ...place, sealedVersion: 1 })) };
  });
  const kept = await Promise.all(rows);
  await env.DB.prepare(
    `INSERT INTO variable (id, org_id, scope, owner_id, key, sealed, sealed_version, is_secret, is_active, allow_override, created_at, updated_at)
     SELECT value ->> 'id', ?1, 'organization', ?1, value ->> 'key', value ->> 'sealed', 1, 1, 1, 1, '', '' FROM json_each(?2)`,
  )
    .bind(orgId, JSON.stringify(kept.map(({ id, key, sealed }) => ({ id, key, sealed }))))
    .run();
  return kept;
};

const sealedOf = async (orgId: string): Promise<Map<string, string>> => {
  const rows = env.DB.prepare("SELECT id, sealed FROM variable WHERE org_id = ?").bind(orgId);
  return new Map((await rows.all<{ id: string; sealed: string }>()).results.map(({ id, sealed }) => [id, sealed]));
};

const open = ({ orgId, ownerId, id, key }: Kept, sealed: string, keyring = ring) =>
  keyring.openText(sealed, variableContext({ orgId, ownerId, id, key, scope: "organization", sealedVersion: 1 }));

const rewrapAll = async (): Promise<number> => {
  let rewrapped = 0;
  for (;;) {
    const { body } = await moved(operator, "POST", "/operator/rewrap", { limit: 500 });
    rewrapped += body.rewrapped;
    if (body.isComplete || body.rewrapped === 0) return rewrapped;
  }
};

describe("POST /operator/rewrap", () => {
  /** More than one page. */
  const ROWS = 60;

  it("survives a crash after each row: all rows always open, and each is resealed once", async () => {
    const { orgId } = await newOrganization();
    const kept = new Map((await fill(orgId, ROWS)).map((row) => [row.id, row]));
    await env.DB.exec("CREATE TABLE before (id TEXT PRIMARY KEY, sealed TEXT)");
    await env.DB.exec("INSERT INTO before SELECT id, sealed FROM variable");
    const changed = `UPDATE before SET sealed = v.sealed FROM variable v
      WHERE v.id = before.id AND v.sealed <> before.sealed RETURNING id, sealed`;
    for (const row of kept.values()) expect(await open(row, row.sealed)).toBe(row.value);
    for (let done = 1; done <= ROWS; done++) {
      const { body } = await moved(operator, "POST", "/operator/rewrap", { limit: 1 });
      const { results } = await env.DB.prepare(changed).all<{ id: string; sealed: string }>();
      expect(results).toHaveLength(1);
      const { id, sealed } = results[0]!;
      expect(keyIdOf(sealed)).toBe("s2");
      expect(await open(kept.get(id)!, sealed)).toBe(kept.get(id)!.value);
      expect(body).toMatchObject({ rewrapped: 1, unopenable: [], isComplete: done === ROWS });
      expect(body.byKeyId.s2.variables).toBe(done);
      expect(body.byKeyId.s1?.variables ?? 0).toBe(ROWS - done);
    }
    const earlier = await sealedOf(orgId);
    expect((await moved(operator, "POST", "/operator/rewrap", {})).body).toMatchObject({ rewrapped: 0 });
    expect(await sealedOf(orgId)).toEqual(earlier);
    const alone = new Keyring(parseKeys(FRESH));
    for (const [id, sealed] of earlier) expect(await open(kept.get(id)!, sealed, alone)).toBe(kept.get(id)!.value);
    await env.DB.exec("DROP TABLE before");
  });

  it("keeps newer values that are written between its read and its write", async () => {
    const { orgId, admin } = await newOrganization();
    const kept = await fill(orgId, 120);
    const [changed, deleted, plain] = [kept[3]!, kept[60]!, kept[119]!];
    const paths = [changed, deleted, plain].map(({ id }) => `/secrets/variables/${id}`);
    let batches = 0;
    const racing = callDeployedWith({
      SECRETS_KEYS: BOTH,
      DB: databaseWithHook(async (statements) => {
        // A page of rows and its audit row: the service read them before the changes below.
        if (statements < 20 || ++batches > 1) return;
        for (const [index, path] of paths.entries()) {
          const body = [{ value: "newer" }, undefined, { value: "in the clear", isSecret: false }][index];
          const answer = await appended(admin, index === 1 ? "DELETE" : "PUT", path, body);
          expect(answer.status).toBeLessThan(300);
        }
      }),
    });
    const { body } = await racing(operator, "POST", "/operator/rewrap", { limit: 500 });
    expect(batches).toBeGreaterThan(1);
    expect(body.rewrapped).toBeLessThan(120);
    await rewrapAll();
    const rows = await sealedOf(orgId);
    expect(rows.has(deleted.id)).toBe(false);
    expect(rows.get(plain.id)).toBeNull();
    expect((await call(admin, "GET", paths[2]!)).body.value).toBe("in the clear");
    const repository = await newRepository(admin);
    const pipeline = await newPipeline(admin, repository.id);
    const { token, id } = await create(admin, "/buildagent/register", {
      ...{ name: "a", platform: 2, canBuildIOS: false, canBuildAndroid: false, canBuildWeb: true },
    });
    await redeploy(poolStub(orgId), { SECRETS_KEYS: BOTH });
    await triggerBuild(admin, pipeline.id);
    const { body: job } = await removed(token, "GET", `/buildagent/${id}/poll`);
    expect(job.env[changed.key]).toBe("newer");
    for (const { key, value } of kept.slice(4, 50)) expect(job.env[key]).toBe(value);
    expect(Object.keys(job.env)).toHaveLength(119);
    await completeJob({ token }, job);
  });

  it("skips a value that no key opens, and names it", async () => {
    const { orgId } = await newOrganization();
    const kept = await fill(orgId, 70);
    const broken = kept
      .map(({ id }) => id)
      .sort()
      .slice(0, 60);
    await env.DB.prepare("UPDATE variable SET sealed_version = 9 WHERE id IN (SELECT value FROM json_each(?))")
      .bind(JSON.stringify(broken))
      .run();
    for (let call = 0; call < 10; call++) {
      const { body } = await moved(operator, "POST", "/operator/rewrap", { limit: 1 });
      expect(body.rewrapped).toBe(1);
    }
    const { body } = await moved(operator, "POST", "/operator/rewrap", {});
    expect(body).toMatchObject({ rewrapped: 0, isComplete: false });
    expect(body.unopenable.sort()).toEqual(broken);
    await env.DB.prepare("DELETE FROM variable WHERE org_id = ?").bind(orgId).run();
  });

  it("reseals credentials, host tokens, run values and open logs, and counts each under its key", async () => {
    const works = await newBuildSetup();
    const { orgId, admin, repository, pipeline, agent } = works;
    const path = `/repository/${repository.id}/credential`;
    const { webUrl } = await newHost({ kind: "gitlab" });
    const host = { kind: "gitlab", name: "host", webUrl, token: HOST_TOKEN };
    const connection = await create(admin, "/connection", host);
    expect((await call(admin, "PUT", path, { kind: "token", value: "clone-token" })).status).toBe(200);
    await triggerBuild(admin, pipeline.id, { envVariables: { A: "of the run" }, secretKeys: ["A"] });
    const { body: job } = await pollOnce(agent);
    await triggerBuild(admin, pipeline.id, { envVariables: { A: "of the second" } });
    const keys = { SECRETS_KEYS: BOTH };
    await redeploy(poolStub(orgId), keys);
    await redeploy(logStub(orgId, job.build.id), keys);
    const before = (await moved(operator, "GET", "/operator/rewrap")).body;
    expect(before).toMatchObject({
      ...{ currentKeyId: "s2", knownKeyIds: ["s2", "s1"], isComplete: false },
      byKeyId: { s1: { credentials: 1, connections: 1, inputs: 2, logs: 1 } },
    });
    await rewrapAll();
    const after = (await moved(operator, "GET", "/operator/rewrap")).body;
    expect(after).toMatchObject({
      isComplete: true,
      byKeyId: { s2: { credentials: 1, connections: 1, inputs: 2, logs: 1 } },
    });
    const repositories = `/connection/${connection.id}/repository`;
    expect((await removed(admin, "GET", repositories)).body).toMatchObject([{ hostRepoId: 41 }, {}, {}]);
    expect(Object.keys(after.byKeyId)).toEqual(["s2"]);
    const lease = { "X-Lease": String(job.lease) };
    await call(agent.token, "POST", `/build/${job.build.id}/start`, undefined, lease);
    const bytes = new TextEncoder().encode("it is of the run\n");
    const log = await call(agent.token, "PUT", `/build/${job.build.id}/log?offset=0&final=true`, bytes, lease);
    expect(log.body).toEqual({ next: bytes.length, followed: false });
    expect((await call(admin, "GET", `/build/${job.build.id}/log`)).text).toBe("it is ***\n");
    await completeJob(agent, job);
    const second = (await removed(agent.token, "GET", `/buildagent/${agent.id}/poll`)).body;
    expect(second).toMatchObject({ env: { A: "of the second" }, repository: { credential: { value: "clone-token" } } });
    const { results } = await env.DB.prepare("SELECT actor, detail FROM audit_log WHERE org_id = ? AND action = ?")
      .bind(orgId, "secrets.rewrap")
      .all();
    expect(results).toEqual(Array(2).fill({ actor: "operator", detail: JSON.stringify({ keyId: "s2", count: 1 }) }));
  });
});

it("POST /operator/rewrap reseals the logs of active jobs, and of the agent that read the file", async () => {
  const { orgId, admin, repository, pipeline, agent } = await newBuildSetup();
  await call(admin, "PUT", `/repository/${repository.id}/credential`, { kind: "token", value: "clone-token" });
  const { id } = await triggerBuild(admin, pipeline.id);
  const steps = "steps: [{ run: make }]";
  const { ids } = await planNextBuild(
    agent,
    `jobs: { a: { ${steps} }, b: { needs: [a], ${steps} }, c: { needs: [b], ${steps} } }`,
  );
  await finishNextJob(agent);
  await startNextJob(agent);
  expect((await poolStub(orgId).handedOutBuilds()).sort()).toEqual([id, ids.b].sort());
  await redeploy(poolStub(orgId), { SECRETS_KEYS: BOTH });
  for (const log of [id, ids.b!]) await redeploy(logStub(orgId, log), { SECRETS_KEYS: BOTH });
  const keyIds = () => Promise.all([id, ids.b!].map((log) => logStub(orgId, log).sealedWith()));
  expect(await keyIds()).toEqual(["s1", "s1"]);
  await rewrapAll();
  expect(await keyIds()).toEqual(["s2", "s2"]);
});

describe("a wrong keyring", () => {
  const bad = {
    "a wrong key under an old id": [`s1:${btoa("not the key that it was, 32 byte")}`, "s1"],
    "a wrong key behind a right one": [`${OLD},s2:${btoa("not the second key it was, 32 by")}`, "s2"],
    "no key": ["", "not set"],
    "half a key": [`s1:${btoa("half a key")}`, "not 32 bytes"],
    "two keys of one id": [`${OLD},${OLD}`, "same id"],
  };

  it.each(Object.entries(bad))("stops with 503 and writes nothing: %s", async (_, [keys = "", named = ""]) => {
    const { orgId, admin } = await newOrganization();
    await appended(operator, "GET", "/operator/rewrap");
    const dump = async () => {
      const counts =
        "SELECT (SELECT count(*) FROM variable), (SELECT count(*) FROM audit_log), (SELECT json_group_array(id) FROM key_check)";
      return JSON.stringify(
        await env.DB.prepare(counts)
          .all()
          .then(({ results }) => results),
      );
    };
    const before = await dump();
    const wrong = callDeployedWith({ SECRETS_KEYS: keys });
    const wanted = { key: "K", value: "the value", isSecret: true, scope: "organization", orgId };
    const answer = await wrong(admin, "POST", "/secrets/variables", wanted);
    expectProblem(answer, 503, "keyring-unavailable");
    expect(answer.text).toContain(named);
    expect(answer.headers.get("Retry-After")).not.toBeNull();
    expectProblem(await wrong(operator, "POST", "/operator/rewrap", {}), 503, "keyring-unavailable");
    for (const key of keys.split(/[:,]/).filter((part) => part.length > 8)) expect(answer.text).not.toContain(key);
    expect(await dump()).toBe(before);
    expect((await wrong(admin, "POST", "/secrets/variables", { ...wanted, isSecret: false })).status).toBe(201);
    expect((await wrong(admin, "GET", "/secrets/variables")).status).toBe(200);
  });

  it("hands out nothing while a used key is missing, and continues once it is back", async () => {
    const works: BuildSetup = await newBuildSetup();
    const { admin, agent, pipeline } = works;
    const wanted = { key: "K", value: "the value", isSecret: true, scope: "pipeline", pipelineId: pipeline.id };
    await create(admin, "/secrets/variables", wanted);
    await removed(operator, "GET", "/operator/rewrap");
    const { id } = await triggerBuild(admin, pipeline.id);
    const answer = await removed(agent.token, "GET", `/buildagent/${agent.id}/poll`);
    expectProblem(answer, 503, "keyring-unavailable");
    expect(answer.body.detail).toContain("s2");
    expect(answer.text).not.toContain("the value");
    expect((await call(admin, "GET", `/build/${id}`)).body).toMatchObject({ status: "queued", attempt: 0 });
    const rename = await removed(admin, "PUT", `/secrets/variables/${await idOf(admin)}`, { key: "L" });
    expectProblem(rename, 503, "keyring-unavailable");
    await triggerBuild(admin, pipeline.id);
    expect((await pollOnce(agent)).body.env).toMatchObject({ K: "the value" });
  });
});

const idOf = async (admin: string): Promise<string> => (await call(admin, "GET", "/secrets/variables")).body[0].id;
