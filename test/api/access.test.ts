import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import type { Route } from "../../src/api/route.ts";
import { ROUTES } from "../../src/api/routes.ts";
import { ROLES, type Role } from "../../src/protocol/token.ts";
import type { Access } from "../../src/services/core/access.ts";
import { type Answer, create, newAgent, newOrganization, newToken } from "../support/api.ts";
import { callDeployedWith } from "../support/deployment.ts";
import { type FilledOrganization, newFilledOrganization, nounOf } from "../support/filled-organization.ts";
import { storedRows } from "../support/stored-rows.ts";

const call = callDeployedWith({});

/** Returns the contract's callers for a route. The table here is independent of the routes. */
const contracted = ({ method, path }: Route): Access => {
  if (path.startsWith("/cache/") || path.startsWith("/job/:id/cache")) return { agent: true };
  if (path === "/repository/:id/cache" && method === "DELETE") return { role: "member" };
  if (path.startsWith("/artifact/") || /\/(part\/:part|done|download)$/.test(path)) return { agent: true };
  if (path === "/job/:id/artifact" && method === "POST") return { agent: true };
  if (path === "/job/:id/tests" && method === "PUT") return { agent: true };
  if (path.includes("/artifact/:name") && method !== "GET") return { role: "member" };
  if (path.endsWith("/export")) return { role: "admin", operator: true };
  if (/^\/(organization|operator)/.test(path)) return { operator: true };
  if (
    /\/(start|progress|release|finish|heartbeat|poll)$/.test(path) ||
    (method === "POST" && path.endsWith("/environment")) ||
    (method === "PUT" && /\/(log|file|plan)$/.test(path))
  )
    return { agent: true };
  if (path === "/buildagent/register") return { role: "maintainer", registration: true };
  if (path === "/buildagent/:id") return { role: method === "GET" ? "viewer" : "maintainer", agent: true };
  if (path === "/token/self") return { role: "viewer" };
  if (path.startsWith("/connection")) {
    const isOfMaintainers = (method === "GET" && !path.endsWith("/hook")) || /\/(repository|redeliver)$/.test(path);
    return { role: isOfMaintainers ? "maintainer" : "admin" };
  }
  if (/^\/(token|audit)/.test(path)) return { role: "admin" };
  if (/^\/secrets\/(unused|.*\/uses)$/.test(path)) return { role: "maintainer" };
  if (method === "GET" || path === "/pipeline/check") return { role: "viewer" };
  return { role: /\/build$|\/(cancel|retry|approve|reject)$/.test(path) ? "member" : "maintainer" };
};

/** Valid bodies, so that only the caller and the id decide. */
const BODIES: Record<string, unknown> = {
  "/connection/:id/repository": { hostRepoId: 7, fullName: "acme/app" },
  "/repository/:id/build": { branch: "main" },
  "/repository/:id/credential": { kind: "token", value: "x" },
  "/build/:id/release": { reason: "x" },
  "/build/:id/finish": { status: "failed" },
  "/build/:id/environment": { commitSha: "c".repeat(40) },
  "/build/:id/plan": { commitSha: "c".repeat(40), path: ".millrace.yml", text: "steps: [{ run: x }]" },
  "/job/:id/artifact": { name: "app", as: "files", bytes: 1, files: 1 },
  "/job/:id/cache/find": { entries: [], codecs: [] },
  "/job/:id/cache": { key: "k", bytes: 1, sha256: "0".repeat(64), codec: "gzip" },
  "/job/:id/cache/:cacheId/done": { etags: [] },
  "/job/:id/artifact/:artifactId/done": {
    list: [{ path: "x", size: 1, mode: "644", sha256: "0".repeat(64), crc32: "0".repeat(8) }],
    etags: [],
  },
  "/job/:id/artifact/:name/share": { hours: 1 },
  "/job/:id/tests": { counts: { total: 0, failed: 0, skipped: 0, flaky: 0, seconds: 0 }, warnings: [], tests: [] },
  "/job/:id/download": { downloads: [{ from: "make" }] },
  "/job/:id/release": { reason: "x" },
  "/job/:id/finish": { status: "failed" },
  "/job/:id/environment": { commitSha: "c".repeat(40) },
};

/** A path's parameters except its id. */
const PARTS: Record<string, string> = {
  ...{
    cacheId: "00000000-0000-7000-8000-000000000000",
    artifactId: "01900000-0000-7000-8000-000000000000",
    part: "1",
    name: "report",
    path: "x",
    grant: "mrx_x.y",
  },
};

type Caller = Role | "nobody" | "operator" | "registration" | "agent" | "other agent";

const mayCall = ({ verb: { access } }: Route, caller: Caller): boolean => {
  const rank = ROLES.indexOf(caller as Role);
  if (rank >= 0) return access.role !== undefined && rank >= ROLES.indexOf(access.role);
  if (caller === "agent" || caller === "other agent") return access.agent === true;
  return caller !== "nobody" && access[caller as "operator" | "registration"] === true;
};

/** Returns all parts that could distinguish two answers, without the request's id. */
const strip = ({ status, headers, text }: Answer<unknown>) => {
  const requestId = headers.get("X-Request-Id") ?? "";
  const kept = [...headers].filter(([name]) => !["x-request-id", "millrace-bookmark"].includes(name));
  return { status, kept, text: text.replaceAll(requestId, "") };
};

