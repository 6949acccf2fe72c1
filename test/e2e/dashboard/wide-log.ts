import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { waitForEnd } from "../../../src/local/demo.ts";
import { connectRepository, makeRepository } from "../../support/local/git-repository.ts";
import { runBuild, type Stage } from "./stage.ts";

const FILE = `steps:
  - name: wide
    run: cat wide.txt
  - name: next
    run: echo "a step of its own"
`;
const wide = (index: number) => `${index} ${"word ".repeat(180)}end-of-${index}.`;
const LINES = [
  ...Array.from({ length: 300 }, (_, index) => wide(index)),
  "\x1b[31mred begins",
  "goes on",
  "and ends\x1b[0m here",
  "plain again",
  `${"x".repeat(30_000)}far-away`,
  "\x1b[32mleft on at the step's end",
];

/** Reports whether the element is completely visible within the log. */
const isInSight = async (page: Page, selector: string): Promise<boolean> => {
  const box = await page.locator(".log-lines").boundingBox();
  const found = await page
    .locator(selector)
    .first()
    .boundingBox({ timeout: 100 })
    .catch(() => null);
  if (!box || !found) return false;
  const isWithin = (from: number, size: number, start: number, room: number) =>
    from >= start - 1 && from + size <= start + room + 1;
  return isWithin(found.x, found.width, box.x, box.width) && isWithin(found.y, found.height, box.y, box.height);
};

/** Presses a key and reports whether the element is in sight. Rows get their height when drawn; then the end moves. */
const pressed = async (page: Page, key: string, selector: string): Promise<boolean> => {
  await page.keyboard.press(key);
  return isInSight(page, selector);
};

const lineTop = `[data-row="304"] .log-number`;

export const wideLog = (stage: Stage) => {
  let address = "";
  const open = async (hash = "") => {
    const { page } = stage.browser;
    if (address === "") {
      const files = { ".millrace.yml": FILE, "wide.txt": `${LINES.join("\n")}\n` };
      const repository = await connectRepository(stage.client, makeRepository(stage.service.folder, files));
      const build = await runBuild(stage, repository.id);
      expect(await waitForEnd(stage.client, build.id)).toMatchObject({ status: "succeeded" });
      address = `${stage.service.url}/app/builds/${build.id}`;
    }
    await page.goto("about:blank");
    await page.goto(address + hash);
    await page.locator(".log[data-complete]").waitFor();
    return page;
  };
  const search = async (page: Page, text: string, told: string) => {
    await page.getByLabel("Search the log").fill(text);
    await page.locator(".log-bar output", { hasText: told }).waitFor();
  };

  it("reaches the end, a match and a linked line while lines wrap", async () => {
    const page = await open("#L50");
    await page.getByRole("button", { name: "Wrap" }).click();
    await page.locator(".log-lines").focus();
    await expect.poll(() => pressed(page, "End", `[data-row="head step-1"]`)).toBe(true);
    await expect.poll(() => pressed(page, "Home", `.log-block [data-row="head step-0"]`)).toBe(true);
    for (const index of [150, 299, 7]) {
      await search(page, `end-of-${index}.`, "1 of 1");
      await page.locator("mark", { hasText: `end-of-${index}.` }).waitFor();
      await expect.poll(() => isInSight(page, "mark")).toBe(true);
    }
    const number = await page
      .locator(".log-row", { has: page.locator("mark") })
      .locator(".log-number")
      .textContent();
    await page.evaluate(`location.hash = "#L${Number(number) + 200}"`);
    await expect.poll(() => isInSight(page, ".is-chosen .log-number")).toBe(true);
    expect(await page.locator(".log-row").count()).toBeLessThan(120);
  });

  it("keeps the top line in place when wrapping is turned on and off", async () => {
    const page = await open("#L200");
    await expect.poll(() => isInSight(page, `[data-row="199"] .log-number`)).toBe(true);
    for (const pressed of ["true", "false"]) {
      await page.getByRole("button", { name: "Wrap" }).click();
      await page.locator(`button[aria-pressed="${pressed}"]`, { hasText: "Wrap" }).waitFor();
    }
    await expect.poll(() => isInSight(page, `[data-row="199"] .log-number`)).toBe(true);
  });

  it("scrolls sideways to a match far to the right, and back", async () => {
    const page = await open();
    await search(page, "end-of-42.", "1 of 1");
    await expect.poll(() => isInSight(page, "mark")).toBe(true);
    expect(await page.locator(".log-lines").evaluate((box) => box.scrollLeft)).toBeGreaterThan(1000);
    await search(page, "plain again", "1 of 1");
    await expect.poll(() => page.locator(".log-lines").evaluate((box) => box.scrollLeft)).toBe(0);
    await expect.poll(() => isInSight(page, "mark")).toBe(true);
  });

  it("carries colors over line ends, but not into the next step", async () => {
    const page = await open("#L302");
    const red = page.locator(".log-text .ansi-red");
    await expect.poll(() => red.allTextContents()).toEqual(["red begins", "goes on", "and ends"]);
    await page.evaluate('location.hash = "#step-1"');
    await page.locator(".log-row", { hasText: "a step of its own" }).waitFor();
    expect(await page.locator(".log-text .ansi-green").allTextContents()).toEqual(["left on at the step's end"]);
  });

  it("says how much of a long line it omits, and that a match is in the omitted part", async () => {
    const page = await open("#L306");
    await page.locator(".log-rest").getByText("… 10,008 more characters: Raw").waitFor();
    expect(await page.locator(".log-rest a").getAttribute("href")).toMatch(/\/log$/);
    await search(page, "far-away", "1 of 1, past the shown part of the line: see Raw");
    await expect.poll(() => isInSight(page, lineTop)).toBe(true);
  });
};
