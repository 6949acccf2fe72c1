import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { createApp } from "../../src/api/app.ts";
import { ROUTES } from "../../src/api/routes.ts";
import { type Exchange, replay } from "../examples/replay.ts";
import { SCENARIO } from "../examples/scenario.ts";
import { call, create, newOrganization, newPipeline, newRepository } from "../support/api.ts";
import { queryPlan, recordStatements, type Statement } from "../support/recording-database.ts";

interface Cost {
  rounds: number;
  read: number;
  written: number;
}

/** Reads the answer's own cost report. */
const costOf = (headers: Headers): Cost => {
  const [, rounds, read, written] =
    /rounds=(\d+) read=(\d+) written=(\d+)/.exec(headers.get("Server-Timing") ?? "") ?? [];
  return { rounds: Number(rounds), read: Number(read), written: Number(written) };
};

/** Operations that must read every row. */
const WHOLE = /operator\/rewrap|GET \/organization$/;
/**
 * Tables with one row for each key, one row for each recent upkeep failure, and each minute's numbers. Queries read the
 * numbers from the newest until a LIMIT.
 */
const SMALL = ["key_check", "upkeep_failure", "service_metric"];
/**
 * An export is rare. It first checks the caller and the organization, and writes the audit. Requests to a git host, and
 * views of its hook, read the connection first. A schedule's values are compared with the variables that they may not
 * override. Test results are in the archive: a second query then counts each test's failures.
 */
const ROUNDS: Record<string, number> = {
  ...{ exportOrganization: 4, showHook: 2, listHostRepositories: 2, linkRepository: 3, createSchedule: 3 },
  ...{ listBuildTests: 2, getJobTests: 2 },
};

/** Returns the plan's steps that read a whole table. */
const scansIn = (plan: string[]): string[] =>
  plan.filter((step) => {
    const [, table = ""] = /^SCAN (\w+)(?! VIRTUAL)\b/.exec(step) ?? [];
    return table !== "" && table !== "CONSTANT" && table !== "json_each" && !SMALL.includes(table);
  });

const app = createApp();

describe("every operation", () => {
  const asked: { operation: string; statement: Statement }[] = [];
  let exchanges: Exchange[];

  beforeAll(async () => {
    const send = async (path: string, init: RequestInit): Promise<Response> => {
      const statements: Statement[] = [];
      const context = createExecutionContext();
      const DB = recordStatements(env.DB, statements);
      const response = await app.fetch(new Request(`https://millrace.test${path}`, init), { ...env, DB }, context);
      await waitOnExecutionContext(context);
      asked.push(...statements.map((statement) => ({ operation: `${init.method} ${path}`, statement })));
      return response;
    };
    exchanges = await replay(send, env.OPERATOR_TOKEN ?? "", ROUTES, SCENARIO);
  });

  it("finds its rows through an index", async () => {
    const scans: string[] = [];
    for (const { operation, statement } of asked) {
      if (WHOLE.test(operation)) continue;
      const found = scansIn(await queryPlan(env.DB, statement));
      scans.push(...found.map((step) => `${operation}: ${step}`));
    }
    expect(asked.length).toBeGreaterThan(200);
    expect(scans).toEqual([]);
    const unaided = { sql: "SELECT * FROM variable WHERE description = ?", values: ["x"] };
    expect(scansIn(await queryPlan(env.DB, unaided))).toEqual(["SCAN variable"]);
  });

  it("queries D1 once for a read, and at most twice to create a record", () => {
    const tooMany = exchanges.flatMap(({ operation, status, method, responseHeaders }) => {
      const { rounds } = costOf(responseHeaders);
      const usual = method === "GET" ? 1 : status === 201 ? 2 : Number.POSITIVE_INFINITY;
      const limit = ROUNDS[operation] ?? usual;
      return rounds > limit ? [`${operation}: ${rounds}`] : [];
    });
    expect(tooMany).toEqual([]);
    expect(
      exchanges.filter(({ status, responseHeaders }) => status < 400 && Number.isNaN(costOf(responseHeaders).rounds)),
    ).toEqual([]);
  });
});

