import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createApp } from "../../src/api/app.ts";
import { sha256Hex } from "../../src/crypto/encoding.ts";
import { ORGANIZATION_LIMITS } from "../../src/protocol/organization.ts";
import type { Problem } from "../../src/protocol/problem.ts";
import { type Answer, call, create, expectProblem, newAgent, newOrganization, newToken } from "../support/api.ts";
import { callDeployedWith } from "../support/deployment.ts";
import { counting as countingCalls } from "../support/platform/platform.ts";

/** Calls the service with a changed environment. */
const ask = async (changed: object, path: string, init: RequestInit = {}): Promise<Response> => {
  const context = createExecutionContext();
  const request = new Request(`https://millrace.test${path}`, init);
  const response = await createApp().fetch(request, { ...env, ...changed }, context);
  await waitOnExecutionContext(context);
  return response;
};

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

afterEach(() => {
  vi.restoreAllMocks();
});

describe("GET /readyz", () => {
  it("reports ready when every dependency works", async () => {
    const response = await ask({}, "/readyz");
    expect(await response.json()).toEqual({
      isReady: true,
      checks: {
        ...{ settings: { isOk: true }, operatorToken: { isOk: true }, tokenKeys: { isOk: true } },
        ...{
          secretsKeys: { isOk: true },
          database: { isOk: true },
          migrations: { isOk: true },
          objects: { isOk: true },
          archive: { isOk: true },
        },
      },
    });
    expect(response.status).toBe(200);
    expect((await ask({ DB: null, SECRETS_KEYS: "" }, "/healthz")).status).toBe(200);
  });

  it("queries the database once for many callers, and rejects an address that calls too often", async () => {
    let asked = 0;
    const DB = {
      withSession: (constraint: string) => env.DB.withSession(constraint),
      prepare: (query: string) => {
        asked += 1;
        return env.DB.prepare(query);
      },
    };
    const keys: string[] = [];
    const limited = async ({ key }: { key: string }) => ({ success: keys.push(key) <= 100 });
    const changed = { ...env, DB, TOKEN_RATE: { limit: limited } };
    const app = createApp();
    const from = { headers: { "CF-Connecting-IP": "192.0.2.7" } };
    const ready = () => app.request("/readyz", from, changed, createExecutionContext());
    const answers = await Promise.all(Array.from({ length: 100 }, ready));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 100 }, () => 200));
    expect(asked).toBeLessThanOrEqual(2);
    const refused = await ready();
    expect([refused.status, refused.headers.get("Retry-After")]).toEqual([429, "60"]);
    expect(new Set(keys)).toEqual(new Set(["address 192.0.2.7"]));
  });

  it.each([
    ["operatorToken", { OPERATOR_TOKEN: undefined }, "OPERATOR_TOKEN is not set"],
    ["operatorToken", { OPERATOR_TOKEN: "short-canary" }, "OPERATOR_TOKEN has fewer than 32 characters"],
    ["tokenKeys", { TOKEN_KEYS: undefined }, "TOKEN_KEYS cannot be used: it is not set"],
    ["tokenKeys", { TOKEN_KEYS: "canary-of-a-key" }, "entry 1 does not have the form id:base64"],
    ["secretsKeys", { SECRETS_KEYS: "" }, "SECRETS_KEYS cannot be used: it is not set"],
    ["secretsKeys", { SECRETS_KEYS: `k9:${btoa("canary, too short")}` }, "key k9 is not 32 bytes"],
    ["settings", { POLL_SECONDS: "canary" }, "POLL_SECONDS is missing or wrong"],
    ["settings", { LEASE_SECONDS: "30" }, "LEASE_SECONDS (30) must be more than twice HEARTBEAT_SECONDS (15)"],
    ["archive", { ARCHIVE: undefined }, "not bound or does not answer"],
    ["database", { DB: { prepare: () => null, withSession: () => env.DB.withSession() } }, "does not answer"],
  ] as const)("names the problem with %s %#, without quoting the value", async (name, changed, detail) => {
    const response = await ask(changed, "/readyz");
    const text = await response.text();
    expect(response.status).toBe(503);
    expect(JSON.parse(text).checks[name]).toEqual({ isOk: false, detail: expect.stringContaining(detail) });
    expect(text).not.toContain("canary");
    expect(text).not.toContain(btoa("canary").slice(0, 7));
  });

  it("names missing migrations, and every request returns 503 until they are applied", async () => {
    const { admin } = await newOrganization();
    const older = () => ({
      DB: { withSession: () => env.DB.withSession(), prepare: (sql: string) => env.DB.prepare(sql) },
    });
    const [newest] = await env.DB.prepare("SELECT name FROM d1_migrations ORDER BY id DESC LIMIT 1").raw<[string]>();
    await env.DB.prepare("DELETE FROM d1_migrations WHERE name = ?").bind(newest?.[0]).run();
    vi.spyOn(console, "error").mockImplementation(() => {});
    const ready = await ask(older(), "/readyz");
    const refused = await ask(older(), "/repository", { headers: bearer(admin) });
    await env.DB.prepare("INSERT INTO d1_migrations (name) VALUES (?)").bind(newest?.[0]).run();
    const detail = `These migrations are not applied: ${newest?.[0]}.`;
    expect(ready.status).toBe(503);
    expect(await ready.json()).toMatchObject({ checks: { migrations: { isOk: false, detail } } });
    expect(refused.status).toBe(503);
    expect(refused.headers.get("Retry-After")).toBe("30");
    expect(await refused.json()).toMatchObject({
      type: "/problems/unavailable",
      detail: expect.stringContaining("migrations"),
    });
    expect((await ask(older(), "/repository", { headers: bearer(admin) })).status).toBe(200);
  });
});

