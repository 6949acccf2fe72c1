import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { ROUTES } from "../../../src/api/routes.ts";
import type { AuditEntry } from "../../../src/protocol/audit.ts";
import { keepUp } from "../../../src/services/upkeep/upkeep.ts";
import { type Answer, call, create, expectProblem, newOrganization, newToken } from "../../support/api.ts";
import { finishNewJob, newBuildSetup, pollOnce, triggerBuild } from "../../support/build-setup.ts";
import { callDeployedWith, databaseWithHook, poolStub } from "../../support/deployment.ts";
import { storedRows } from "../../support/stored-rows.ts";

const operator = env.OPERATOR_TOKEN ?? "";
const CANARY = `canary-${crypto.randomUUID()}`;

afterEach(() => {
  vi.useRealTimers();
});

const auditOf = async (orgId: string, requestId: string | null): Promise<AuditEntry[]> => {
  const rows = env.DB.prepare("SELECT * FROM audit_log WHERE org_id = ? AND request_id IS ? ORDER BY id");
  return (await rows.bind(orgId, requestId).all<AuditEntry>()).results;
};

/** Makes every write of an audit row fail, in the database or in a pool, while `work` runs. */
const unaudited = async <T>(orgId: string | null, work: () => Promise<T>): Promise<T> => {
  const fault = "BEGIN SELECT RAISE(ABORT, 'the audit cannot be written'); END";
  const inPool = [
    "INSERT ON audit_outbox",
    "INSERT ON build",
    "UPDATE OF audit ON build",
    "UPDATE OF audit ON build_job",
  ];
  const execute = async (...statements: string[]) => {
    if (!orgId) return;
    await runInDurableObject(poolStub(orgId), (_, { storage }) => {
      for (const sql of statements) storage.sql.exec(sql);
    });
  };
  await env.DB.prepare(`CREATE TRIGGER fault BEFORE INSERT ON audit_log ${fault}`).run();
  await execute(
    ...inPool.map((event, at) => {
      const writes = at === 0 ? "" : "WHEN NEW.audit IS NOT NULL ";
      return `CREATE TRIGGER fault_${at} BEFORE ${event} ${writes}${fault}`;
    }),
  );
  try {
    return await work();
  } finally {
    await env.DB.exec("DROP TRIGGER fault");
    await execute(...inPool.map((_, at) => `DROP TRIGGER fault_${at}`));
  }
};

interface Step {
  route: string;
  action: string;
  /** The caller's token; the admin's by default. */
  token?: string;
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
}

