import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { waitForEnd } from "../../../src/local/demo.ts";
import type { Pipeline } from "../../../src/protocol/pipeline.ts";
import type { Repository } from "../../../src/protocol/repository.ts";
import { newPush, SHA } from "../../support/host-events.ts";
import { connectWaiting, deliver, deliverHostile } from "./git-host.ts";
import { repositoryWith, runBuild, type Stage } from "./stage.ts";

const WIDTHS = [360, 768, 1024, 1440];
const LONG = "unreasonably-long-".repeat(8);

/** Jobs with long names. One fails, and the other depends on it. */
const SEVERAL = `jobs:
  first: { name: ${LONG}, matrix: { axis: [${LONG}, b] }, steps: [{ name: ${LONG}, run: exit 1 }] }
  second: { needs: [first], if: "success() && build.branch != '${LONG}'", steps: [{ run: "true" }] }
`;

/** Creates one record of every kind with a long name, and a build with sixty steps. */
const fill = async (stage: Stage) => {
  const { client } = stage;
  const steps = Array.from({ length: 60 }, (_, index) => `  - name: ${LONG}${index}\n    run: "true"\n`);
  const repository = await repositoryWith(stage, `steps:\n${steps.join("")}  - name: breaks\n    run: exit 1\n`);
  const { id } = repository;
  await client.call<Repository>("PUT", `/repository/${id}`, { fullName: `acme/${LONG}${Date.now()}` });
  const name = `${LONG}${id}`;
  const pipeline = await client.call<Pipeline>("POST", "/pipeline", { repoId: id, name: LONG });
  const group = await client.call<{ id: string }>("POST", "/secrets/groups", { name, description: LONG });
  const owner = { scope: "repository", repoId: id };
  await client.call("POST", "/secrets/variables", {
    key: LONG.replaceAll("-", "_"),
    value: LONG,
    description: LONG,
    isSecret: false,
    ...owner,
  });
  const { connectionId } = await deliverHostile(stage, "w".repeat(250));
  const schedule = await client.call<{ id: string }>("POST", "/schedule", {
    ...{ pipelineId: pipeline.id, name: LONG, cron: "0 2 * * *", timeZone: "America/Argentina/ComodRivadavia" },
  });
  const several = await runBuild(stage, (await repositoryWith(stage, SEVERAL)).id);
  const { jobs } = await waitForEnd(client, several.id);
  const build = await waitForEnd(client, (await runBuild(stage, id)).id);
  return [
    "builds",
    "repositories",
    "variables",
    "groups",
    "agents",
    "tokens",
    "audit",
    "agents/new",
    "connections",
    "schedules",
    `connections/${connectionId}`,
    `connections/${connectionId}/deliveries`,
    `connections/${connectionId}/repositories`,
    `schedules/${schedule.id}`,
    `builds/${build.id}`,
    `builds/${several.id}`,
    `jobs/${jobs?.[0]?.id}`,
    `repositories/${id}`,
    `pipelines/${pipeline.id}`,
    `groups/${group.id}`,
    `builds?repoId=${id}`,
    `variables?owner=repository:${id}`,
  ].map((path) => `${stage.service.url}/app/${path}`);
};

const tooWide = async (page: Page): Promise<boolean> =>
  Number(await page.evaluate("document.documentElement.scrollWidth - innerWidth")) > 0;

/**
 * Runs in the browser. Returns the fully visible texts for a repository's newest build; null for a text that is hidden,
 * cut, outside its row or under another.
 */
const PARTS = `(repository) => {
  const row = document.querySelector('.short-name[title="' + repository + '"]').closest(".build-row");
  // The number of a pipeline's ten thousandth build leaves the least room.
  row.querySelector(".number").textContent = "#10000";
  // A build that succeeded has no second line.
  row.querySelector(".why").classList.toggle("is-silent", repository === "web");
  const whole = (selector) => {
    const part = row.querySelector(selector);
    if (!part?.checkVisibility()) return null;
    const own = part.getBoundingClientRect();
    const isOut = [part.parentElement, row]
      .map((box) => box.getBoundingClientRect())
      .some(({ left, right }) => own.left < left - 1 || own.right > right + 1);
    const isCut = [part, ...part.querySelectorAll("*")].some((one) => one.clientWidth < one.scrollWidth);
    const isUnder = [...row.querySelectorAll(".took-cell, .when, .what")]
      .map((other) => other.getBoundingClientRect())
      .some(({ left, right, top, bottom }) => own.left < right && own.right > left && own.top < bottom - 2 && own.bottom > top + 2);
    return isOut || isCut || isUnder ? null : part.textContent;
  };
  return { name: whole(".short-name"), pipeline: whole(".of .pipeline"), branch: whole(".branch"), author: whole(".author") };
}`;

