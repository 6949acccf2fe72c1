import { expect, it } from "vitest";
import { Client } from "../../../src/local/client.ts";
import type { Agent } from "../../../src/protocol/agent.ts";
import type { Build } from "../../../src/protocol/build.ts";
import { signIn } from "../../support/browser.ts";
import { connectRepository, makeRepository } from "../../support/local/git-repository.ts";
import { judge } from "./judge.ts";
import type { Stage } from "./stage.ts";

const AGENTS = 120;

interface Taken {
  build: { id: string };
  lease: number;
}

/** Acts as an agent without a machine: accepts the next build and starts it. */
const takenBy = async (url: string, agent: Agent & { token: string }) => {
  const own = new Client(url, agent.token);
  const { build, lease } = await own.call<Taken>("GET", `/buildagent/${agent.id}/poll?wait=0`);
  const say = async (verb: string, body?: object) => {
    const headers = {
      Authorization: `Bearer ${agent.token}`,
      "X-Lease": String(lease),
      "Content-Type": "application/json",
    };
    const answer = await fetch(`${url}/build/${build.id}/${verb}`, {
      method: "POST",
      headers,
      body: JSON.stringify(body) ?? null,
    });
    expect(answer.status).toBe(200);
  };
  await say("start");
  return { id: build.id, finish: (status: string) => say("finish", { status, exitCode: status === "failed" ? 1 : 0 }) };
};

export const fleet = (stage: Stage) => {
  it("pages and filters many agents, and explains what a waiting build requires and which agents lack", async () => {
    const { service } = stage;
    const client = await service.newOrganization("fleet");
    const skills = { platform: 2, canBuildIOS: false, canBuildAndroid: false, canBuildWeb: true };
    const names = Array.from({ length: AGENTS }, (_, index) => `mill-${String(index).padStart(3, "0")}`);
    await Promise.all(
      names.map((name) => client.call<Agent>("POST", "/buildagent/register", { ...skills, name, labels: ["linux"] })),
    );
    const git = makeRepository(service.folder, { ".millrace.yml": "steps:\n  - run: 'true'\n" });
    const { id: repoId } = await connectRepository(client, git);
    const requires = { platform: "macos", ios: true, labels: ["xcode-26"] };
    const pipeline = await client.call<{ id: string }>("POST", "/pipeline", { repoId, name: "ci", requires });
    const build = await client.call<Build>("POST", "/build", { pipelineId: pipeline.id, branch: "main" });

    const browser = await stage.chromium.open();
    const { page } = browser;
    await signIn(page, service.url, client.token);
    await page.goto(`${service.url}/app/agents`);
    await page.locator("#agent-counts").getByText(`${AGENTS} idle`).waitFor();
    expect(await page.locator(".agent-row").count()).toBe(50);
    await page.locator("#main").getByText("macOS, iOS, label xcode-26").waitFor();
    expect(await page.locator(".agent-strip a").count()).toBe(1);
    expect(await judge(page)).toEqual([]);
    await page.getByRole("link", { name: "mill-000", exact: true }).click();
    await page.getByText("No current build.").waitFor();
    expect(await judge(page)).toEqual([]);
    await page.goBack();
    const source = await (await page.request.get(`${service.url}/app/agents`)).text();
    expect(source.length).toBeLessThan(64 * 1024);
    await page.getByRole("link", { name: "Next" }).click();
    await page.getByText("mill-050").waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("mill-11");
    await page.keyboard.press("Enter");
    await page.locator("#agent-counts").getByText("10 idle").waitFor();
    await page.getByRole("button", { name: "Drain mill-117" }).click();
    await page.locator("#agent-counts").getByText("1 draining").waitFor();
    expect(await page.locator(".agent-row").count()).toBe(10);

    await page.goto(`${service.url}/app/builds/${build.id}`);
    const waits = page.locator("#waits");
    await waits.getByText("Needs macOS, iOS, label xcode-26.").waitFor();
    await waits
      .getByText(`${AGENTS} agents are on Linux, not macOS, cannot build for iOS, lack the label xcode-26`)
      .waitFor();
    expect(await waits.locator("li:visible").count()).toBe(6);
    await waits.getByText(`${AGENTS - 5} more`).click();
    expect(await waits.locator("li:visible").count()).toBe(106);
    await waits.getByRole("link", { name: "Add an agent" }).waitFor();
    expect(browser.complaints).toEqual([]);
    await browser.close();
  });
  it("draws an agent's last hour as links, and lists it in a table on the agent's page", async () => {
    const { service } = stage;
    const client = await service.newOrganization("hour");
    const skills = { platform: 2, canBuildIOS: false, canBuildAndroid: false, canBuildWeb: true };
    const agent = await client.call<Agent & { token: string }>("POST", "/buildagent/register", {
      ...{ ...skills, name: "mill", labels: ["linux"], version: "0.0.1" },
    });
    const git = makeRepository(service.folder, { ".millrace.yml": "steps:\n  - run: 'true'\n" });
    const { id: repoId } = await connectRepository(client, git);
    const pipeline = await client.call<{ id: string }>("POST", "/pipeline", { repoId, name: "ci" });
    const next = async () => {
      await client.call<Build>("POST", "/build", { pipelineId: pipeline.id, branch: "main" });
      return takenBy(service.url, agent);
    };
    const failed = await next();
    await failed.finish("failed");
    await (await next()).finish("succeeded");
    const running = await next();

    const browser = await stage.chromium.open();
    const { page } = browser;
    await signIn(page, service.url, client.token);
    await page.goto(`${service.url}/app/agents`);
    const row = page.locator(".agent-row");
    expect(await row.locator(".hour-bar a").count()).toBe(3);
    expect(await row.locator(".hour-bar .is-failed, .hour-bar .is-succeeded").count()).toBe(2);
    expect(await row.locator(".hour-bar title").first().textContent()).toMatch(/^#3.*, running, /);
    await row.getByText("outdated", { exact: true }).waitFor();
    await page.getByText("1 outdated").waitFor();
    expect((await row.boundingBox())?.height).toBeLessThanOrEqual(41);
    const [agents, queue] = [await page.locator("#agents").boundingBox(), await page.locator(".queue").boundingBox()];
    expect(queue?.x).toBeGreaterThan((agents?.x ?? 0) + (agents?.width ?? 0));
    expect(await judge(page)).toEqual([]);
    // Uses the keyboard, since builds from the same second overlap.
    await row.locator(".hour-bar a:has(.is-failed)").press("Enter");
    await page.waitForURL(`${service.url}/app/builds/${failed.id}`);

    await page.goto(`${service.url}/app/agents/${agent.id}`);
    expect(await page.locator(".last-hour .hour-bar a").count()).toBe(3);
    expect(await page.locator("#runs tbody tr").count()).toBe(3);
    expect(await judge(page)).toEqual([]);
    await page.getByRole("button", { name: "Drain mill" }).click();
    await page.getByText("Draining: it accepts no new builds.").waitFor();
    await page.getByText("Draining: the agent finishes its build and accepts no new ones.").waitFor();
    await running.finish("succeeded");
    await page.locator(`#run-${running.id}`).getByText("succeeded").waitFor();
    await page.getByText("No current build.").waitFor();
    expect(browser.complaints).toEqual([]);
    await browser.close();
  });
};