describe("the audit", () => {
  const orgId = `audited-${crypto.randomUUID().slice(0, 8)}`;
  const covered = new Set<string>();
  let admin = "";

  /**
   * Takes a step twice: first while no audit row can be written, when it must have no effect; then normally, when it
   * must write one row.
   */
  const step = async ({ route, action, token = admin, path, body, headers = {} }: Step) => {
    covered.add(route);
    const [method = ""] = route.split(" ");
    const knownPool = route === "POST /organization" ? null : orgId;
    const dump = () => storedRows(...(knownPool ? [knownPool] : []));
    if (knownPool) await poolStub(knownPool).flush();
    const before = await dump();
    const failed = await unaudited(knownPool, () => call(token, method, path, body, headers));
    expect(failed.status, `${route} without an audit: ${failed.text}`).toBe(503);
    expect(failed.text).not.toContain(CANARY);
    expect((await dump()) === before, `${route} without an audit changed what is stored`).toBe(true);
    const answer = await call(token, method, path, body, headers);
    expect(answer.status, `${route}: ${answer.text}`).toBeLessThan(300);
    await poolStub(orgId).flush();
    const rows = await auditOf(orgId, answer.headers.get("X-Request-Id"));
    const mine = rows.filter((row) => row.action === action);
    expect(mine, `${route}: ${JSON.stringify(rows)}`).toHaveLength(1);
    expect(rows.filter((row) => row.action !== action)).toEqual([]);
    expect(JSON.stringify(rows)).not.toContain(CANARY);
    expect(mine[0]!.actor).toMatch(/^(token:[0-9a-f-]{36}|agent:[0-9a-f-]{36}|operator)$/);
    return { answer, row: mine[0]! };
  };

  it("has one row for every write, with who, what and the request, or the write does not happen", async () => {
    const made = await step({
      ...{ route: "POST /organization", action: "organization.create", token: operator, path: "/organization" },
      body: { id: orgId, name: "Audited" },
    });
    admin = made.answer.body.token;
    await call(operator, "GET", "/operator/rewrap");
    const self = (await call(admin, "GET", "/token/self")).body;
    const create = async (path: string, action: string, body: unknown, token?: string) => {
      const { answer, row } = await step({ route: `POST ${path.replace(orgId, ":id")}`, action, path, body, token });
      const byAdmin = token === undefined;
      expect(row).toMatchObject({ subject: answer.body.id, ...(byAdmin ? { actor: `token:${self.id}` } : {}) });
      return answer.body;
    };
    const change = async (route: string, action: string, id: string, body?: unknown) => {
      const [, path = ""] = route.split(" ");
      const { answer, row } = await step({ route, action, path: path.replace(":id", id), body });
      expect(row.subject).toBe(id);
      return answer.body;
    };

    await create(`/organization/${orgId}/token`, "token.create", undefined, operator);
    await step({
      ...{ route: "PUT /organization/:id", action: "organization.update", token: operator },
      ...{ path: `/organization/${orgId}`, body: { limits: { tokens: 500 } } },
    });
    await step({
      ...{ route: "POST /operator/dead-letter/retry", action: "dead-letter.retry", token: operator },
      ...{ path: "/operator/dead-letter/retry", body: { orgId } },
    });
    const registration = await create("/token", "token.create", { name: "r", kind: "registration" });
    const spare = await create("/token", "token.create", { name: "spare", kind: "api", role: "viewer" });
    await change("POST /token/:id/rotate", "token.rotate", spare.id, {});
    await change("PUT /token/:id", "token.update", spare.id, { role: "member" });
    await change("DELETE /token/:id", "token.revoke", spare.id);

    const host = { kind: "gitea", name: "host", webUrl: "https://git.example" };
    const connection = await create("/connection", "connection.create", host);
    await change("PUT /connection/:id", "connection.update", connection.id, { name: "other" });
    await change("POST /connection/:id/rotate", "connection.rotate", connection.id);
    await change("GET /connection/:id/hook", "connection.reveal", connection.id);
    const hosted = { hostRepoId: 7, fullName: "acme/hosted" };
    await step({
      ...{ route: "POST /connection/:id/repository", action: "repository.connect" },
      ...{ path: `/connection/${connection.id}/repository`, body: hosted },
    });

    const cloneUrl = "https://git.example/acme/app.git";
    const wanted = { gitHostRepoId: 1, fullName: "acme/app", cloneUrl };
    const repository = await create("/repository", "repository.connect", wanted);
    await change("PUT /repository/:id", "repository.update", repository.id, { defaultBranch: "trunk" });
    const credential = { kind: "token", value: CANARY };
    await change("PUT /repository/:id/credential", "credential.set", repository.id, credential);
    await change("DELETE /repository/:id/credential", "credential.delete", repository.id);
    const group = await create("/secrets/groups", "group.create", { name: "g" });
    await change("PUT /secrets/groups/:id", "group.update", group.id, { name: "h" });
    const pipeline = await create("/pipeline", "pipeline.create", { repoId: repository.id, name: "ci" });
    await change("PUT /pipeline/:id", "pipeline.update", pipeline.id, { timeoutSeconds: 60 });
    await change("POST /pipeline/:id/badge", "badge.create", pipeline.id);
    await change("DELETE /pipeline/:id/badge", "badge.delete", pipeline.id);
    const nightly = { pipelineId: pipeline.id, name: "nightly", cron: "0 3 * * *", envVariables: { KEY: CANARY } };
    const schedule = await create("/schedule", "schedule.create", nightly);
    await change("PUT /schedule/:id", "schedule.update", schedule.id, { envVariables: { KEY: `${CANARY}2` } });
    await change("DELETE /schedule/:id", "schedule.delete", schedule.id);
    const owner = { scope: "organization", orgId };
    const secret = { key: "SECRET", value: CANARY, isSecret: true, ...owner };
    const variable = await create("/secrets/variables", "variable.create", secret);
    await change("PUT /secrets/variables/:id", "variable.update", variable.id, { value: `${CANARY}2` });

    const skills = { platform: 2, canBuildIOS: false, canBuildAndroid: false, canBuildWeb: true };
    const agent = await create("/buildagent/register", "agent.register", { name: "a", ...skills }, registration.token);
    await change("PUT /buildagent/:id", "agent.update", agent.id, { name: "b" });

    const run = { envVariables: { RUN: CANARY }, secretKeys: ["RUN"] };
    const first = await create("/build", "build.create", { pipelineId: pipeline.id, branch: "main", ...run });
    await change("POST /build/:id/cancel", "build.cancel", first.id);
    const retried = await step({
      ...{ route: "POST /build/:id/retry", action: "build.create", path: `/build/${first.id}/retry` },
    });
    await change("POST /build/:id/cancel", "build.cancel", retried.answer.body.id);
    const path = `/repository/${repository.id}/build`;
    const build = await step({
      ...{ route: "POST /repository/:id/build", action: "build.create", path, body: { branch: "main" } },
    });
    await change("POST /build/:id/cancel", "build.cancel", build.answer.body.id);
    await change("DELETE /build/:id/log", "log.delete", first.id);
    await change("DELETE /build/:id", "build.delete", first.id);

    const gated = { name: "gated", definition: "jobs: { a: { gate: {}, steps: [{ run: make }] } }" };
    const several = await create("/pipeline", "pipeline.create", { repoId: repository.id, ...gated });
    const waiting = async () => {
      const named = { pipelineId: several.id, branch: "main", commitSha: "c".repeat(40) };
      const { id, jobs } = await create("/build", "build.create", named);
      return { build: id, job: jobs[0].id };
    };
    const decide = async (noun: "build" | "job", verb: string) => {
      const ids = await waiting();
      const route = `POST /${noun}/:id/${verb}`;
      const { row } = await step({ route, action: `job.${verb}`, path: `/${noun}/${ids[noun]}/${verb}` });
      expect(row.subject).toBe(ids.job);
      return ids;
    };
    for (const noun of ["build", "job"] as const) {
      await decide(noun, "reject");
      const { job } = await decide(noun, "approve");
      await change("POST /job/:id/cancel", "job.cancel", job);
    }

    await change("DELETE /buildagent/:id", "agent.remove", agent.id);
    await change("DELETE /secrets/variables/:id", "variable.delete", variable.id);
    await change("DELETE /pipeline/:id", "pipeline.delete", pipeline.id);
    await change("DELETE /pipeline/:id", "pipeline.delete", several.id);
    await change("DELETE /secrets/groups/:id", "group.delete", group.id);
    await change("DELETE /repository/:id", "repository.delete", repository.id);

    const byAgents =
      /\/(start|progress|release|finish|heartbeat|log|file|plan|environment|download|tests)$|^\/job\/:id\/(artifact|cache)(\/find|\/:(artifact|cache)Id\/.*)?$/;
    const writing = ROUTES.filter(({ method, path }) => method !== "GET" && !byAgents.test(path));
    const missing = writing.map(({ method, path }) => `${method} ${path}`).filter((route) => !covered.has(route));
    // A redelivery leaves the entries of its builds (deliveries.test.ts).
    // A connection is deleted in two writes, each with its own entry (connection-troubles.test.ts).
    // The host knows where an App is installed (app-connections.test.ts).
    // The audit is deleted with its organization; former_organization keeps the slug and the time of the deletion.
    // Other tests delete and share artifacts, and empty a cache (artifacts.test.ts, cache.test.ts).
    expect(missing.sort()).toEqual([
      "DELETE /connection/:id",
      "DELETE /job/:id/artifact/:name",
      "DELETE /organization/:id",
      "DELETE /repository/:id/cache",
      "POST /connection/:id/delivery/:deliveryId/redeliver",
      "POST /connection/:id/installation",
      "POST /job/:id/artifact/:name/share",
      "POST /operator/pool/restore",
      "POST /operator/restored",
      "POST /operator/rewrap",
      "POST /pipeline/check",
    ]);
    const { body } = await call(admin, "GET", "/audit?limit=200");
    expect(JSON.stringify(body)).not.toContain(CANARY);
    const restored = { what: "database", orgId };
    const failed = await unaudited(orgId, () => call(operator, "POST", "/operator/restored", restored));
    expect(failed.body).toMatchObject({ organizations: 0, failed: [orgId] });
  });

  it("records every hand-out, or none of its bytes leave", async () => {
    const works = await newBuildSetup();
    const { admin, agent, orgId, pipeline } = works;
    const secret = { key: "SECRET", value: CANARY, isSecret: true, scope: "organization", orgId };
    await create(admin, "/secrets/variables", secret);
    await call(admin, "PUT", `/repository/${works.repository.id}/credential`, {
      kind: "token",
      value: `${CANARY}-clone`,
    });
    const { id } = await triggerBuild(admin, pipeline.id, { envVariables: { RUN: CANARY } });
    const refused = await unaudited(orgId, () => pollOnce(agent));
    expectProblem(refused as unknown as Answer<never>, 503, "unavailable");
    expect(refused.text).not.toContain(CANARY);
    expect((await call(admin, "GET", `/build/${id}`)).body).toMatchObject({ environment: null, attempt: 0 });
    await call(admin, "POST", `/build/${id}/cancel`);
    const job = await finishNewJob(works, { envVariables: { RUN: CANARY } });
    expect(job.env).toMatchObject({ SECRET: CANARY, RUN: CANARY });
    await poolStub(orgId).flush();
    const { body } = await call<AuditEntry[]>(admin, "GET", `/audit?subject=${job.build.id}&action=build.deliver`);
    expect(body).toMatchObject([
      { actor: `agent:${agent.id}`, detail: { agentId: agent.id, keys: ["RUN", "SECRET"] } },
    ]);
    expect(body[0]!.requestId).not.toBeNull();
    expect(JSON.stringify(body)).not.toContain(CANARY);
    expect((await call<AuditEntry[]>(admin, "GET", `/audit?subject=${id}&action=build.deliver`)).body).toEqual([]);
  });

  it("records every hand-out: a build that the pool could not record goes to no agent", async () => {
    const { admin, agent, orgId, pipeline } = await newBuildSetup();
    const { id } = await triggerBuild(admin, pipeline.id);
    await poolStub(orgId).flush();
    expect((await unaudited(orgId, () => pollOnce(agent))).status).toBe(503);
    // Lets the agent's pause pass.
    vi.setSystemTime(Date.now() + 10_000);
    expect((await pollOnce(agent)).body.build.id).toBe(id);
    await poolStub(orgId).flush();
    const { body } = await call<AuditEntry[]>(admin, "GET", `/audit?subject=${id}`);
    expect(body.map(({ action }) => action)).toEqual(["build.deliver", "build.create"]);
  });
});

