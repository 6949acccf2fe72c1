import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Client } from "../../src/local/client.ts";
import { ended } from "../../src/local/demo.ts";
import type { Build } from "../../src/protocol/build.ts";
import { type Browser, openBrowser, signIn } from "../support/browser.ts";
import { type RunningAgent, startAgent } from "../support/local/agent.ts";
import { connect, makeRepository } from "../support/local/repository.ts";
import { type LocalService, startLocalService } from "../support/local/service.ts";

let service: LocalService;
let client: Client;
let agent: RunningAgent;
let browser: Browser;

beforeAll(async () => {
  service = await startLocalService();
  client = await service.newOrganization("acme");
  agent = await startAgent(client, service.folder, "one");
  browser = await openBrowser(service.url);
});
afterAll(async () => {
  await browser?.close();
  await agent?.stop();
  await service?.remove();
});
afterEach(() => {
  expect(browser.complaints.splice(0)).toEqual([]);
});

/** A build that goes on when `go` is called. */
const startPausing = async () => {
  const gate = join(service.folder, `gate-${crypto.randomUUID()}`);
  const file = `steps:
  - name: first
    run: echo "the first line"
  - name: waits
    run: |
      echo "the step waits"
      until [ -e "${gate}" ]; do sleep 0.05; done
      printf '\\033[32mgreen\\033[0m after the gate\\n'
`;
  const git = makeRepository(service.folder, { ".millrace.yml": file });
  const repository = await connect(client, git);
  const build = await client.call<Build>("POST", `/repository/${repository.id}/build`, { branch: "main" });
  return { build, repository, go: () => writeFileSync(gate, "") };
};

describe("a person in the dashboard", () => {
  it("signs in, sees a build run, and its log as it is written", async () => {
    const { page } = browser;
    const { build, repository, go } = await startPausing();
    await page.goto(`${service.url}/app/builds/${build.id}`);
    expect(page.url()).toContain("/app/sign-in?next=");
    await signIn(page, service.url, client.token);
    const row = page.locator(`#b-${build.id}`);
    await row.getByText("running").first().waitFor();
    await row.getByRole("link", { name: repository.fullName }).click();
    await page.getByText("the step waits").waitFor();
    expect(await page.getByText("after the gate").count()).toBe(0);
    go();
    await page.getByText("after the gate").waitFor();
    expect(await page.locator(".log-text .ansi-green").textContent()).toBe("green");
    await page.getByRole("button", { name: "Retry" }).waitFor();
    expect(await ended(client, build.id)).toMatchObject({ status: "succeeded" });
  });
});
