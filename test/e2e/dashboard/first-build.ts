import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { signIn } from "../../support/browser.ts";
import { makeRepository } from "../../support/local/git-repository.ts";
import type { Stage } from "./stage.ts";

/** Runs the page's commands in a shell with an empty home. The last one runs until the test calls the result. */
export const typeInto = async (home: string, commands: string) => {
  const lines = commands.split("\n");
  const env = { ...process.env, HOME: home, XDG_STATE_HOME: join(home, "state"), NO_COLOR: "1" };
  await promisify(execFile)("bash", ["-e", "-c", lines.slice(0, -1).join("\n")], { cwd: home, env });
  const agent = spawn("bash", ["-c", `exec ${lines.at(-1)}`], { cwd: home, env, stdio: "ignore" });
  return async () => {
    const gone = once(agent, "exit");
    agent.kill("SIGTERM");
    await gone;
  };
};

export const firstBuild = (stage: Stage) => {
  it("takes an empty organization to its first successful build", async () => {
    const { service } = stage;
    const { token } = await service.newOrganization("fresh");
    const git = makeRepository(service.folder, { ".millrace.yml": "steps:\n  - name: greet\n    run: echo hello\n" });
    const browser = await stage.chromium.open();
    const { page } = browser;
    await signIn(page, service.url, token);
    await page.getByRole("link", { name: "Connect a repository" }).click();
    await page.getByLabel("Name").fill("fresh/app");
    await page.getByLabel("Clone URL").fill(git.cloneUrl);
    await page.getByRole("button", { name: "Connect" }).click();
    await page.getByText("Repository connected.").waitFor();
    await page.getByRole("link", { name: "Fleet" }).click();
    await page.getByRole("link", { name: "Add the first one" }).click();
    await page.getByRole("button", { name: "Create registration token" }).click();
    const commands = (await page.locator(".copied pre").first().textContent()) ?? "";
    expect(page.url()).not.toContain("mrr_");
    const stop = await typeInto(mkdtempSync(join(service.folder, "home-")), commands);
    try {
      await page.getByRole("link", { name: "See it in the fleet" }).click();
      await page.locator("#agents").getByText("idle").waitFor();
      await page.getByRole("link", { name: "Builds" }).first().click();
      await page.getByRole("link", { name: "Run a build" }).click();
      await page.getByRole("button", { name: "Run build" }).click();
      await page.locator(".facts").getByText("succeeded").waitFor();
      await page.getByText("hello", { exact: true }).waitFor();
    } finally {
      await stop();
    }
    expect(browser.complaints).toEqual([]);
    await browser.close();
  });
};
