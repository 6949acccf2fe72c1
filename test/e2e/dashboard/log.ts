import type { Page } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";
import { waitForEnd } from "../../../src/local/demo.ts";
import { repositoryWith, runBuild, type Stage } from "./stage.ts";

const LINES = 60_000;
const FILE = `steps:
  - name: many lines
    run: seq -f "line %.0f of the log" ${LINES}
  - name: breaks
    run: |
      echo "the needle is here"
      printf '10%%\\rbuilding |\\b/\\b-\\bhalf\\r\\033[0m\\n'
      exit 3
`;

/** Searches for text in lines that arrive late, and once in lines that never arrive. */
const searchBeforeItIsRead = async (page: Page, address: string): Promise<void> => {
  const failed = Promise.withResolvers<void>();
  onTestFinished(() => failed.resolve());
  const isEarlier = (url: URL): boolean => url.pathname.endsWith("/log");
  await page.route(isEarlier, async (route) => {
    if (!/^bytes=0-/.test(route.request().headers().range ?? "")) return route.continue();
    await failed.promise;
    return route.abort();
  });
  await page.goto("about:blank");
  await page.goto(address);
  const found = page.locator(".log-bar output");
  await page.getByLabel("Search the log").fill("line 17 of");
  await found.getByText("searching earlier lines", { exact: true }).waitFor();
  failed.resolve();
  await found.getByText("not found in the loaded lines", { exact: true }).waitFor();
  await page.unroute(isEarlier);
  await page.getByRole("button", { name: "Load all" }).click();
  await found.getByText("1 of 1", { exact: true }).waitFor();
};

export const log = (stage: Stage) => {
  it("opens the failed step, finds lines, links to them, and keeps the page small", async () => {
    const { service, client, browser } = stage;
    const { page } = browser;
    const repository = await repositoryWith(stage, FILE);
    const build = await runBuild(stage, repository.id);
    expect(await waitForEnd(client, build.id)).toMatchObject({ status: "failed", exitCode: 3 });
    const address = `${service.url}/app/builds/${build.id}`;
    await page.goto(address);
    await page.locator(".log-text").getByText("the needle is here").waitFor();
    await page.locator(".excerpt").getByText("the needle is here").waitFor();
    expect(await page.getByText(`line ${LINES} of the log`).count()).toBe(0);

    expect(await page.locator(".log-text").allTextContents()).toContain("building half");
    expect(await page.locator(".excerpt code").allTextContents()).toContain("building half");

    const field = page.getByLabel("Search the log");
    await field.fill("building half");
    await page.getByText("1 of 1", { exact: true }).waitFor();
    await field.fill("line 4242");
    await page.getByText("1 of 11").waitFor();
    await page.getByText("line 4242 of the log").waitFor();
    await field.press("Enter");
    await page.getByText("line 42420 of the log").waitFor();
    expect(await page.locator(".log-row").count()).toBeLessThan(120);

    const number = page.locator(".log-row", { hasText: "line 42420 of" }).locator(".log-number");
    await number.click();
    const link = page.url();
    expect(link).toMatch(/#L\d+$/);
    await page.goto("about:blank");
    await page.goto(link);
    await page.locator(".is-chosen").getByText("line 42420 of the log").waitFor();

    await searchBeforeItIsRead(page, address);
  });
};