describe("each request", () => {
  it("logs one line with its caller, route and cost, and no secret", async () => {
    const { orgId, admin } = await newOrganization();
    const lines: string[] = [];
    vi.spyOn(console, "log").mockImplementation((line: string) => lines.push(line));
    const value = "canary-of-the-log";
    const body = { key: "K", value, isSecret: true, scope: "organization", orgId };
    const { id } = await create(admin, "/secrets/variables", body);
    const answer = await call(admin, "GET", `/secrets/variables/${id}?${value}`);
    await call(null, "GET", `/${value}`);
    expect(lines).toHaveLength(3);
    expect(JSON.parse(lines[1] ?? "")).toEqual({
      ...{ level: "info", event: "request.answered" },
      ...{ requestId: answer.headers.get("X-Request-Id"), method: "GET", route: "/secrets/variables/:id", status: 200 },
      ...{ ms: expect.any(Number), orgId, caller: expect.stringMatching(/^token:[0-9a-f-]{36}$/) },
      ...{ rounds: 1, rowsRead: 2, rowsWritten: 0, weight: 1 },
    });
    expect(JSON.parse(lines[2] ?? "")).toMatchObject({ route: null, status: 404, caller: null });
    for (const line of lines) for (const secret of [value, admin]) expect(line).not.toContain(secret);
  });

  it("from an agent is logged once in a hundred times, and always when it is rejected", async () => {
    const { admin } = await newOrganization();
    const { id, token } = await newAgent(admin);
    const lines: { status: number; weight: number }[] = [];
    vi.spyOn(console, "log").mockImplementation((line: string) => lines.push(JSON.parse(line)));
    const statuses: number[] = [];
    for (let n = 0; n < 200; n++) statuses.push((await call(token, "GET", `/buildagent/${id}`)).status);
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(lines.map(({ status, weight }) => [status, weight])).toEqual([
      [200, 100],
      [200, 100],
    ]);
    for (let n = 0; n < 3; n++) await call(token, "GET", "/repository");
    expect(lines.slice(2).map(({ status, weight }) => [status, weight])).toEqual(Array(3).fill([403, 1]));
  });

  it("returns its cost in Server-Timing, unless it is rejected", async () => {
    const { admin } = await newOrganization();
    const { headers } = await call(admin, "GET", "/token/self");
    expect(headers.get("Server-Timing")).toMatch(/^total;dur=\d+, d1;desc="rounds=1 read=\d+ written=0"$/);
    expect((await call(admin, "GET", `/build/${crypto.randomUUID()}`)).headers.has("Server-Timing")).toBe(false);
  });
});

