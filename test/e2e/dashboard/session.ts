import { expect, it } from "vitest";
import { signIn } from "../../support/browser.ts";
import type { Stage } from "./stage.ts";

const cookieOf = async ({ service, browser }: Stage) => {
  const cookies = await browser.context.cookies(service.url);
  return cookies.find(({ name }) => name === "millrace");
};

export const session = (stage: Stage) => {
  const open = (cookie: string, path = "/app/builds", method = "GET", headers: Record<string, string> = {}) =>
    fetch(stage.service.url + path, { method, redirect: "manual", headers: { Cookie: cookie, ...headers } });

  it("keeps the token in a sealed cookie that no script can read", async () => {
    const { browser, client, service } = stage;
    const cookie = await cookieOf(stage);
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Strict", path: "/" });
    expect(cookie?.expires).toBeGreaterThan(Date.now() / 1000);
    expect(cookie?.value).not.toContain(client.token);
    await browser.page.goto(`${service.url}/app/builds`);
    expect(await browser.page.evaluate("document.cookie + JSON.stringify([localStorage, sessionStorage])")).toBe(
      "[{},{}]",
    );
    expect(await browser.page.content()).not.toContain(client.token);
  });

  it("rejects a changed cookie, and a cookie whose token was revoked", async () => {
    const { client, service } = stage;
    const cookie = await cookieOf(stage);
    expect((await open(`millrace=${cookie?.value}`)).status).toBe(200);
    const changed = await open(`millrace=${cookie?.value.slice(0, -4)}AAAA`);
    expect([changed.status, changed.headers.get("location")]).toEqual([303, "/app/sign-in?next=%2Fapp%2Fbuilds"]);
    const { id, token } = await client.call<{ id: string; token: string }>("POST", "/token", {
      name: "short",
      kind: "api",
      role: "viewer",
    });
    const signedIn = await fetch(`${service.url}/app/sign-in`, {
      method: "POST",
      redirect: "manual",
      headers: { Origin: service.url },
      body: new URLSearchParams({ token }),
    });
    const own = signedIn.headers.get("set-cookie")?.split(";")[0] ?? "";
    expect((await open(own)).status).toBe(200);
    await client.call("DELETE", `/token/${id}`);
    expect((await open(own)).status).toBe(303);
  });

  it("rejects tokens that are not a person's", async () => {
    const { client, service } = stage;
    const { token } = await client.call<{ token: string }>("POST", "/token", { name: "reg", kind: "registration" });
    const forged = client.token.replace(/.{4}$/, "AAAA");
    for (const wrong of [token, forged, service.operator.token, "", "mrt_"]) {
      const body = new URLSearchParams({ token: wrong, next: "//evil.example" });
      const headers = { Origin: service.url };
      const answer = await fetch(`${service.url}/app/sign-in`, { method: "POST", redirect: "manual", headers, body });
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(answer.headers.get("set-cookie")).toBeNull();
      if (wrong.length > 5) expect(await answer.text()).not.toContain(wrong);
    }
  });

  it("offers only what the role may do, and rejects everything else", async () => {
    const { client, service } = stage;
    const { token } = await client.call<{ token: string }>("POST", "/token", {
      name: "looker",
      kind: "api",
      role: "viewer",
    });
    const browser = await stage.chromium.open();
    const { page } = browser;
    await signIn(page, service.url, token);
    await page.getByRole("link", { name: "Pipelines", exact: true }).waitFor();
    for (const name of ["Tokens", "Audit", "Run build"]) expect(await page.getByRole("link", { name }).count()).toBe(0);
    expect((await page.goto(`${service.url}/app/tokens`))?.status()).toBe(403);
    await page.getByRole("heading", { name: "Forbidden" }).waitFor();
    const added = await page.request.post(`${service.url}/app/groups`, {
      form: { name: "by-a-viewer" },
      headers: { Origin: service.url },
    });
    expect(added.status()).toBe(403);
    await page.goto(`${service.url}/app/builds`);
    await page.getByRole("button", { name: "Account" }).click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("API token").waitFor();
    await page.goto(`${service.url}/app/agents`);
    expect(page.url()).toContain("/app/sign-in");
    await browser.close();
  });
};
