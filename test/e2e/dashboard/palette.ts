import { expect, it } from "vitest";
import type { Pipeline } from "../../../src/protocol/pipeline.ts";
import { repositoryWith, type Stage } from "./stage.ts";

export const palette = (stage: Stage) => {
  const open = async (path: string) => {
    const { page } = stage.browser;
    await page.goto(`${stage.service.url}/app/${path}`);
    await page.getByRole("button", { name: "Search and actions" }).waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Search and actions" }).waitFor();
    return page;
  };

  it("opens with Ctrl K or its button, finds entries by words, and opens them with Enter or a click", async () => {
    const { client, service, browser } = stage;
    const { page } = browser;
    const repository = await repositoryWith(stage, "steps:\n  - run: 'true'\n");
    const { id } = await client.call<Pipeline>("POST", "/pipeline", { repoId: repository.id, name: "nightly-check" });
    await open("builds");
    await page.keyboard.type("nightly-ch");
    await page.getByRole("option", { name: "nightly-check pipeline" }).waitFor();
    await page.getByRole("option", { name: "nightly-check pipeline" }).click();
    await page.waitForURL(`${service.url}/app/pipelines/${id}`);
    await page.getByRole("button", { name: "Search and actions" }).click();
    await page.keyboard.type("audit");
    await page.keyboard.press("Enter");
    await page.waitForURL(`${service.url}/app/audit`);
    await open("audit");
    await page.keyboard.press("Escape");
    await page.getByRole("combobox", { name: "Search and actions" }).waitFor({ state: "hidden" });
  });

  it("runs the page's buttons, and asks for confirmation if they do", async () => {
    const { page } = stage.browser;
    await open("agents");
    await page.keyboard.type("drain one");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Resume one" }).waitFor();
    await page.keyboard.press("Control+k");
    await page.keyboard.type("resume one");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Drain one" }).waitFor();
    await page.keyboard.press("Control+k");
    await page.keyboard.type("remove one");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: /^Remove/ }).waitFor();
  });

  it("shows hostile names as text", async () => {
    const { client } = stage;
    const name = '<img src=x onerror=alert(1)> "quoted"';
    await client.call("POST", "/secrets/groups", { name });
    const page = await open("variables");
    await page.keyboard.type("onerror");
    await page.locator(".palette li").filter({ hasText: name }).first().waitFor();
    expect(await page.locator(".palette img").count()).toBe(0);
    await page.keyboard.press("Escape");
  });

  it("removes a row with x, after a confirmation that names it", async () => {
    const { page } = stage.browser;
    await page.goto(`${stage.service.url}/app/agents`);
    await page.keyboard.press("j");
    await page.keyboard.press("x");
    await page.getByRole("heading", { name: /^Remove/ }).waitFor();
  });
};
