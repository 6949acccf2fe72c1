import { expect, it } from "vitest";
import type { Connection } from "../../../src/protocol/connection.ts";
import { newAppKeys } from "../../support/app-keys.ts";
import { signIn } from "../../support/browser.ts";
import { listen, RecordingHost } from "../../support/recording-host/recording-host.ts";
import { judge } from "./judge.ts";
import type { Stage } from "./stage.ts";

const { key, publicKey } = newAppKeys();

/** Serves GitHub's pages for creating and installing an App. Each redirects the browser back at once. */
const pagesOf = (host: RecordingHost) => {
  let setupUrl = "";
  return async (request: Request): Promise<Response | null> => {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/organizations/acme/settings/apps/new") {
      const manifest = JSON.parse(new URLSearchParams(await request.text()).get("manifest") ?? "{}");
      setupUrl = manifest.setup_url;
      const back = new URLSearchParams({ code: "c0de", state: searchParams.get("state") ?? "" });
      return new Response(null, { status: 302, headers: { Location: `${manifest.redirect_url}?${back}` } });
    }
    if (!pathname.endsWith("/installations/new")) return null;
    if (host.settings.app) host.settings.app.installationId = 99;
    return new Response(null, {
      status: 302,
      headers: { Location: `${setupUrl}?installation_id=99&setup_action=install` },
    });
  };
};

export const githubApp = (stage: Stage) => {
  it("creates and installs a GitHub App, although GitHub's redirect brings no cookie", async () => {
    const { service } = stage;
    const client = await service.newOrganization("by-app");
    const app = { id: 4242, clientId: "Iv23client", publicKey, account: "acme", made: { code: "c0de", key } };
    const host = new RecordingHost({
      kind: "github",
      token: "none",
      app,
      repositories: [{ id: 1, fullName: "acme/shop" }],
    });
    const served = await listen(host, pagesOf(host));
    const browser = await stage.chromium.open();
    const { page } = browser;
    await signIn(page, service.url, client.token);
    await page.goto(`${service.url}/app/connections/new?kind=github`);
    // The service and GitHub are on different sites, as in production.
    await page.getByLabel("URL").fill(served.url.replace("127.0.0.1", "localhost"));
    expect(await page.getByLabel("Token", { exact: true }).isVisible()).toBe(false);
    await page.getByRole("button", { name: "Connect" }).click();
    await page.getByLabel("GitHub organization").fill("acme");
    expect(await judge(page)).toEqual([]);
    await page.getByRole("button", { name: "Create the App" }).click();
    await page.getByRole("button", { name: "Continue to localhost" }).waitFor();
    expect(await judge(page)).toEqual([]);
    await page.getByRole("button", { name: "Continue to localhost" }).click();
    await page.getByRole("heading", { name: "GitHub App created" }).waitFor();
    expect(await judge(page)).toEqual([]);
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByText("GitHub App created. Its key is stored encrypted.").waitFor();
    expect(await judge(page)).toEqual([]);
    await page.getByRole("button", { name: "Install" }).click();
    await page.getByRole("link", { name: "Choose on GitHub" }).click();
    await page.getByRole("heading", { name: "Back from GitHub" }).waitFor();
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByText("GitHub App installed.").waitFor();
    await page.getByRole("button", { name: "Add acme/shop" }).click();
    await page.getByText("Repository connected.").waitFor();
    const connections = await client.call<Connection[]>("GET", "/connection");
    expect(connections).toMatchObject([{ auth: "app", appId: "4242", installationId: "99", account: "acme" }]);
    expect(host.requests.flatMap(({ problems }) => problems)).toEqual([]);
    expect(host.place.hooks).toEqual([]);
    const elsewhere = `requested ${served.url.replace("127.0.0.1", "localhost")}/`;
    expect(browser.complaints.filter((complaint) => !complaint.startsWith(elsewhere))).toEqual([]);
    await browser.close();
    served.close();
  });
};
