import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { waitForEnd } from "../../../src/local/demo.ts";
import type { Build } from "../../../src/protocol/build.ts";
import type { Pipeline } from "../../../src/protocol/pipeline.ts";
import type { PipelineHistory } from "../../../src/protocol/pipeline-history.ts";
import type { Repository } from "../../../src/protocol/repository.ts";
import type { Variable } from "../../../src/protocol/variable.ts";
import { signIn } from "../../support/browser.ts";
import { newPush } from "../../support/host-events.ts";
import { connectRepository, makeRepository } from "../../support/local/git-repository.ts";
import { deliver } from "./git-host.ts";
import { judge } from "./judge.ts";
import type { Stage } from "./stage.ts";

const FILE = "steps:\n  - run: test ! -e broken.txt\n";
const GATED = `jobs:
  deploy:
    gate: { message: "Deploy to production?" }
    steps: [{ run: echo gone live }]
`;

/** Creates a repository whose pushes GitHub reports. The first of four commits on main is green; the others are not. */
const pushedRed = async ({ client, service }: Stage) => {
  const connection = await client.call<{ id: string }>("POST", "/connection", {
    ...{ kind: "github", name: "GitHub", webUrl: `https://${crypto.randomUUID()}.example` },
  });
  const git = makeRepository(service.folder, { ".millrace.yml": FILE });
  const { id: repoId } = await connectRepository(client, git);
  const settings = { connectionId: connection.id, fullName: "acme/payments-api" };
  const repository = await client.call<Repository>("PUT", `/repository/${repoId}`, settings);
  const pipeline = await client.call<Pipeline>("POST", "/pipeline", {
    ...{ repoId, name: "ci", on: { push: true, tag: true } },
  });
  const owner = { scope: "repository", repoId };
  const variable = await client.call<Variable>("POST", "/secrets/variables", {
    ...{ key: "STRIPE_KEY", value: "sk_test_0123456789", isSecret: true, ...owner },
  });
  const hook = await client.call<{ url: string; secret: string }>("GET", `/connection/${connection.id}/hook`);
  const facts = { id: repository.gitHostRepoId as number, fullName: repository.fullName };
  const tell = async (ref: string, author: string, message: string): Promise<Build> => {
    const told = newPush(git.git("rev-parse", "HEAD"), { ...facts, ref, message, author });
    const { builds, ignored } = await deliver(hook, "github", "push", told);
    if (!builds[0]) throw new Error(`a push made no build: ${ignored}`);
    return client.call<Build>("GET", `/build/${builds[0]}`);
  };
  const push = (author: string, message: string, files: Record<string, string> = {}, branch = "main") => {
    git.git("checkout", "--quiet", "-B", branch);
    for (const [path, text] of Object.entries(files)) writeFileSync(join(git.work, path), text);
    git.git("add", "--all");
    git.git("commit", "--quiet", "--allow-empty", "--message", message);
    return tell(`refs/heads/${branch}`, author, message);
  };
  const green = await push("Ada", "cart: keep the voucher");
  git.git("tag", "v1.9");
  const red: Build[] = [];
  red.push(await push("Grace", "ledger: round per line", { "broken.txt": "yes" }));
  red.push(await push("Edsger", "docs: say it shorter"));
  red.push(await push("Barbara", "deps: bump zod"));
  for (const { id } of red) await waitForEnd(client, id);
  const again = await client.call<Build>("POST", `/build/${red[2]?.id}/retry`);
  git.git("checkout", "--quiet", "v1.9");
  const tagged = await tell("refs/tags/v1.9", "Ada", "cart: keep the voucher");
  expect(await waitForEnd(client, tagged.id)).toMatchObject({ status: "succeeded" });
  expect(await waitForEnd(client, again.id)).toMatchObject({ status: "failed" });
  const isCounted = async () => {
    await service.runUpkeep();
    return (await client.call<PipelineHistory>("GET", `/pipeline/${pipeline.id}/history`)).builds.length === 6;
  };
  await expect.poll(isCounted, { timeout: 60_000 }).toBe(true);
  return { pipeline, variable, push, green, red, again, tagged };
};