describe("too many requests", () => {
  it.each([
    ["a person's token", 600, 10_000, env.TOKEN_RATE, async (admin: string) => [admin, "/token/self"] as const],
    [
      "an agent's token",
      1200,
      20_000,
      env.AGENT_RATE,
      async (admin: string) => {
        const agent = await newAgent(admin);
        return [agent.token, `/buildagent/${agent.id}`] as const;
      },
    ],
  ])("with %s are rejected after %i a minute, and others' are not", async (_, limit, ofAll, rate, prepare) => {
    const [mine, other] = [await newOrganization(), await newOrganization()];
    const [token, path] = await prepare(mine.admin);
    const policy = (await call(token, "GET", path)).headers.get("RateLimit-Policy");
    expect(policy).toBe(`"token";q=${limit};w=60, "organization";q=${ofAll};w=60`);
    let refused: Answer<Problem> | undefined;
    const key = await sha256Hex(token);
    let sent = 1;
    // Most requests only count. A new minute would also restart the count.
    while (!refused && sent < 2 * limit + 100) {
      await Promise.all(Array.from({ length: 49 }, () => rate.limit({ key })));
      const answer = await call<Problem>(token, "GET", path);
      sent += 50;
      if (answer.status !== 200) refused = answer;
    }
    expect(sent).toBeGreaterThanOrEqual(limit);
    if (!refused) throw new Error(`The service rejected none of ${sent} requests`);
    expectProblem(refused, 429, "rate-limited");
    expect(refused.headers.get("Retry-After")).toBe("60");
    expect((await call(other.admin, "GET", "/token/self")).status).toBe(200);
  });
});

describe("an organization's requests", () => {
  /** Creates a service that accepts `each` requests per organization key, and any number per token. */
  const counting = (each: number, change: Partial<Env> = {}) => {
    const sent: Record<string, number> = {};
    const limit: RateLimit["limit"] = async ({ key }) => {
      sent[key] = (sent[key] ?? 0) + 1;
      return { success: sent[key] <= each };
    };
    return { sent, call: callDeployedWith({ ORGANIZATION_RATE: { limit }, ...change }) };
  };
  const statuses = async (ask: () => Promise<Answer<Problem>>, times: number) => {
    const answers: Answer<Problem>[] = [];
    for (let n = 0; n < times; n++) answers.push(await ask());
    const refused = answers.filter(({ status }) => status !== 200);
    for (const answer of refused) expectProblem(answer, 429, "rate-limited");
    return { taken: times - refused.length, refused: refused.at(-1) };
  };

  it("are rejected above its limit, for any number of tokens, without affecting its agents or another organization", async () => {
    const [mine, other] = [await newOrganization(), await newOrganization()];
    const tokens = await Promise.all([1, 2, 3, 4].map(() => newToken(mine.admin, "viewer")));
    const agent = await newAgent(mine.admin);
    const service = counting(6);
    const takenOf = async (ask: typeof service.call) => {
      const taken = await Promise.all(tokens.map((token) => statuses(() => ask(token, "GET", "/token/self"), 3)));
      return taken.reduce((sum, one) => sum + one.taken, 0);
    };
    expect(await takenOf(callDeployedWith({ ORGANIZATION_RATE: undefined }))).toBe(12);
    expect(await takenOf(service.call)).toBe(6);
    const { refused } = await statuses(() => service.call(mine.admin, "GET", "/token/self"), 1);
    expect(refused?.headers.get("Retry-After")).toBe("60");
    expect(refused?.body.detail).toBe(
      "All tokens of this organization together may send 10,000 requests a minute. Ask the service's operator to raise the limit.",
    );
    expect((await service.call(other.admin, "GET", "/token/self")).status).toBe(200);
    expect((await service.call(agent.token, "GET", `/buildagent/${agent.id}`)).status).toBe(200);
    expect(Object.keys(service.sent).filter((key) => key.startsWith("agents of"))).toHaveLength(1);
  });

  it("are not used up by one token that exceeds its own limit", async () => {
    const { admin } = await newOrganization();
    const service = counting(1, { TOKEN_RATE: { limit: async () => ({ success: false }) } });
    expect((await service.call(admin, "GET", "/token/self")).status).toBe(429);
    expect(service.sent).toEqual({});
  });

  it("follow the operator's limit, at the cost of one database query a minute", async () => {
    const { admin, orgId } = await newOrganization();
    const limits = { requestsPerMinute: 3 * ORGANIZATION_LIMITS.requestsPerMinute };
    await call(env.OPERATOR_TOKEN ?? "", "PATCH", `/organization/${orgId}`, { limits });
    const service = counting(2);
    await service.call("", "GET", "/healthz");
    const work = () => statuses(() => service.call(admin, "GET", "/token/self"), 60);
    const { value, asked } = await countingCalls(work);
    expect(value.taken).toBe(6);
    expect(asked.rounds).toBeLessThanOrEqual(6 + 1 + 1);
    expect(Object.keys(service.sent)).toHaveLength(3);
  });
});

