import { expect, it } from "vitest";
import { crawl, type Stage } from "./stage.ts";

export const secrets = (stage: Stage) => {
  it("keeps an entered secret out of every page's source", async () => {
    const { service, browser } = stage;
    const { page } = browser;
    const value = `typed-secret-${crypto.randomUUID()}`;
    const add = async () => {
      await page.goto(`${service.url}/app/variables/new`);
      await page.getByLabel("Key", { exact: true }).fill("TYPED_SECRET");
      await page.getByLabel("Value").fill(value);
      await page.getByRole("button", { name: "Add variable" }).click();
    };
    await add();
    await page.getByText("Created.").waitFor();
    await add();
    await page.getByText("Already exists").waitFor();
    expect(await page.content()).not.toContain(value);
    const sources = await crawl(page, service.url, 3);
    expect([...sources.keys()].filter((path) => /^\/app\/variables\/[0-9a-f-]{36}$/.test(path)).length).toBeGreaterThan(
      0,
    );
    expect([...sources].filter(([, source]) => source.includes(value)).map(([path]) => path)).toEqual([]);
    expect([...sources.values()].some((source) => source.includes("TYPED_SECRET"))).toBe(true);
  });
};