describe("a write that arrives too late", () => {
  it("changes nothing and leaves no row", async () => {
    const { admin, orgId, repository, pipeline } = await newBuildSetup();
    const group = await create(admin, "/secrets/groups", { name: "g" });
    const one = await create(admin, "/secrets/variables", {
      ...{ key: "K", value: "v", isSecret: true, scope: "organization", orgId },
    });
    const token = await create(admin, "/token", { name: "t", kind: "api" });
    const credential = `/repository/${repository.id}/credential`;
    const set = (value: string) => ({ kind: "token", value });
    await call(admin, "PUT", credential, set("first"));
    type Doing = [method: string, path: string, body?: unknown];
    const rename: Doing = ["PUT", `/secrets/variables/${one.id}`, { description: "newer" }];
    const races: [late: Doing, early: Doing][] = [
      [["PUT", `/secrets/variables/${one.id}`, { value: "late" }], rename],
      [["DELETE", `/secrets/variables/${one.id}`], rename],
      [
        ["PUT", `/secrets/groups/${group.id}`, { name: "late" }],
        ["PUT", `/secrets/groups/${group.id}`, { name: "h" }],
      ],
      [
        ["DELETE", `/secrets/groups/${group.id}`],
        ["PUT", `/secrets/groups/${group.id}`, { name: "i" }],
      ],
      [
        ["PUT", `/repository/${repository.id}`, { defaultBranch: "late" }],
        ["PUT", `/repository/${repository.id}`, { defaultBranch: "b" }],
      ],
      [
        ["PUT", `/pipeline/${pipeline.id}`, { name: "late" }],
        ["PUT", `/pipeline/${pipeline.id}`, { name: "c" }],
      ],
      [
        ["DELETE", `/pipeline/${pipeline.id}`],
        ["PUT", `/pipeline/${pipeline.id}`, { name: "d" }],
      ],
      [
        ["PUT", credential, set("late")],
        ["PUT", credential, set("second")],
      ],
      [
        ["DELETE", credential],
        ["PUT", credential, set("third")],
      ],
      [
        ["PUT", credential, set("late")],
        ["PUT", `/repository/${repository.id}`, { cloneUrl: "https://git.example/b.git" }],
      ],
      [
        ["POST", `/token/${token.id}/rotate`, {}],
        ["POST", `/token/${token.id}/rotate`, {}],
      ],
      [
        ["DELETE", `/token/${token.id}`],
        ["POST", `/token/${token.id}/rotate`, {}],
      ],
    ];
    for (const [late, early] of races) {
      const name = `${late.join(" ")} after ${early.join(" ")}`;
      let batches = 0;
      // The first batch reads, the second writes. Between them, somebody else makes a change.
      const before = async () => {
        batches += 1;
        if (batches === 2) expect((await call(admin, ...early)).status, name).toBeLessThan(300);
      };
      const answer = await callDeployedWith({ DB: databaseWithHook(before) })(admin, ...late);
      expect(batches, name).toBeGreaterThanOrEqual(2);
      expect([404, 409], `${name}: ${answer.text}`).toContain(answer.status);
      expect(await auditOf(orgId, answer.headers.get("X-Request-Id")), name).toEqual([]);
    }
    const lost = await callDeployedWith({
      DB: databaseWithHook(
        async () => void (await env.DB.prepare("DELETE FROM token WHERE org_id = ?").bind(orgId).run()),
      ),
    })(admin, "POST", "/secrets/groups", { name: "by a revoked one" });
    expect(lost.status).toBe(401);
    expect(await auditOf(orgId, lost.headers.get("X-Request-Id"))).toEqual([]);
  });
});

