import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { expect, it } from "vitest";
import { signIn } from "../../support/browser.ts";
import { TestGitHost } from "../../support/local/git-host/git-host.ts";
import { makeRepository } from "../../support/local/git-repository.ts";
import { typeInto } from "./first-build.ts";
import { judge } from "./judge.ts";
import type { Stage } from "./stage.ts";

/** Acts as a person who clicks, types and pastes. */
const handsOn = (page: Page) => {
  const did = { clicks: 0, texts: 0 };
  const click = (what: Locator) => {
    did.clicks++;
    return what.click();
  };
  return {
    did,
    follow: (name: string | RegExp) => click(page.getByRole("link", { name }).first()),
    press: (name: string) => click(page.getByRole("button", { name, exact: true })),
    check: (label: string) => click(page.getByLabel(label)),
    type: (label: string, text: string) => {
      did.texts++;
      return page.getByLabel(label, { exact: true }).fill(text);
    },
  };
};

export const firstHour = (stage: Stage) => {
  it("takes an empty organization to a git host, an agent, a build of a push, and a secret", async () => {
    const { service } = stage;
    const { token } = await service.newOrganization("first-hour");
    const host = await TestGitHost.start("github", service.folder);
    const bare = host.addRepository("acme/mill");
    host.publicIds.add(bare.id);
    const git = makeRepository(service.folder, { ".millrace.yml": "steps:\n  - run: echo the water runs\n" });
    await host.push(git, bare, "main");
    const browser = await stage.chromium.open();
    const { page } = browser;
    const { did, follow, press, check, type } = handsOn(page);
    await signIn(page, service.url, token);
    const lines = page.locator(".first-hour > li");
    expect(await lines.count()).toBe(3);
    expect(await judge(page)).toEqual([]);

    await follow("Connect a git host");
    await follow("GitHub");
    await type("URL", host.url);
    await check("With a token");
    await type("Token", host.secrets.token);
    await press("Connect");
    await press("Add acme/mill");
    await page.getByText("Repository connected.").waitFor();
    await follow("Overview");
    await lines.first().getByText("acme/mill is connected.").waitFor();
    await follow(/^pipeline$/);
    await type("Name", "ci");
    await press("Add pipeline");

    await follow("Overview");
    await follow("Add an agent");
    await press("Create registration token");
    const commands = (await page.locator(".copied pre").first().textContent()) ?? "";
    const stop = await typeInto(mkdtempSync(join(service.folder, "home-")), commands);
    did.texts++;
    try {
      await follow("Overview");
      await lines
        .nth(1)
        .getByText(/checked in/)
        .waitFor();
      expect(await page.locator(".first-hour > .is-done").count()).toBe(2);

      git.git("commit", "--quiet", "--allow-empty", "--message", "Let the water in");
      await host.push(git, bare, "main");
      await follow("Builds");
      await follow("Let the water in");
      await page.locator(".facts").getByText("succeeded").waitFor();

      await follow("Variables");
      await follow("Add variable");
      await type("Key", "TOKEN");
      await check("Secret");
      await type("Value", "a secret of the first hour");
      await press("Add variable");
      await page.getByText("TOKEN").first().waitFor();
    } finally {
      await stop();
      await host.close();
    }
    // Each additional action is a step that a new user has to find.
    expect(did).toEqual({ clicks: 18, texts: 6 });
    expect(browser.complaints).toEqual([]);
    await browser.close();
  });
};
