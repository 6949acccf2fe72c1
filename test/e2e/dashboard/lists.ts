import { expect, it } from "vitest";
import type { Pipeline } from "../../../src/protocol/pipeline.ts";
import { repositoryWith, type Stage } from "./stage.ts";

const LISTS = [
  "builds",
  "agents",
  "repositories",
  "schedules",
  "connections",
  "variables",
  "groups",
  "tokens",
  "audit",
];

export const lists = (stage: Stage) => {
  it("move through every list's rows by keys, and focus its filter", async () => {
    const { client, service, browser } = stage;
    const { page } = browser;
    const repository = await repositoryWith(stage, "steps:\n  - run: 'true'\n");
    for (const name of ["one", "two"]) {
      await client.call("POST", "/secrets/groups", { name: `${name} ${crypto.randomUUID()}` });
      const owner = { scope: "repository", repoId: repository.id };
      await client.call("POST", "/secrets/variables", { key: name, value: "1", isSecret: false, ...owner });
    }
    const pipeline = await client.call<Pipeline>("POST", "/pipeline", { repoId: repository.id, name: "ci" });
    await client.call("POST", "/schedule", { pipelineId: pipeline.id, name: "nightly", cron: "0 2 * * *" });
    await client.call("POST", "/connection", { kind: "gitlab", name: "GitLab", webUrl: "https://gitlab.com" });
    const at = () =>
      page.evaluate(`(() => {
      const row = document.activeElement.closest("[data-row]");
      return [...document.querySelectorAll("[data-row]")].indexOf(row);
    })()`);
    for (const list of LISTS) {
      await page.goto(`${service.url}/app/${list}`);
      await page.keyboard.press("j");
      expect([list, await at()]).toEqual([list, 0]);
      const rows = await page.locator("[data-row]").count();
      await page.keyboard.press("j");
      expect([list, await at()]).toEqual([list, Math.min(1, rows - 1)]);
      await page.keyboard.press("k");
      expect([list, await at()]).toEqual([list, 0]);
      await page.keyboard.press("/");
      expect([list, await page.evaluate("document.activeElement.dataset.key")]).toEqual([list, "/"]);
    }
    await page.goto(`${service.url}/app/variables?q=TW`);
    expect(await page.locator("[data-row] .what").allTextContents()).toContain("two");
    expect(await page.locator("[data-row] .what").allTextContents()).not.toContain("one");
    await page.keyboard.press("?");
    for (const keys of ["g t", "g u", "g b"])
      await page.locator("#keys kbd").getByText(keys, { exact: true }).waitFor();
  });

  it("number a definition's lines, and go to the error", async () => {
    const { client, service, browser } = stage;
    const { page } = browser;
    const repository = await repositoryWith(stage, "steps:\n  - run: 'true'\n");
    const lines = [...Array.from({ length: 150 }, (_, index) => `# ${index + 1}`), "steps:", "  - run: 'true'"];
    const definition = `${lines.join("\n")}\n    env: {A: "${"long ".repeat(60)}", bad-name: 1}\n`;
    const { id } = await client.call<Pipeline>("POST", "/pipeline", { repoId: repository.id, name: "ci" });
    await page.goto(`${service.url}/app/pipelines/${id}`);
    const field = page.getByLabel("Definition");
    await field.fill(definition);
    await page.locator(".numbered pre").getByText("154").waitFor();
    await page.locator(".mistakes button", { hasText: /^153:/ }).first().click();
    const area = 'document.querySelector("#definition")';
    const place = (await page.evaluate(`(() => {
      const area = ${area};
      const line = area.value.slice(0, area.selectionStart).split("\\n").length;
      const y = (line - 1) * 20 - area.scrollTop;
      return { line, isInSight: y >= 0 && y < area.clientHeight, isSideways: area.scrollLeft > 0 };
    })()`)) as object;
    expect(place).toEqual({ line: 153, isInSight: true, isSideways: true });
    const apart = `${area}.scrollTop - document.querySelector(".numbered pre").scrollTop`;
    await expect.poll(() => page.evaluate(apart)).toBe(0);
  });
};