describe("GET /audit", () => {
  it("filters by actor, action, subject and time, newest first, in pages", async () => {
    const { admin, orgId } = await newOrganization();
    const maintainer = await newToken(admin, "maintainer");
    const { id: self } = (await call(maintainer, "GET", "/token/self")).body;
    for (let n = 0; n < 5; n++) await create(maintainer, "/secrets/groups", { name: `g${n}` });
    const { id } = await create(admin, "/secrets/groups", { name: "of the admin" });
    const all: AuditEntry[] = (await call(admin, "GET", "/audit")).body;
    expect(all.map(({ action }) => action)).toEqual([
      ...Array(6).fill("group.create"),
      ...["token.create", "organization.create"],
    ]);
    const found = async (query: string) => (await call<AuditEntry[]>(admin, "GET", `/audit?${query}`)).body;
    expect(await found(`actor=token:${self}`)).toHaveLength(5);
    expect(await found("action=token.create")).toHaveLength(1);
    expect(await found(`subject=${id}`)).toMatchObject([
      { orgId, action: "group.create", detail: { name: "of the admin" } },
    ]);
    expect(await found(`since=${all[0]!.at}`)).toContainEqual(all[0]);
    expect(await found(`until=${all.at(-1)!.at}`)).toEqual([]);
    expect(await found(`since=${all.at(-1)!.at}&action=group.create&actor=token:${self}`)).toHaveLength(5);
    const pages: AuditEntry[] = [];
    for (let next: string | undefined = "/audit?limit=3"; next; ) {
      const page: Answer<AuditEntry[]> = await call(admin, "GET", next);
      expect(page.body.length).toBeLessThanOrEqual(3);
      pages.push(...page.body);
      next = /<https:\/\/millrace\.test([^>]+)>; rel="next"/.exec(page.headers.get("Link") ?? "")?.[1];
    }
    expect(pages).toEqual(all);
    for (const bad of ["since=yesterday", "limit=0", "limit=201", "colour=red", "cursor=%00"]) {
      expectProblem(await call(admin, "GET", `/audit?${bad}`), 422, "invalid");
    }
    expectProblem(await call(maintainer, "GET", "/audit"), 403, "forbidden");
  });
});

