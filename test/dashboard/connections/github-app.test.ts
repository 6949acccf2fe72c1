import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { APP_PERMISSION_WORDS } from "../../../src/dashboard/connections/app.tsx";
import { APP_PERMISSIONS, loadAppStates } from "../../../src/githosts/github/app-manifest.ts";
import { call, create, newOrganization, newToken } from "../../support/api.ts";
import { newAppKeys } from "../../support/app-keys.ts";
import { HOST_TOKEN, newHost } from "../../support/host-at.ts";
import type { HostedApp } from "../../support/recording-host/host-state.ts";
import { personWith, requestPage } from "../shell/page-requests.ts";

const { key, publicKey } = newAppKeys();
const APP: HostedApp = { id: 4242, clientId: "Iv23client", publicKey, account: "acme", made: { code: "c0de", key } };

const furnished = async (proof: object = {}) => {
  const { admin: token, orgId } = await newOrganization();
  const host = await newHost({ kind: "github", app: APP });
  const body = { kind: "github", name: "our GitHub", webUrl: host.webUrl, ...proof };
  const { id } = await create(token, "/connection", body);
  const person = await personWith(token);
  const record = async () => (await call(token, "GET", `/connection/${id}`)).body;
  /** Presses the first button, and returns what the second one would send to GitHub. */
  const begin = async (organization = "acme") => {
    const shown = await person.submit(`/connections/${id}/app`, { organization });
    const [, action = ""] = /<form method="post" action="(https:[^"]*)"/.exec(shown.text) ?? [];
    const [, manifest = "{}"] = /name="manifest" value="([^"]*)"/.exec(shown.text) ?? [];
    const url = new URL(action.replaceAll("&amp;", "&") || "https://nothing.example");
    return {
      ...shown,
      url,
      state: url.searchParams.get("state") ?? "",
      manifest: JSON.parse(manifest.replaceAll("&quot;", '"')),
    };
  };
  const finish = (state: string, code = "c0de") => person.submit("/connections/github/made", { code, state });
  return { token, orgId, host, id, person, record, begin, finish };
};