describe("a list", () => {
  const COUNT = 30;
  let admin: string;
  let orgId: string;
  const ids: Record<string, string> = {};

  beforeAll(async () => {
    ({ admin, orgId } = await newOrganization());
    const [one, two] = [await newRepository(admin, 1), await newRepository(admin, 2)];
    const pipeline = await newPipeline(admin, one.id);
    const group = await create(admin, "/secrets/groups", { name: "g" });
    Object.assign(ids, { repoId: one.id, pipelineId: pipeline.id, groupId: group.id });
    const owners = [
      ...[
        { scope: "organization", orgId },
        { scope: "group", orgId, groupId: group.id },
      ],
      ...[
        { scope: "repository", repoId: one.id },
        { scope: "pipeline", pipelineId: pipeline.id },
      ],
      { scope: "repository", repoId: two.id },
    ];
    for (let n = 0; n < COUNT; n++) {
      const owner = owners[n % owners.length];
      await create(admin, "/secrets/variables", { key: `K${n}`, value: "v", isSecret: false, ...owner });
      const repoId = n % 2 ? one.id : two.id;
      const { id } = await create(admin, "/build", { repoId, branch: n % 3 ? "main" : "next" });
      await create(admin, "/token", { name: `t${n}`, kind: "api" });
      await create(admin, "/secrets/groups", { name: `g${n}` });
      await newPipeline(admin, one.id, { name: `p${n}` });
      if (n > 2) await newRepository(admin, n);
      if (n % 5) await call(admin, "POST", `/build/${id}/cancel`);
    }
    const queued = async () => (await call(admin, "GET", "/build?status=queued&limit=200")).body.length;
    await vi.waitUntil(async () => (await queued()) === COUNT / 5, { timeout: 20_000, interval: 100 });
  });

  /** Every filter of every list alone, and every pair of filters. */
  const filters: [string, Record<string, () => string>][] = [
    [
      "/secrets/variables",
      {
        ...{ orgId: () => orgId, repoId: () => ids.repoId ?? "", groupId: () => ids.groupId ?? "" },
        ...{ pipelineId: () => ids.pipelineId ?? "", scope: () => "repository", limit: () => "5" },
        key: () => "K3",
      },
    ],
    [
      "/build",
      {
        ...{ repoId: () => ids.repoId ?? "", pipelineId: () => ids.pipelineId ?? "", branch: () => "next" },
        ...{ status: () => "queued", limit: () => "5", ref: () => "refs/heads/next", event: () => "api" },
        ...{ commitSha: () => "a".repeat(40), trigger: () => "api" },
        ...{ since: () => "2020-01-01T00:00:00Z", until: () => "2099-01-01T00:00:00Z" },
      },
    ],
    ["/pipeline", { repoId: () => ids.repoId ?? "", name: () => "p7", limit: () => "1" }],
    [
      "/repository",
      {
        ...{ fullName: () => "acme/app-7", cloneUrl: () => "https://git.example/acme/app-7.git" },
        limit: () => "1",
      },
    ],
    ["/token", { name: () => "t7", limit: () => "1" }],
    ["/secrets/groups", { orgId: () => orgId, name: () => "g7", limit: () => "1" }],
    [
      "/audit",
      {
        ...{ actor: () => "operator", action: () => "variable.create", subject: () => ids.groupId ?? "" },
        ...{ since: () => "2020-01-01T00:00:00Z", until: () => "2099-01-01T00:00:00Z", limit: () => "5" },
      },
    ],
  ];

  it.each(filters)("of %s reads only the rows that it returns, whatever the filter", async (path, fields) => {
    const names = Object.keys(fields);
    for (const name of ["", ...names]) {
      const query = name === "" ? "" : `?${name}=${encodeURIComponent(fields[name]?.() ?? "")}`;
      const { status, body, headers } = await call<{ variableCount?: number }[]>(admin, "GET", path + query);
      expect(status, query).toBe(200);
      const { rounds, read, written } = costOf(headers);
      expect({ rounds, written }).toEqual({ rounds: 1, written: 0 });
      const counted = body.reduce((sum, { variableCount = 0 }) => sum + variableCount, 0);
      const token = 1;
      const beginningOfNextPage = 1;
      const needed = body.length + counted + token + beginningOfNextPage;
      expect(read, `${path}${query} gave ${body.length}`).toBeLessThanOrEqual(2 * needed);
    }
  });

  it("ignores a filter without a value", async () => {
    for (const [list, empty] of [
      ["/build?limit=5", "branch="],
      ["/audit?limit=5&action=variable.create", "actor=&subject="],
    ]) {
      const { body } = await call(admin, "GET", list ?? "");
      expect(body).toHaveLength(5);
      expect((await call(admin, "GET", `${list}&${empty}`)).body).toEqual(body);
    }
  });

  it.each(filters)("of %s uses an index for every pair of filters", async (path, fields) => {
    const names = Object.keys(fields);
    const pairs = names.flatMap((one, at) => names.slice(at + 1).map((other) => [one, other]));
    for (const pair of pairs) {
      const statements: Statement[] = [];
      const query = new URLSearchParams(pair.map((name) => [name, fields[name]?.() ?? ""]));
      const request = new Request(`https://millrace.test${path}?${query}`, {
        headers: { Authorization: `Bearer ${admin}` },
      });
      const context = createExecutionContext();
      const response = await app.fetch(request, { ...env, DB: recordStatements(env.DB, statements) }, context);
      expect(response.status).toBe(200);
      await waitOnExecutionContext(context);
      for (const statement of statements) {
        expect(scansIn(await queryPlan(env.DB, statement)), String(query)).toEqual([]);
      }
    }
  });
});

describe("a new variable", () => {
  it("reads no more rows in an organization with a thousand others", async () => {
    const { admin, orgId } = await newOrganization();
    const addRows = async (from: number, to: number): Promise<void> => {
      const numbers = JSON.stringify(Array.from({ length: to - from }, (_, at) => from + at));
      const row = `INSERT INTO variable (id, org_id, scope, owner_id, key, value, is_secret, is_active, allow_override,
        created_at, updated_at) SELECT ?1 || value, ?1, 'organization', ?1, 'K' || value, 'v', 0, 1, 1, '', ''
        FROM json_each(?2)`;
      await env.DB.prepare(row).bind(orgId, numbers).run();
    };
    const readFor = async (key: string): Promise<number> => {
      const body = { key, value: "a secret", isSecret: true, scope: "organization", orgId };
      const { status, headers } = await call(admin, "POST", "/secrets/variables", body);
      expect(status).toBe(201);
      return costOf(headers).read;
    };
    await readFor("FIRST");
    await addRows(0, 10);
    const few = await readFor("SECOND");
    await addRows(10, 1_000);
    expect(await readFor("THIRD")).toBe(few);
    const counted = "SELECT variable_count FROM organization WHERE id = ?";
    expect(await env.DB.prepare(counted).bind(orgId).first("variable_count")).toBe(1_003);
  });
});

describe("the test scenario", () => {
  it("includes every operation", () => {
    const told = new Set(SCENARIO.map(({ operation }) => operation));
    expect(ROUTES.filter(({ id }) => !told.has(id))).toEqual([]);
  });
});