describe("a secret's uses", () => {
  let works: Awaited<ReturnType<typeof newBuildSetup>>;
  const ids: Record<string, string> = {};
  beforeAll(async () => {
    works = await newBuildSetup();
    const { admin, orgId, repository } = works;
    const make = async (key: string, owner: object, name: string) => {
      const body = { key, value: "some secret", isSecret: true, ...owner };
      ids[name] = (await create(admin, "/secrets/variables", body)).id;
    };
    await make("WON", { scope: "repository", repoId: repository.id }, "winner");
    await make("WON", { scope: "organization", orgId }, "loser");
    await make("IDLE", { scope: "organization", orgId }, "idle");
    await call(admin, "PUT", `/secrets/variables/${ids.idle}`, { isActive: false });
  });

  it("are shown by the variable, by the list of its uses, and by the list of unused ones", async () => {
    const { admin, agent, orgId } = works;
    const get = async (path: string) => (await call(admin, "GET", path)).body;
    const unused = async (query = "") => (await get(`/secrets/unused${query}`)).map(({ id }: { id: string }) => id);
    expect(await unused()).toEqual([ids.winner, ids.loser, ids.idle]);
    expect(await get(`/secrets/variables/${ids.winner}`)).toMatchObject({ lastUsedAt: null, lastUsedBy: null });
    const [first] = [await finishNewJob(works), await finishNewJob(works)];
    await poolStub(orgId).flush();
    const uses = await get(`/secrets/variables/${ids.winner}/uses`);
    expect(uses).toMatchObject([{ buildId: first.build.id, agentId: agent.id }]);
    expect(await get(`/secrets/variables/${ids.winner}`)).toMatchObject({
      ...{ lastUsedAt: uses[0].at, lastUsedBy: first.build.id, version: 1 },
    });
    expect(await get(`/secrets/variables/${ids.loser}/uses`)).toEqual([]);
    expect(await unused()).toEqual([ids.loser, ids.idle]);
    const long = new Date(Date.now() - 40 * 86_400_000).toISOString();
    await env.DB.prepare("UPDATE variable SET last_used_at = ? WHERE id = ?").bind(long, ids.winner).run();
    expect(await unused("?days=30")).toContain(ids.winner);
    expect(await unused("?days=50")).not.toContain(ids.winner);
    for (const days of ["0", "401", "x"]) {
      expectProblem(await call(admin, "GET", `/secrets/unused?days=${days}`), 422, "invalid");
    }
    const deliveries = (await call(admin, "GET", "/audit?action=build.deliver")).body as AuditEntry[];
    expect(deliveries.map(({ detail }) => detail)).toMatchObject([{ keys: ["WON"] }, { keys: ["WON"] }]);
  });

  it("are forgotten with the audit, and not earlier", async () => {
    const { admin } = works;
    const uses = async () => (await call(admin, "GET", `/secrets/variables/${ids.winner}/uses`)).body.length;
    const at = (days: number) => new Date(Date.now() + days * 86_400_000);
    expect(await uses()).toBe(1);
    await keepUp(env, at(399), { buildDays: 90, auditDays: 400 });
    expect(await uses()).toBe(1);
    await keepUp(env, at(401), { buildDays: 90, auditDays: 400 });
    expect(await uses()).toBe(0);
  });
});
