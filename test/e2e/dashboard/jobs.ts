import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { waitForEnd } from "../../../src/local/demo.ts";
import type { Build } from "../../../src/protocol/build.ts";
import { signIn } from "../../support/browser.ts";
import { judge } from "./judge.ts";
import { repositoryWith, runBuild, type Stage } from "./stage.ts";

const FILE = (flag: string) => `jobs:
  lint:
    steps: [{ name: look, run: "echo looked closely" }]
  docs:
    if: build.branch == 'release'
    steps: [{ run: "true" }]
  test:
    needs: [lint]
    matrix: { xcode: [16.4, 26.10], device: [phone, tablet] }
    steps:
      - name: try
        run: test "\${{ matrix.device }}" = phone || [ "\${{ matrix.xcode }}" = 16.4 ] || [ -e "${flag}" ] || exit 3
  publish:
    needs: [test]
    steps: [{ run: "echo published" }]
  deploy:
    needs: [lint]
    gate: { message: "Deploy main?", by: maintainer }
    outputs: { place: "\${{ steps.go.outputs.place }}" }
    steps:
      - { id: go, name: go, run: 'echo "place=harbour" >> "$MILLRACE_OUTPUT"; echo gone live' }
`;

/** Returns a matrix whose last shard fails. The others do nothing. */
const MATRIX = (shards: number[]) => `jobs:
  shard:
    matrix: { n: [${shards.join(", ")}] }
    if: matrix.n == ${shards.at(-1)}
    steps: [{ run: exit 3 }]
`;

/** Starts a build that waits at a gate. One of its tests fails until the flag exists. */
const startJobs = async (stage: Stage) => {
  const flag = join(stage.service.folder, `flag-${crypto.randomUUID()}`);
  const repository = await repositoryWith(stage, FILE(flag));
  return { build: await runBuild(stage, repository.id), heal: () => writeFileSync(flag, "") };
};

export const jobs = (stage: Stage) => {
  let failed: Build;
  let heal: () => void;

  it("show jobs while they run, and why some did not run", async () => {
    const { service, client, browser } = stage;
    const { page } = browser;
    const started = await startJobs(stage);
    heal = started.heal;
    await page.goto(`${service.url}/app/builds/${started.build.id}`);
    const jobs = page.locator("#jobs");
    await jobs.getByText("skipped: condition").waitFor();
    await jobs.getByText("dropped: test (26.10, tablet) failed").waitFor();
    expect(await page.locator("#m-test").getAttribute("open")).not.toBeNull();
    expect(await page.title()).toMatch(/waiting for approval/);
    await page.locator("#m-test > summary").click();
    const next = page.waitForResponse((response) => response.url().endsWith(started.build.id));
    await (await next).finished();
    await page.locator("#m-test:not([open])").waitFor();
    await page.goto(`${service.url}/app/builds`);
    await page.locator(`#b-${started.build.id}`).getByText("waiting for approval").first().waitFor();
    expect(await judge(page)).toEqual([]);
    await page.goto(`${service.url}/app/builds/${started.build.id}`);
    expect(await judge(page)).toEqual([]);
    await page.getByLabel("Comment").fill("after lunch");
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByText("Approved.").waitFor();
    failed = await waitForEnd(client, started.build.id);
    expect(failed).toMatchObject({ status: "failed", exitCode: 3 });
  });

  it("open a job with its log, its outputs and its approver", async () => {
    const { service, browser } = stage;
    const { page } = browser;
    await page.goto(`${service.url}/app/builds/${failed.id}`);
    await page.getByRole("link", { name: "succeeded deploy" }).click();
    await page.locator(".log-text").getByText("gone live").waitFor();
    await page.getByText("after lunch").waitFor();
    expect(await judge(page)).toEqual([]);
    await page.getByRole("link", { name: "Outputs 1" }).click();
    await page.locator("#outputs").getByText("harbour").waitFor();
    expect(await judge(page)).toEqual([]);
  });

  it("move through the jobs with keys, past folded jobs", async () => {
    const { service, browser } = stage;
    const { page } = browser;
    await page.goto(`${service.url}/app/builds/${failed.id}`);
    await page.locator("#m-test > summary").click();
    await page.evaluate("document.activeElement.blur()");
    const texts: string[] = [];
    for (let press = 0; press < 5; press += 1) {
      await page.keyboard.press("j");
      texts.push(String(await page.evaluate("document.activeElement.textContent.trim()")));
    }
    expect(texts.map((text) => text.replace(/^\S+ (?=\S+$)/, ""))).toEqual([
      "lint",
      "docs",
      expect.stringMatching(/^test 4 jobs/),
      "deploy",
      "publish",
    ]);
  });

  it("retry the failed jobs, and adopt the other results", async () => {
    const { service, client, browser } = stage;
    const { page } = browser;
    heal();
    await page.goto(`${service.url}/app/builds/${failed.id}`);
    await page.getByRole("button", { name: "Retry failed (2 of 8)" }).waitFor();
    await page.keyboard.press("R");
    await page.getByText("Build queued.").waitFor();
    await page.getByText(`from #${failed.number}`).first().waitFor();
    const id = page.url().match(/builds\/([0-9a-f-]+)/)?.[1] ?? "";
    expect(await waitForEnd(client, id)).toMatchObject({ status: "succeeded" });
    await page.locator(".facts").getByText("succeeded").first().waitFor();
  });

  it("scroll to the failed combination in a matrix that is longer than its box", async () => {
    const { service, client, browser } = stage;
    const { page } = browser;
    const shards = Array.from({ length: 20 }, (_, index) => index + 1);
    const repository = await repositoryWith(stage, MATRIX(shards));
    const build = await waitForEnd(client, (await runBuild(stage, repository.id)).id);
    expect(build.jobs?.map(({ status }) => status)).toEqual([...Array(19).fill("skipped"), "failed"]);
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: 900 });
      await page.goto(`${service.url}/app/builds/${build.id}`);
      const box = page.locator(".fall-rows");
      expect(await box.evaluate((rows) => rows.scrollHeight - rows.clientHeight)).toBeGreaterThan(300);
      const failed = page.locator(".fall-row.job", { hasText: "shard (20)" });
      await expect
        .poll(async () => {
          const [outer, inner] = await Promise.all([box.boundingBox(), failed.boundingBox()]);
          return outer && inner && inner.y >= outer.y && inner.y + inner.height <= outer.y + outer.height + 1;
        })
        .toBe(true);
    }
    await page.setViewportSize({ width: 1280, height: 720 });
  });

  it("accept a gate's answer without a script", async () => {
    const { service, client } = stage;
    const { build } = await startJobs(stage);
    const browser = await stage.chromium.open({ javaScriptEnabled: false });
    const { page } = browser;
    await signIn(page, service.url, client.token);
    await expect
      .poll(async () => (await client.call<Build>("GET", `/build/${build.id}`)).waitsFor.length, { timeout: 120_000 })
      .toBe(1);
    await page.goto(`${service.url}/app/builds/${build.id}`);
    await page.getByLabel("Comment").fill("not today");
    await page.getByRole("button", { name: "Reject" }).click();
    await page.getByText("Rejected.").waitFor();
    await page.locator("#jobs").getByText("not today").waitFor();
    await page.locator("#m-test").waitFor();
    expect(await waitForEnd(client, build.id)).toMatchObject({ status: "failed" });
    expect(browser.complaints).toEqual([]);
    await browser.close();
  });
};
