import { writeFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { waitForEnd } from "../../../src/local/demo.ts";
import { signIn } from "../../support/browser.ts";
import { makeGate, repositoryWith, runBuild, type Stage } from "./stage.ts";

/** Records the pages' notifications, since headless Chromium shows none. */
const RECORD = `globalThis.told = [];
globalThis.Notification = class extends EventTarget {
  static permission = "granted";
  static requestPermission = async () => "granted";
  constructor(title, options) { super(); told.push([title, options.body]); }
};`;

const COUNT_RINGS = `globalThis.rung = [];
document.addEventListener("animationstart", ({ animationName, target }) => {
  if (animationName === "ring") rung.push(target);
});`;

export const attention = (stage: Stage) => {
  it("shows a build's state in the title and the icon of its tab", async () => {
    const { client, service, browser } = stage;
    const { page } = browser;
    const repository = await repositoryWith(stage, "steps:\n  - run: exit 1\n");
    const build = await runBuild(stage, repository.id);
    await page.goto(`${service.url}/app/builds/${build.id}`);
    const tab = async () => `${await page.title()} ${await page.locator("link[rel=icon]").getAttribute("href")}`;
    await waitForEnd(client, build.id);
    await expect.poll(tab, { timeout: 60_000 }).toMatch(/^✗ .*\/app\/static\/mark-failed\.\w+\.svg$/);
    const icon = await page.request.get(service.url + (await page.locator("link[rel=icon]").getAttribute("href")));
    expect([icon.status(), icon.headers()["content-type"]]).toEqual([200, "image/svg+xml"]);
    await page.goto(`${service.url}/app/builds`);
    expect(await tab()).toMatch(/^Builds .*\/app\/static\/mark\.\w+\.svg$/);
  });

  it("animates a state once when it changes, and never if the person prefers reduced motion", async () => {
    const { client, service, browser: calm, chromium } = stage;
    const gate = makeGate(stage);
    const repository = await repositoryWith(stage, `steps:\n  - run: until [ -e ${gate} ]; do sleep 0.1; done\n`);
    const moved = await chromium.open({ reducedMotion: "no-preference" });
    await signIn(moved.page, service.url, client.token);
    const build = await runBuild(stage, repository.id);
    const pages = [moved.page, calm.page];
    const succeeded = (each: Page) =>
      each.locator("main > header .state.tone-good, main .state-word.tone-good").first();
    for (const each of pages) {
      await each.goto(`${service.url}/app/builds/${build.id}`);
      await each.locator("main .state-word .state.turning").first().waitFor();
      await each.evaluate(COUNT_RINGS);
    }
    writeFileSync(gate, "");
    await waitForEnd(client, build.id);
    for (const each of pages) await succeeded(each).waitFor();
    const rings = (each: Page) => each.evaluate("rung.length");
    await expect.poll(() => rings(moved.page)).toBeGreaterThan(0);
    expect(await moved.page.evaluate("rung.every((each) => each.matches('.state'))")).toBe(true);
    expect(await moved.page.evaluate("new Set(rung).size === rung.length")).toBe(true);
    expect(await rings(calm.page)).toBe(0);
    expect(moved.complaints).toEqual([]);
    await moved.close();
  });

  it("notifies about ended builds only on request, and about each build once", async () => {
    const { client, service, chromium } = stage;
    const gate = makeGate(stage);
    const repository = await repositoryWith(stage, `steps:\n  - run: until [ -e ${gate} ]; do sleep 0.1; done\n`);
    const person = await chromium.open();
    const { page } = person;
    await page.addInitScript(RECORD);
    await signIn(page, service.url, client.token);
    const told = () => page.evaluate("told") as Promise<[string, string][]>;
    const look = async () => {
      const answered = page.waitForResponse((response) => response.url().includes("/app/followed"));
      await page.reload();
      await answered;
    };
    expect(await page.evaluate("JSON.stringify(localStorage)")).toBe("{}");
    await page.getByRole("button", { name: "Account" }).click();
    await page.getByRole("button", { name: "Notify me when my builds end" }).click();
    await page.locator('[data-notify=own][aria-pressed="true"]').waitFor();
    const build = await runBuild(stage, repository.id);
    await look();
    await expect.poll(() => page.evaluate("localStorage.getItem('millrace.notify')")).toContain(build.id);
    expect(await told()).toEqual([]);
    writeFileSync(gate, "");
    await waitForEnd(client, build.id);
    await look();
    await expect.poll(told).toEqual([[`#1 ${repository.fullName} succeeded`, "main"]]);
    await look();
    expect(await told()).toEqual([]);
    expect(person.complaints).toEqual([]);
    await person.close();
  });
};
