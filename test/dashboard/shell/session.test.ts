import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { LONGEST_MS, openSession, SESSION_MS, sealSession } from "../../../src/services/tokens/sessions.ts";
import worker from "../../../src/worker.ts";
import { create, newOrganization, newToken } from "../../support/api.ts";
import { cookieFor, ORIGIN, requestPage, sendForm, signIn } from "./page-requests.ts";

describe("a session", () => {
  it("is a sealed cookie for this host only, over HTTPS", async () => {
    const { admin } = await newOrganization();
    const cookie = await signIn(admin);
    expect(cookie).toMatch(/^__Host-millrace=m1\.[^;]+; /);
    for (const attribute of ["HttpOnly", "Secure", "SameSite=Strict", "Path=/", `Max-Age=${SESSION_MS / 1000}`]) {
      expect(cookie.split("; ")).toContain(attribute);
    }
    expect(cookie).not.toContain("Domain");
    expect(cookie).not.toContain(admin);
  });

  it("ends at its expiry, and does not open if the cookie or the key was changed", async () => {
    const now = new Date("2026-11-21T12:00:00Z");
    const session = { token: "t", id: "s", begunAt: now.getTime(), expiresAt: now.getTime() + 1 };
    const sealed = await sealSession(env, session);
    expect(await openSession(env, sealed, now)).toMatchObject({ token: "t" });
    expect(await openSession(env, sealed, new Date(now.getTime() + 1))).toBeNull();
    expect(await openSession(env, sealed.replace(/.$/, "x"), now)).toBeNull();
    expect(
      await openSession({ SECRETS_KEYS: `s1:${btoa("another key of exactly 32 bytes!")}` }, sealed, now),
    ).toBeNull();
  });

  it("starts over plain HTTP only on loopback", async () => {
    const { admin } = await newOrganization();
    const over = (origin: string) =>
      exports.default.fetch(
        new Request(`${origin}/app/sign-in`, {
          method: "POST",
          redirect: "manual",
          headers: { Origin: origin },
          body: new URLSearchParams({ token: admin }),
        }),
      );
    expect((await over("http://millrace.test")).status).toBe(403);
    expect((await over("http://localhost:8787")).status).toBe(303);
    expect((await over("http://127.0.0.1:8787")).headers.get("Set-Cookie")).toMatch(/^millrace=/);
  });

  it("never redirects to another site after sign-in", async () => {
    const { admin } = await newOrganization();
    for (const next of [
      "https://evil.example",
      "//evil.example",
      "/app/../evil",
      "/app/\\evil",
      "javascript:1",
      "/x",
      "/app/%2e%2e/%2e%2e//x",
      "/app/%2E%2E/x",
      "/app/.%2e/x",
      "/app/x/%2e/y",
    ]) {
      const answer = await sendForm("/sign-in", undefined, { Origin: ORIGIN }, { token: admin, next });
      expect(answer.headers.get("Location")).toBe("/app");
    }
    const own = await sendForm("/sign-in", undefined, { Origin: ORIGIN }, { token: admin, next: "/app/agents?x=1" });
    expect(own.headers.get("Location")).toBe("/app/agents?x=1");
  });
});

describe("a copied session cookie", () => {
  const cookieIn = (answer: Response) => (answer.headers.get("Set-Cookie") ?? "").split(";")[0] as string;
  const statusOf = async (cookie: string) => (await requestPage("/builds", { cookie })).status;

  it("is useless after the person signs out, even if it was prolonged before", async () => {
    const { admin } = await newOrganization();
    const token = await newToken(admin, "viewer");
    const [mine, elsewhere] = [(await signIn(token)).split(";")[0] ?? "", (await signIn(token)).split(";")[0] ?? ""];
    const session = await openSession(env, decodeURIComponent(mine.slice(mine.indexOf("=") + 1)), new Date());
    const late = await sealSession(env, { ...session!, expiresAt: Date.now() + 60_000 });
    const prolonged = cookieIn(await requestPage("/builds", { cookie: `__Host-millrace=${late}` }));
    expect([await statusOf(mine), await statusOf(prolonged)]).toEqual([200, 200]);
    await sendForm("/sign-out", prolonged, { Origin: ORIGIN });
    expect([await statusOf(mine), await statusOf(prolonged)]).toEqual([303, 303]);
    expect(await statusOf(elsewhere)).toBe(200);
    expect((await sendForm("/groups", mine, { Origin: ORIGIN }, { name: "by a copy" })).status).toBe(303);
  });

  it("is not prolonged forever", async () => {
    const { admin } = await newOrganization();
    const prolongs = async (begunAt: number) => {
      const id = crypto.randomUUID();
      const sealed = await sealSession(env, { token: admin, expiresAt: Date.now() + 60_000, id, begunAt });
      return (await requestPage("/builds", { cookie: `__Host-millrace=${sealed}` })).headers.has("Set-Cookie");
    };
    expect(await prolongs(Date.now())).toBe(true);
    expect(await prolongs(Date.now() - LONGEST_MS + 30_000)).toBe(false);
  });
});