describe("creating a GitHub App", () => {
  it("sends GitHub the manifest, from a page that can send forms only to GitHub", async () => {
    const { begin, id, host, token } = await furnished();
    const { url, manifest, headers } = await begin();
    expect([url.origin, url.pathname]).toEqual([host.webUrl, "/organizations/acme/settings/apps/new"]);
    const hook = await call(token, "GET", `/connection/${id}/hook`);
    expect(manifest).toMatchObject({
      ...{ public: false, hook_attributes: { url: hook.body.url, active: true } },
      redirect_url: "https://millrace.test/app/connections/github/made",
      setup_url: `https://millrace.test/app/connections/${id}/installed`,
      default_permissions: { contents: "read", checks: "write", statuses: "write", merge_queues: "read" },
    });
    expect(JSON.stringify(manifest)).not.toContain(hook.body.secret);
    expect(headers.get("Content-Security-Policy")).toContain(`form-action 'self' ${host.webUrl};`);
  });

  it("lets no other page send forms to GitHub, and can create an App for a personal account", async () => {
    const { begin, person, id } = await furnished();
    const offered = (await person.open(`/connections/${id}/app`)).text;
    expect(Object.keys(APP_PERMISSION_WORDS).sort()).toEqual(Object.keys(APP_PERMISSIONS).sort());
    for (const [permission, level] of Object.entries(APP_PERMISSIONS)) {
      const [shown] = APP_PERMISSION_WORDS[permission] ?? [""];
      expect(shown).toMatch(level === "write" ? /: read and write$/ : /: read-only$/);
      expect(offered).toContain(`<strong>${shown}</strong>`);
    }
    expect((await begin("")).url.pathname).toBe("/settings/apps/new");
    const page = await person.open(`/connections/${id}/app`);
    expect(page.headers.get("Content-Security-Policy")).toContain("form-action 'self';");
    const wrong = await person.submit(`/connections/${id}/app`, { organization: "../acme" });
    expect(wrong.status).toBe(422);
    expect(wrong.headers.get("Content-Security-Policy")).toContain("form-action 'self';");
  });

  it("stores the key sealed, sends GitHub the secret, and shows neither", async () => {
    const { begin, finish, record, host, token, id } = await furnished();
    const { state } = await begin();
    const finished = await finish(state);
    expect(finished).toMatchObject({ status: 303, to: `/app/connections/${id}/app?done=app-made` });
    expect(await record()).toMatchObject({ auth: "app", appId: "4242", installationId: null, hasToken: false });
    const { appHook, requests } = await host.seen();
    const hook = await call(token, "GET", `/connection/${id}/hook`);
    expect(appHook).toMatchObject(hook.body);
    expect(requests.flatMap(({ problems }) => problems)).toEqual([]);
    const conversion = requests.find(({ path }) => path.startsWith("/app-manifests"));
    expect(conversion?.headers).not.toHaveProperty("authorization");
    const rows = await env.DB.prepare("SELECT * FROM connection WHERE id = ?").bind(id).all();
    const audit = await call(token, "GET", "/audit");
    for (const text of [finished.text, JSON.stringify(rows.results), audit.text]) {
      expect(text).not.toMatch(/PRIVATE KEY|canary-client-secret|canary-webhook-secret/);
    }
  });

  it("creates the App only once if GitHub's redirect arrives twice", async () => {
    const { begin, finish, record, host } = await furnished();
    const { state } = await begin();
    await finish(state);
    const first = await record();
    expect((await finish(state)).status).toBe(303);
    expect(await record()).toEqual(first);
    const conversions = (await host.seen()).requests.filter(({ path }) => path.startsWith("/app-manifests"));
    expect(conversions).toHaveLength(1);
  });

  it("keeps using the previous token until the App is installed", async () => {
    const { begin, finish, record, person, id, host } = await furnished({ token: HOST_TOKEN });
    await finish((await begin()).state);
    const page = await person.submit(`/connections/${id}/installation`, {});
    expect(page.text).toContain("/installations/new");
    await host.change({ app: { ...APP, installationId: 99 } });
    const found = await person.submit(`/connections/${id}/installation`, {});
    expect(found.to).toBe(`/app/connections/${id}/repositories?done=app-installed`);
    expect(await record()).toMatchObject({ installationId: "99", account: "acme" });
  });

  it.each<[string, (state: string) => string]>([
    ["an empty one", () => ""],
    ["one of another connection", (state) => `${crypto.randomUUID()}${state.slice(36)}`],
    ["one of another time", (state) => state.replace(/\.[0-9a-z]+\./, ".zzzzzz.")],
    ["one with another tag", (state) => `${state.slice(0, -3)}AAA`],
  ])("rejects a wrong state: %s", async (_what, change) => {
    const { begin, finish, record, host } = await furnished();
    const refused = await finish(change((await begin()).state));
    expect(refused.status).toBe(422);
    expect(await record()).toMatchObject({ auth: "none" });
    expect((await host.seen()).requests).toEqual([]);
  });

  it("rejects a state of another session, of another person, or older than an hour", async () => {
    const { begin, record, token, orgId, id, finish } = await furnished();
    const { state } = await begin();
    const again = await personWith(token);
    const other = await personWith(await newToken(token, "admin"));
    for (const person of [again, other]) {
      expect((await person.submit("/connections/github/made", { code: "c0de", state })).status).toBe(422);
    }
    const making = { orgId, sessionId: "s", connectionId: id };
    const states = loadAppStates(env.TOKEN_KEYS);
    const early = await states.grant(making, 0);
    expect(await states.recognize(early, making, 3_600_000)).toBe(id);
    expect(await states.recognize(early, making, 3_601_001)).toBeUndefined();
    expect(await states.recognize(early, { ...making, orgId: "other" }, 1)).toBeUndefined();
    expect(await record()).toMatchObject({ auth: "none" });
    expect((await finish(state)).status).toBe(303);
  });

  it("rejects a code that GitHub does not know, and everyone except admins", async () => {
    const { begin, finish, record, token, id } = await furnished();
    const { state } = await begin();
    expect((await finish(state, "wrong")).status).toBe(422);
    expect((await finish(state, "../../user")).status).toBe(422);
    const maintainer = await personWith(await newToken(token, "maintainer"));
    expect((await maintainer.open(`/connections/${id}/app`)).status).toBe(403);
    expect((await maintainer.submit("/connections/github/made", { code: "c0de", state })).status).toBe(403);
    expect(await record()).toMatchObject({ auth: "none" });
  });
});

describe("the page that GitHub redirects to", () => {
  it("requires no session, changes nothing, and shows its query as text", async () => {
    const { host } = await furnished();
    const query = new URLSearchParams({ code: `"><img src=x>`, state: `"><script>` });
    const answer = await requestPage(`/connections/github/made?${query}`);
    const text = await answer.text();
    expect(answer.status).toBe(200);
    expect(text).toContain('action="/app/connections/github/made"');
    expect(text).not.toMatch(/<img src=x|<script>/);
    expect(answer.headers.get("Content-Security-Policy")).toContain("form-action 'self';");
    expect((await host.seen()).requests).toEqual([]);
  });
});