describe("the access matrix", () => {
  let own: FilledOrganization;
  let foreign: FilledOrganization;
  let tokens: Record<Caller, string>;

  beforeAll(async () => {
    [own, foreign] = [await newFilledOrganization(), await newFilledOrganization()];
    const { admin } = own;
    const registration = await create(admin, "/token", { name: "r", kind: "registration" });
    tokens = {
      ...{ nobody: "", admin, operator: env.OPERATOR_TOKEN ?? "", registration: registration.token },
      ...{ viewer: await newToken(admin, "viewer"), member: await newToken(admin, "member") },
      ...{ maintainer: await newToken(admin, "maintainer"), agent: own.agent.token },
      "other agent": (await newAgent(admin)).token,
    };
  });

  const callers = (): Caller[] => Object.keys(tokens) as Caller[];

  /** Calls the route as the caller, with this id in its path. */
  const ask = ({ method, path, verb }: Route, caller: Caller, id: string, headers: Record<string, string> = {}) => {
    const query = path.endsWith("/log") && method === "PUT" ? "?offset=0" : "";
    const writes = method === "PUT" || method === "POST";
    const body = writes ? (BODIES[path] ?? (verb.body ? {} : undefined)) : undefined;
    const lease: Record<string, string> = /^\/(build|job)\//.test(path) ? { "X-Lease": "1" } : {};
    const place = path.replace(":id", id).replace(/:(\w+)/g, (literal, part: string) => PARTS[part] ?? literal);
    return call(tokens[caller], method, place + query, body, { ...lease, ...headers });
  };

  it("admits the same callers on every route as the contract", () => {
    expect(ROUTES.length).toBeGreaterThan(55);
    for (const route of ROUTES) {
      expect(route.verb.access, `${route.method} ${route.path}`).toEqual(contracted(route));
    }
  });

  it("rejects all other callers before it looks up an id, and stores nothing", async () => {
    const before = await storedRows(own.orgId, foreign.orgId);
    let refusals = 0;
    for (const route of ROUTES) {
      for (const caller of callers().filter((one) => !mayCall(route, one))) {
        const name = `${caller}: ${route.method} ${route.path}`;
        const noun = nounOf(route);
        const unknown = refusals % 2 === 0 ? crypto.randomUUID() : "not-an-id";
        const ids = route.path.includes(":id") ? [own.ids[noun] ?? "", foreign.ids[noun] ?? "", unknown] : [""];
        const answers = [];
        for (const id of ids) answers.push(strip(await ask(route, caller, id)));
        expect(answers[0]?.status, `${name}: ${answers[0]?.text}`).toBe(caller === "nobody" ? 401 : 403);
        for (const answer of answers) expect(answer, name).toEqual(answers[0]);
        refusals += answers.length;
      }
    }
    expect(await storedRows(own.orgId, foreign.orgId)).toBe(before);
    expect(refusals).toBeGreaterThan(1000);
  });

  it("treats another organization's records as missing, and stores nothing", async () => {
    const before = await storedRows(own.orgId, foreign.orgId);
    let pairs = 0;
    for (const route of ROUTES.filter(({ path, verb }) => path.includes(":id") && !verb.access.operator)) {
      for (const caller of callers().filter((one) => mayCall(route, one))) {
        const name = `${caller}: ${route.method} ${route.path}`;
        const theirs = strip(await ask(route, caller, foreign.ids[nounOf(route)] ?? ""));
        const unknown = strip(await ask(route, caller, crypto.randomUUID()));
        expect(theirs, name).toEqual(unknown);
        expect(caller.endsWith("agent") ? [403, 404, 409] : [404], `${name}: ${theirs.text}`).toContain(theirs.status);
        pairs += 1;
      }
    }
    expect(pairs).toBeGreaterThan(90);
    expect(await storedRows(own.orgId, foreign.orgId)).toBe(before);
    for (const [noun, id] of Object.entries(foreign.ids).filter(([noun]) => noun !== "/organization")) {
      expect((await call(own.admin, "GET", noun)).text, noun).not.toContain(id);
    }
  });

  it("admits permitted callers: with their own ids, the answer is about the request", async () => {
    let admitted = 0;
    // Routes that delete come last, and the route that deletes the organization after them.
    const order = ({ id, method }: Route) => (id === "deleteOrganization" ? 2 : Number(method === "DELETE"));
    for (const route of ROUTES.toSorted((a, b) => order(a) - order(b))) {
      for (const caller of callers().filter((one) => mayCall(route, one))) {
        const name = `${caller}: ${route.method} ${route.path}`;
        // A stale tag keeps the records for the next callers: only authorized callers get 412.
        const { status, text } = await ask(route, caller, own.ids[nounOf(route)] ?? "", { "If-Match": '"v0"' });
        // These paths name an artifact, a grant or a test report that does not exist. Their 404 and 403 concern it.
        const namesAnother = /\/(artifact|cache|test)\/:|^\/job\/:id\/tests$/.test(route.path);
        const isOtherAgent = caller === "other agent" && route.path.startsWith("/buildagent/:id");
        // A record without a version has no such protection: the first caller deletes it.
        const mayBeGone = route.method === "DELETE" && /^\/build|\/credential$/.test(route.path);
        if (isOtherAgent) expect(status, name).toBe(403);
        else if (!mayBeGone && !namesAnother) expect([401, 403, 404, 500], `${name}: ${text}`).not.toContain(status);
        admitted += 1;
      }
    }
    expect(admitted).toBeGreaterThan(150);
  });

  it("detects a stored change, so the comparison of stored rows can fail", async () => {
    const before = await storedRows(foreign.orgId);
    await create(foreign.admin, "/secrets/groups", { name: "another" });
    expect(await storedRows(foreign.orgId)).not.toBe(before);
    const { admin } = await newOrganization();
    const renewed = await storedRows(foreign.orgId);
    await newAgent(admin);
    expect(await storedRows(foreign.orgId)).toBe(renewed);
    await newAgent(foreign.admin);
    expect(await storedRows(foreign.orgId)).not.toBe(renewed);
  });
});