describe("a page from another origin", () => {
  const settings = { DASHBOARD_ORIGINS: "https://builds.example, https://other.example" };
  const preflight = { "Access-Control-Request-Method": "PUT", "Access-Control-Request-Headers": "authorization" };

  it("may call the API if its origin is configured, and reads rejections too", async () => {
    const origin = "https://builds.example";
    const asked = await ask(settings, "/pipeline", { method: "OPTIONS", headers: { Origin: origin, ...preflight } });
    expect(asked.status).toBe(204);
    expect(asked.headers.get("Access-Control-Allow-Origin")).toBe(origin);
    expect(asked.headers.get("Access-Control-Allow-Methods")).toBe("GET, HEAD, POST, OPTIONS");
    expect(asked.headers.get("Access-Control-Allow-Headers")).toContain("Authorization");
    expect(asked.headers.get("Access-Control-Allow-Credentials")).toBeNull();
    const refused = await ask(settings, "/pipeline", { headers: { Origin: origin } });
    expect(refused.status).toBe(401);
    expect(refused.headers.get("Access-Control-Allow-Origin")).toBe(origin);
    const { admin } = await newOrganization();
    const answer = await ask(settings, "/pipeline", { headers: { Origin: origin, ...bearer(admin) } });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("Access-Control-Expose-Headers")).toContain("ETag");
    expect(answer.headers.get("Vary")).toBe("Origin");
  });

  it.each(["https://evil.example", "https://builds.example.evil.example", "null", "http://builds.example"])(
    "on %s may not call the API",
    async (origin) => {
      const asked = await ask(settings, "/pipeline", { method: "OPTIONS", headers: { Origin: origin, ...preflight } });
      expect(asked.headers.get("Access-Control-Allow-Origin")).toBeNull();
      expect(asked.headers.get("Vary")).toBe("Origin");
      const unset = await ask({}, "/pipeline", { headers: { Origin: origin } });
      expect(unset.headers.get("Access-Control-Allow-Origin")).toBeNull();
    },
  );
});

describe("HEAD and OPTIONS", () => {
  it("answer as HTTP requires, without a body", async () => {
    const { admin } = await newOrganization();
    const get = await call(admin, "GET", "/token/self");
    const head = await call(admin, "HEAD", "/token/self");
    expect([head.status, head.text, head.headers.get("ETag")]).toEqual([200, "", get.headers.get("ETag")]);
    const options = await call(null, "OPTIONS", "/secrets/variables/x");
    expect([options.status, options.headers.get("Allow")]).toEqual([204, "GET, HEAD, PUT, PATCH, DELETE, OPTIONS"]);
    expectProblem(await call(null, "OPTIONS", "/nothing"), 404, "not-found");
  });
});