describe("a person without access", () => {
  it("sees that the token was revoked, and returns to the page after signing in", async () => {
    const { admin } = await newOrganization();
    const { id, token } = await create<{ id: string; token: string }>(admin, "/token", {
      name: "short",
      kind: "api",
      role: "viewer",
    });
    const cookie = (await signIn(token)).split(";")[0] ?? "";
    const revoked = await exports.default.fetch(
      new Request(`${ORIGIN}/token/${id}`, { method: "DELETE", headers: { Authorization: `Bearer ${admin}` } }),
    );
    expect(revoked.status).toBe(204);
    const answer = await requestPage("/agents?q=x", { cookie });
    expect(answer.headers.get("Location")).toBe("/app/sign-in?why=over&next=%2Fapp%2Fagents%3Fq%3Dx");
    expect(await (await requestPage("/sign-in?why=over")).text()).toContain("its token expired or was revoked");
    expect(await (await requestPage("/sign-in?why=<b>")).text()).not.toContain("signed out");
  });

  it("keeps the page frame while signed in", async () => {
    const cookie = await cookieFor("viewer");
    for (const [path, status] of [
      ["/nothing", 404],
      ["/builds/:id", 404],
      ["/tokens", 403],
    ] as const) {
      const answer = await requestPage(path, { cookie });
      expect(answer.status).toBe(status);
      expect(await answer.text()).toMatch(/<nav aria-label="Pages">.*Request ID <code>/s);
      expect(await (await requestPage(path)).text()).not.toContain("<nav");
    }
  });

  it("is redirected from an address with a trailing slash to the page", async () => {
    const cookie = await cookieFor("viewer");
    for (const [path, to] of [
      // A URL drops the dot.
      ["/.", "/app"],
      ["/builds/", "/app/builds"],
      ["/agents/?q=x", "/app/agents?q=x"],
    ] as const) {
      const { pathname, search } = new URL((await requestPage(path, { cookie })).headers.get("Location") ?? "", ORIGIN);
      expect(pathname + search).toBe(to);
    }
  });
});

describe("browsers that share a token", () => {
  /** Creates a service whose limiter counts as the platform does. `sent` has the number of requests for each key. */
  const counting = (limit: number) => {
    const sent: Record<string, number> = {};
    const TOKEN_RATE: RateLimit = {
      async limit({ key }) {
        sent[key] = (sent[key] ?? 0) + 1;
        return { success: sent[key] <= limit };
      },
    };
    const ask = async (path: string, init: RequestInit = {}): Promise<Response> => {
      const context = createExecutionContext();
      const request = new Request(`${ORIGIN}/app${path}`, { redirect: "manual", ...init });
      const answer = await worker.fetch(
        request as Parameters<typeof worker.fetch>[0],
        { ...env, TOKEN_RATE } as Env,
        context,
      );
      await waitOnExecutionContext(context);
      return answer;
    };
    const enter = (token: string) =>
      ask("/sign-in", { method: "POST", headers: { Origin: ORIGIN }, body: new URLSearchParams({ token }) });
    const leave = (cookie: string) => ask("/sign-out", { method: "POST", headers: { Origin: ORIGIN, Cookie: cookie } });
    return { sent, ask, enter, leave };
  };
  const cookieOf = (answer: Response): string => (answer.headers.get("Set-Cookie") ?? "").split(";")[0] ?? "";

  it("each have the token's request limit, so that one does not block another", async () => {
    const { admin } = await newOrganization();
    const { ask, enter } = counting(3);
    const cookies = [cookieOf(await enter(admin)), cookieOf(await enter(admin))] as const;
    const open = async (cookie: string) => (await ask("/tokens", { headers: { Cookie: cookie } })).status;
    const busy = [];
    for (let n = 0; n < 4; n++) busy.push(await open(cookies[0]));
    expect(busy).toEqual([200, 200, 200, 429]);
    expect([await open(cookies[1]), await open(cookies[1])]).toEqual([200, 200]);
  });

  it("share the token's limit for sign-ins, so that a token cannot open unlimited sessions", async () => {
    const { admin } = await newOrganization();
    const { sent, enter, leave } = counting(3);
    const statuses = [];
    for (let n = 0; n < 4; n++) statuses.push((await enter(admin)).status);
    expect(statuses).toEqual([303, 303, 303, 429]);
    expect(Object.values(sent)).toEqual([4]);
    const cookie = await cookieFor("viewer");
    const ends = [];
    for (let n = 0; n < 4; n++) ends.push((await leave(cookie)).status);
    expect(ends).toEqual([303, 303, 303, 429]);
  });
});
