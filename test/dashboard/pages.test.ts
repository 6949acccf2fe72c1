import { env, exports } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { FORMS, PAGES } from "../../src/dashboard/page-routes.ts";
import { ROLES, type Role } from "../../src/protocol/token.ts";
import { LONGEST_MS, openSession, SESSION_MS, sealSession } from "../../src/services/sessions.ts";
import { created, newOrganization, newToken } from "../support/api.ts";

const ORIGIN = "https://millrace.test";
const NOBODY = "01900000-0000-7000-8000-000000000000";

const ask = (
  path: string,
  { cookie, ...init }: RequestInit & { cookie?: string; headers?: Record<string, string> } = {},
) =>
  exports.default.fetch(
    new Request(`${ORIGIN}/app${path.replace(":id", NOBODY)}`, {
      redirect: "manual",
      ...init,
      headers: { ...(cookie ? { Cookie: cookie } : {}), ...init.headers },
    }),
  );

const send = (path: string, cookie: string | undefined, headers: Record<string, string>, form = {}) =>
  ask(path, { cookie, method: "POST", headers, body: new URLSearchParams(form) });

const signIn = async (token: string) => {
  const answer = await send("/sign-in", undefined, { Origin: ORIGIN }, { token });
  expect(answer.status).toBe(303);
  return answer.headers.get("Set-Cookie") ?? "";
};

const cookieFor = async (role: Role) => {
  const { admin } = await newOrganization();
  return (await signIn(await newToken(admin, role))).split(";")[0] as string;
};

