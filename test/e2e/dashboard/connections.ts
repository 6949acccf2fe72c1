import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { signIn } from "../../support/browser.ts";
import { newPush, SHA } from "../../support/host-events.ts";
import { listen, RecordingHost } from "../../support/recording-host/recording-host.ts";
import { deliver } from "./git-host.ts";
import { judge } from "./judge.ts";
import type { Stage } from "./stage.ts";

const TOKEN = "ghp_what_this_host_knows";
const RIGHT_TO_LEFT = "\u05e9\u05dc\u05d5\u05dd (1)";

const hookOn = async (page: Page) => {
  const [url = "", secret = ""] = await page.locator(".copied pre").allTextContents();
  return { url, secret };
};

export const connections = (stage: Stage) => {
  it("connects a host with a token, lists repositories, creates a webhook, and builds a push", async () => {
    const { service } = stage;
    const client = await service.newOrganization("by-token");
    const repositories = ["acme/shop", "acme/app"].map((fullName, index) => ({ id: index + 1, fullName }));
    const host = new RecordingHost({ kind: "github", token: TOKEN, scopes: ["repo"], repositories });
    const served = await listen(host);
    const browser = await stage.chromium.open();
    const { page } = browser;
    await signIn(page, service.url, client.token);
    await page.getByRole("link", { name: "Settings" }).click();
    await page.getByRole("link", { name: "Connections" }).click();
    await page.getByRole("link", { name: "Connect the first one" }).click();
    await page.getByRole("link", { name: "GitHub" }).click();
    await page.getByLabel("URL").fill(served.url);
    await page.getByLabel("With a token").check();
    await page.getByLabel("Token", { exact: true }).fill("ghp_of_somebody_else");
    await page.getByRole("button", { name: "Connect" }).click();
    await page.locator("#token[aria-invalid=true]").waitFor();
    expect(await page.content()).not.toContain("ghp_of_somebody_else");
    await page.getByLabel("Token", { exact: true }).fill(TOKEN);
    await page.getByRole("button", { name: "Connect" }).click();
    await page.getByText("Git host connected.").waitFor();
    await page.getByRole("button", { name: "Add acme/shop" }).click();
    await page.getByText("Repository connected.").waitFor();
    const [{ id: repoId }] = await client.call<[{ id: string }]>("GET", "/repository");
    await client.call("POST", "/pipeline", { repoId, name: "ci" });
    const [hook] = host.place.hooks;
    if (!hook) throw new Error("the host has no hook");
    await deliver(hook, "github", "push", newPush(SHA("a"), { fullName: "acme/shop", message: "Mend the mill" }));
    await page.getByRole("link", { name: "GitHub" }).click();
    await page.getByRole("link", { name: "Check" }).click();
    await page.getByText("No permissions are missing.").waitFor();
    await page.getByText("in place", { exact: true }).waitFor();
    expect(await judge(page)).toEqual([]);
    await page.getByRole("link", { name: "GitHub" }).click();
    await page.getByRole("link", { name: "Deliveries" }).click();
    await page.getByRole("link", { name: "#1" }).waitFor();
    expect(host.requests.flatMap(({ problems }) => problems)).toEqual([]);
    expect(browser.complaints).toEqual([]);
    await browser.close();
    served.close();
  });

  it("connects a host with manual webhooks without scripts, and adds a repository from a delivery", async () => {
    const { service } = stage;
    const client = await service.newOrganization("by-hand");
    const browser = await stage.chromium.open({ javaScriptEnabled: false });
    const { page } = browser;
    await signIn(page, service.url, client.token);
    await page.goto(`${service.url}/app/connections/new`);
    await page.getByRole("link", { name: "Gitea or Forgejo" }).click();
    await page.getByLabel("URL").fill("https://forge.example");
    await page.getByRole("radio", { name: "With manual webhooks" }).check();
    expect(await page.getByLabel("Token", { exact: true }).isVisible()).toBe(false);
    await page.getByRole("button", { name: "Connect" }).click();
    await page.getByRole("button", { name: "Show URL and secret" }).click();
    await page.getByText("https://forge.example/owner/repository/settings/hooks").waitFor();
    const hook = await hookOn(page);
    const repository = { id: 5, full_name: "tools/mill", default_branch: "main" };
    const commit = { id: SHA("b"), message: RIGHT_TO_LEFT, author: { name: RIGHT_TO_LEFT } };
    const push = { ref: "refs/heads/main", before: SHA("0"), after: SHA("b"), commits: [commit], head_commit: commit };
    await deliver(hook, "gitea", "push", { ...push, repository, sender: { login: "bo" } });
    await page.getByRole("link", { name: "View deliveries" }).click();
    await page.getByText("No active repository of this connection has this id.").waitFor();
    await page.getByRole("button", { name: "Add tools/mill" }).click();
    await page.getByText("Repository connected.").waitFor();
    const [{ id: repoId }] = await client.call<[{ id: string }]>("GET", "/repository");
    await client.call("POST", "/pipeline", { repoId, name: "ci" });
    await page.getByRole("link", { name: "Gitea or Forgejo" }).click();
    await page.getByRole("link", { name: "Deliveries" }).click();
    await page.getByRole("button", { name: "Redeliver" }).click();
    await page.getByText("Delivery redelivered.").waitFor();
    await page.getByRole("link", { name: "#1" }).click();
    await page.locator("h1").getByText(RIGHT_TO_LEFT).first().waitFor();
    expect(browser.complaints).toEqual([]);
    await browser.close();
  });

  it("shows a webhook without axe violations, and fits a phone", async () => {
    const { service, client, browser } = stage;
    const { page } = browser;
    for (const kind of ["github", "gitlab", "gitea"]) {
      const { id } = await client.call<{ id: string }>("POST", "/connection", {
        kind,
        name: kind,
        webUrl: "https://git.example",
      });
      await page.goto(`${service.url}/app/connections/${id}`);
      await page.getByRole("button", { name: "Show URL and secret" }).click();
      await page.getByRole("heading", { name: "Secret" }).waitFor();
      expect([kind, await judge(page)]).toEqual([kind, []]);
    }
  });
};