/**
 * Runs in the browser. Returns the pixels that are left for a name's beginning beside a longer pipeline. A character
 * and an ellipsis take twenty.
 */
const ROOM_OF_CUT = `(repository) => {
  const name = document.querySelector('.short-name[title="' + repository + '"]');
  name.closest(".of").querySelector(".pipeline").textContent = "/ a pipeline with a long name";
  const { scrollWidth, clientWidth } = name.firstElementChild;
  return scrollWidth > clientWidth ? clientWidth : null;
}`;

export const layout = (stage: Stage) => {
  it("keeps every page within its width, however long the names are", async () => {
    const { page } = stage.browser;
    const paths = await fill(stage);
    const wide: string[] = [];
    const loose: string[] = [];
    for (const path of paths) {
      await page.goto(path);
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        if (await tooWide(page)) wide.push(`${path} at ${width}`);
        const ends = `[".head", ".head > .primary"].map((name) => document.querySelector(name)?.getBoundingClientRect().right)`;
        const [head, action] = (await page.evaluate(ends)) as (number | undefined)[];
        if (action !== undefined && Math.abs((head ?? 0) - action) > 1) loose.push(`${path} at ${width}`);
      }
    }
    expect({ wide, loose }).toEqual({ wide: [], loose: [] });
  });

  it("shows many steps in one box, scrolls to the failed one, and filters them", async () => {
    const { page } = stage.browser;
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.getByRole("link", { name: "Builds" }).first().click();
    await page.locator(".build-row .what").first().click();
    const rows = await page.locator(".fall-rows").boundingBox();
    expect(rows?.height).toBeLessThan(400);
    const failed = await page.locator('#steps > [data-state="failed"]').boundingBox();
    expect(failed?.y).toBeGreaterThanOrEqual(rows?.y ?? 0);
    expect((failed?.y ?? 0) + (failed?.height ?? 0)).toBeLessThan((rows?.y ?? 0) + (rows?.height ?? 0) + 1);
    await page.getByLabel("Filter steps").fill("breaks");
    await page.locator("#step-0").waitFor({ state: "hidden" });
    expect(await page.locator("#steps > li:visible").count()).toBe(1);
    await page.getByLabel("Filter steps").fill("");
    await page.locator("#step-0").waitFor();
    expect((await page.locator("#failure").boundingBox())?.y).toBeLessThan(rows?.y ?? 0);
  });

  it("shows each build's repository, pipeline, branch and author in full, on a desktop and a phone", async () => {
    const { service, browser } = stage;
    const { page } = browser;
    const names = ["payments-api", "service-014", "web"];
    for (const name of names) {
      const { hook, facts } = await connectWaiting(stage, `acme/${name}`);
      const message = "Round each line of the ledger once, as the bank does";
      const pushes = ["1", "2", "3", "4", "5"].map((digit) => SHA(digit));
      for (const [index, sha] of pushes.entries())
        await deliver(
          hook,
          "github",
          "push",
          newPush(sha, { ...facts, message, ref: "refs/heads/feature/vouchers", before: pushes[index - 1] }),
        );
    }
    for (const [width, view] of [
      [1440, ""],
      [1440, "?view=all"],
      [390, ""],
      [390, "?view=all"],
    ] as const) {
      await page.setViewportSize({ width, height: 900 });
      await page.goto(`${service.url}/app/builds${view}`);
      for (const name of names) {
        expect([width, view, await page.evaluate(`(${PARTS})("${name}")`)]).toEqual([
          ...[width, view],
          { name, pipeline: "/ ci", branch: "feature/vouchers", author: "Ann" },
        ]);
      }
    }
    await page.setViewportSize({ width: 1440, height: 900 });
    expect(await page.evaluate(`(${ROOM_OF_CUT})("payments-api")`)).toBeGreaterThan(20);
    await page.setViewportSize({ width: 1280, height: 720 });
  });

  it("shows a new agent's commands in full, with their copy button beside them", async () => {
    const { page } = stage.browser;
    await page.goto(`${stage.service.url}/app/agents/new`);
    await page.getByRole("button", { name: "Create registration token" }).click();
    await page.getByRole("button", { name: "Copy" }).first().waitFor();
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      expect([width, await tooWide(page)]).toEqual([width, false]);
      const text = await page.locator(".copied pre").first().boundingBox();
      const button = await page.locator(".copied button").first().boundingBox();
      expect((button?.y ?? 0) + (button?.height ?? 0)).toBeLessThanOrEqual(text?.y ?? 0);
      expect((button?.x ?? 0) + (button?.width ?? 0)).toBeLessThanOrEqual(width);
      const overflow =
        'document.querySelector(".copied pre").scrollWidth - document.querySelector(".copied pre").clientWidth';
      expect(await page.evaluate(overflow)).toBe(0);
    }
    await page.setViewportSize({ width: 1280, height: 720 });
  });
};