export const answers = (stage: Stage) => {
  let pushed: Awaited<ReturnType<typeof pushedRed>>;

  it("names the author who broke main, even after two more red pushes, a retry and a green tag", async () => {
    pushed = await pushedRed(stage);
    const { page } = stage.browser;
    const { pipeline, red, again } = pushed;
    await page.goto(`${stage.service.url}/app`);
    const row = page.locator(`#red-${pipeline.id}`);
    await row.getByText(`failing since #${red[0]?.number} by Grace`).waitFor();
    const words = await row.innerText();
    expect(words).toContain("ledger: round per line");
    expect(words).toContain("3 commits");
    expect(words).not.toMatch(/Barbara|Edsger|deps: bump zod/);
    const branch = page.locator(`#p-${pipeline.id}`);
    expect(await branch.locator(".of-state").innerText()).toBe("failed");
    expect(await branch.locator(".of-branch").innerText()).toBe("main");
    expect(await judge(page)).toEqual([]);
    await row.getByRole("link", { name: `latest #${again.number}` }).click();
    await page.waitForURL(`${stage.service.url}/app/builds/${again.id}`);
    await page.goBack();
    await row.getByRole("link", { name: "ledger: round per line" }).click();
    await page.waitForURL(`${stage.service.url}/app/builds/${red[0]?.id}`);
  });

  it("lists the first build of each day that got a secret, and links to all six", async () => {
    const { page } = stage.browser;
    const { variable, green, red, again, tagged } = pushed;
    await page.goto(`${stage.service.url}/app/variables/${variable.id}`);
    await page.getByRole("heading", { name: "First build of each day that used it" }).waitFor();
    await page.getByText("last used today").waitFor();
    await page.getByRole("link", { name: "all builds since" }).click();
    for (const { id } of [green, ...red, again, tagged]) await page.locator(`#b-${id}`).waitFor();
    expect(await page.locator("#builds [data-row]").count()).toBe(6);
    expect(await judge(page)).toEqual([]);
  });

  it("finds a tag by name in the build filter and in the palette", async () => {
    const { page } = stage.browser;
    const { url } = stage.service;
    const { tagged } = pushed;
    const found = async () => {
      await page.locator(`#b-${tagged.id}`).waitFor();
      expect(await page.locator("#builds [data-row]").count()).toBe(1);
    };
    await page.goto(`${url}/app/builds`);
    await page.getByLabel("Branch or tag").fill("v1.9");
    await page.getByRole("button", { name: "Filter" }).click();
    await found();
    await page.goto(`${url}/app/agents`);
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Search and actions" }).fill("v1.9");
    await page.getByRole("option", { name: `#${tagged.number} acme/payments-api / ci` }).waitFor();
    await page.getByRole("option", { name: 'Builds on branch or tag "v1.9"' }).click();
    await found();
  });

  it("links from the overview to the gate instead of approving there, also without a script", async () => {
    const { client, service, chromium } = stage;
    const { id } = await pushed.push("Grace", "release: 2.4", { ".millrace.yml": GATED }, "release");
    const asks = async () => (await client.call<Build>("GET", `/build/${id}`)).waitsFor.length;
    await expect.poll(asks, { timeout: 60_000 }).toBe(1);
    const plain = await chromium.open({ javaScriptEnabled: false });
    const { page } = plain;
    await signIn(page, service.url, client.token);
    expect(await page.getByRole("button", { name: /Approve|Reject/ }).count()).toBe(0);
    await page.locator(".for-you-row", { hasText: "Deploy to production?" }).getByText("Review").click();
    await page.waitForURL(new RegExp(`/app/builds/${id}#gate-`));
    const gate = page.locator(".gate");
    expect(await page.getByText("Lost attempts").count()).toBe(0);
    await gate.getByText(/Approving runs deploy at [0-9a-f]{7} release: 2.4 by Grace on release\./).waitFor();
    await gate.getByRole("button", { name: "Approve" }).click();
    await page.getByText("Approved.").waitFor();
    expect(await waitForEnd(client, id)).toMatchObject({ status: "succeeded" });
    await plain.close();
  });
};