describe("a session", () => {
  it("is a sealed cookie of this host alone, over https", async () => {
    const { admin } = await newOrganization();
    const cookie = await signIn(admin);
    expect(cookie).toMatch(/^__Host-millrace=m1\.[^;]+; /);
    for (const attribute of ["HttpOnly", "Secure", "SameSite=Strict", "Path=/", `Max-Age=${SESSION_MS / 1000}`]) {
      expect(cookie.split("; ")).toContain(attribute);
    }
    expect(cookie).not.toContain("Domain");
    expect(cookie).not.toContain(admin);
  });

  it("is over at its end, and opens from no other seal of the same key", async () => {
    const now = new Date("2026-11-21T12:00:00Z");
    const sealed = await sealSession(env, { token: "t", expiresAt: now.getTime() + 1 });
    expect(await openSession(env, sealed, now)).toMatchObject({ token: "t" });
    expect(await openSession(env, sealed, new Date(now.getTime() + 1))).toBeNull();
    expect(await openSession(env, sealed.replace(/.$/, "x"), now)).toBeNull();
    expect(
      await openSession({ SECRETS_KEYS: `s1:${btoa("another key of exactly 32 bytes!")}` }, sealed, now),
    ).toBeNull();
  });

  it("does not begin over plain http, except on loopback", async () => {
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

  it("leads nobody elsewhere after signing in", async () => {
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
      const answer = await send("/sign-in", undefined, { Origin: ORIGIN }, { token: admin, next });
      expect(answer.headers.get("Location")).toBe("/app/builds");
    }
    const own = await send("/sign-in", undefined, { Origin: ORIGIN }, { token: admin, next: "/app/agents?x=1" });
    expect(own.headers.get("Location")).toBe("/app/agents?x=1");
  });
});

describe("a copy of a session's cookie", () => {
  const cookieIn = (answer: Response) => (answer.headers.get("Set-Cookie") ?? "").split(";")[0] as string;
  const statusOf = async (cookie: string) => (await ask("/builds", { cookie })).status;

  it("opens nothing once the person has signed out, nor does one that was prolonged before", async () => {
    const { admin } = await newOrganization();
    const token = await newToken(admin, "viewer");
    const [mine, elsewhere] = [(await signIn(token)).split(";")[0] ?? "", (await signIn(token)).split(";")[0] ?? ""];
    const session = await openSession(env, decodeURIComponent(mine.slice(mine.indexOf("=") + 1)), new Date());
    const late = await sealSession(env, { ...session!, expiresAt: Date.now() + 60_000 });
    const prolonged = cookieIn(await ask("/builds", { cookie: `__Host-millrace=${late}` }));
    expect([await statusOf(mine), await statusOf(prolonged)]).toEqual([200, 200]);
    await send("/sign-out", prolonged, { Origin: ORIGIN });
    expect([await statusOf(mine), await statusOf(prolonged)]).toEqual([303, 303]);
    expect(await statusOf(elsewhere)).toBe(200);
    expect((await send("/groups", mine, { Origin: ORIGIN }, { name: "by a copy" })).status).toBe(303);
  });

  it("is not prolonged for ever", async () => {
    const { admin } = await newOrganization();
    const prolongs = async (begunAt?: number) => {
      const id = begunAt === undefined ? undefined : crypto.randomUUID();
      const sealed = await sealSession(env, { token: admin, expiresAt: Date.now() + 60_000, id, begunAt });
      return (await ask("/builds", { cookie: `__Host-millrace=${sealed}` })).headers.has("Set-Cookie");
    };
    expect(await prolongs(Date.now())).toBe(true);
    expect(await prolongs(Date.now() - LONGEST_MS + 30_000)).toBe(false);
    expect(await prolongs()).toBe(true);
  });
});

describe("whoever is turned away", () => {
  it("is told that the token was revoked, and led back after signing in", async () => {
    const { admin } = await newOrganization();
    const { id, token } = await created<{ id: string; token: string }>(admin, "/token", {
      name: "short",
      kind: "api",
      role: "viewer",
    });
    const cookie = (await signIn(token)).split(";")[0] ?? "";
    const revoked = await exports.default.fetch(
      new Request(`${ORIGIN}/token/${id}`, { method: "DELETE", headers: { Authorization: `Bearer ${admin}` } }),
    );
    expect(revoked.status).toBe(204);
    const answer = await ask("/agents?q=x", { cookie });
    expect(answer.headers.get("Location")).toBe("/app/sign-in?why=over&next=%2Fapp%2Fagents%3Fq%3Dx");
    expect(await (await ask("/sign-in?why=over")).text()).toContain("its token was revoked");
    expect(await (await ask("/sign-in?why=<b>")).text()).not.toContain("signed out");
  });

  it("keeps the frame of the pages, where signed in", async () => {
    const cookie = await cookieFor("viewer");
    for (const [path, status] of [
      ["/nothing", 404],
      ["/builds/:id", 404],
      ["/tokens", 403],
    ] as const) {
      const answer = await ask(path, { cookie });
      expect(answer.status).toBe(status);
      expect(await answer.text()).toMatch(/<nav aria-label="Pages">.*Request <code>/s);
      expect(await (await ask(path)).text()).not.toContain("<nav");
    }
  });

  it("is led from an address with a slash too many to the page", async () => {
    const cookie = await cookieFor("viewer");
    for (const [path, to] of [
      ["/", "/app"],
      ["/builds/", "/app/builds"],
      ["/agents/?q=x", "/app/agents?q=x"],
    ] as const) {
      const { pathname, search } = new URL((await ask(path, { cookie })).headers.get("Location") ?? "", ORIGIN);
      expect(pathname + search).toBe(to);
    }
  });
});

describe("a repository that is connected without its number", () => {
  it("gets one from its clone address: always the same, above those of git hosts, and a whole number", async () => {
    const { admin } = await newOrganization();
    const cookie = (await signIn(admin)).split(";")[0] ?? "";
    const connect = (name: string) =>
      send(
        "/repositories/new",
        cookie,
        { Origin: ORIGIN },
        {
          fullName: `acme/${name}`,
          cloneUrl: `https://git.example/acme/${name}.git`,
          gitHostRepoId: "",
        },
      );
    expect([(await connect("one")).status, (await connect("two")).status]).toEqual([303, 303]);
    const again = await connect("one");
    expect([again.status, await again.text()]).toEqual([
      422,
      expect.stringContaining("There is already one like this"),
    ]);
    const listed = await exports.default.fetch(
      new Request(`${ORIGIN}/repository`, { headers: { Authorization: `Bearer ${admin}` } }),
    );
    const numbers = ((await listed.json()) as { gitHostRepoId: number }[]).map(({ gitHostRepoId }) => gitHostRepoId);
    expect(new Set(numbers).size).toBe(2);
    for (const number of numbers) {
      expect(Number.isSafeInteger(number)).toBe(true);
      expect(number).toBeGreaterThan(2 ** 52 - 1);
    }
  });
});

describe("every form", () => {
  const paths = [...FORMS.map(({ path }) => path), "/sign-in", "/sign-out", "/pipelines/check"];

  it("is refused unless it comes from a page of this origin", async () => {
    const cookie = await cookieFor("admin");
    const others = [{}, { Origin: "null" }, { Origin: "http://millrace.test" }, { Origin: `${ORIGIN}.evil.example` }];
    const sites = [
      { Origin: ORIGIN, "Sec-Fetch-Site": "same-site" },
      { Origin: ORIGIN, "Sec-Fetch-Site": "cross-site" },
    ];
    for (const path of paths) {
      for (const headers of [...others, ...sites] as Record<string, string>[]) {
        const answer = await send(path, cookie, headers);
        expect(answer.status, `${path} ${JSON.stringify(headers)}`).toBe(403);
        expect(await answer.text()).toContain("This request came from another site");
      }
    }
  });

  it("that is refused says how many fields need a change, each mistake once at its field, and leads to the first", async () => {
    const cookie = await cookieFor("maintainer");
    const form = { fullName: "no-owner", cloneUrl: "nowhere", gitHostRepoId: "7", defaultBranch: "" };
    const answer = await send("/repositories/new", cookie, { Origin: ORIGIN }, form);
    expect(answer.status).toBe(422);
    const text = await answer.text();
    expect(text).toMatch(/<strong>1 field needs a change\.<\/strong> Nothing was changed\./);
    expect(text).not.toContain("<code>fullName</code>");
    expect(text.match(/must have the form/g)).toHaveLength(1);
    expect(text).toMatch(/<input id="fullName"[^>]* aria-invalid="true"[^>]* autofocus/);
    expect(text.match(/ autofocus/g)).toHaveLength(1);
  });

  it("is refused below its role, and without a session", async () => {
    const cookies = Object.fromEntries(await Promise.all(ROLES.map(async (role) => [role, await cookieFor(role)])));
    for (const { path, access } of FORMS) {
      const anyone = await send(path, undefined, { Origin: ORIGIN });
      expect([path, anyone.headers.get("Location")]).toEqual([path, "/app/sign-in"]);
      for (const role of ROLES.slice(0, ROLES.indexOf(access.role ?? "admin"))) {
        expect((await send(path, cookies[role], { Origin: ORIGIN })).status, `${role} ${path}`).toBe(403);
      }
    }
  });
});

describe("every page", () => {
  it("needs a session, a role, and lets nothing in from elsewhere", async () => {
    const viewer = await cookieFor("viewer");
    const admin = await cookieFor("admin");
    for (const { path, role } of PAGES) {
      expect((await ask(path)).headers.get("Location")).toMatch(/^\/app\/sign-in\?next=/);
      if (role !== "viewer") expect((await ask(path, { cookie: viewer })).status, path).toBe(403);
      const answer = await ask(path, { cookie: admin });
      expect([200, 404], path).toContain(answer.status);
      const policy = answer.headers.get("Content-Security-Policy") ?? "";
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
      expect(policy).not.toContain("unsafe");
      expect(answer.headers.get("Cache-Control")).toBe("no-store");
      expect(answer.headers.get("X-Content-Type-Options")).toBe("nosniff");
      expect(await answer.text()).not.toMatch(
        /<script(?! type="module" src="\/app\/static\/)|<style|\sstyle=|\son\w+=/,
      );
    }
  });

  it("shows nothing of another organization", async () => {
    const { admin } = await newOrganization();
    const owner = { fullName: "acme/theirs", cloneUrl: "https://git.example/acme/theirs.git", gitHostRepoId: 1 };
    const { id } = await created(admin, "/repository", owner);
    const cookie = await cookieFor("admin");
    const theirs = await ask(`/repositories/${id}`, { cookie });
    expect(theirs.status).toBe(404);
    expect(await theirs.text()).not.toContain("theirs");
    expect(await (await ask("/repositories", { cookie })).text()).not.toContain("theirs");
  });
});

describe("a filter with a wrong value", () => {
  it("is named with the reason, and the other filters of the builds still apply", async () => {
    const { admin } = await newOrganization();
    const cookie = (await signIn(admin)).split(";")[0] ?? "";
    const repository = {
      fullName: "acme/filtered",
      cloneUrl: "https://git.example/acme/filtered.git",
      gitHostRepoId: 1,
    };
    const { id: repoId } = await created(admin, "/repository", repository);
    for (const branch of ["main", "next"]) await created(admin, "/build", { repoId, branch });
    const text = async (search: string) => (await ask(`/builds${search}`, { cookie })).text();
    const rows = (page: string) => [...page.matchAll(/<span class="branch">(\w+)</g)].map(([, branch]) => branch);
    expect(rows(await text("?branch=next"))).toEqual(["next"]);
    const wrong = await text("?branch=next&status=<b>");
    expect(rows(wrong)).toEqual(["next"]);
    expect(wrong).toMatch(/A filter was not applied\..*<code>status<\/code> must be one of queued, /s);
    expect(wrong).not.toContain("<b>");
    expect(await text("?branch=next")).not.toContain("not applied");
  });

  it("leaves the others of the audit and of the variables as they are", async () => {
    const { admin } = await newOrganization();
    const cookie = (await signIn(admin)).split(";")[0] ?? "";
    await created(admin, "/secrets/groups", { name: "one" });
    const text = async (path: string) => (await ask(path, { cookie })).text();
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
    expect(await text("/audit?action=group.create")).toContain("<code>group.create</code>");
    const wrong = await text(`/audit?until=tomorrow&since=${tomorrow}`);
    expect(wrong).toMatch(/A filter was not applied\..*<code>until<\/code>/s);
    expect(wrong).toContain("No entry matches.");
    expect(await text("/variables?owner=group:nowhere")).toMatch(/<code>owner<\/code> must be one of the list/);
    expect(await text("/variables")).not.toContain("not applied");
  });
});
