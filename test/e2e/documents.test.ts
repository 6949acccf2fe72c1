import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describe as describeApi } from "../../src/api/description/describe.ts";
import { EXAMPLES } from "../../src/api/description/examples.ts";
import { methodsOf, ROUTES } from "../../src/api/routes.ts";
import { PIPELINE_SCHEMA } from "../../src/domain/plan/schema.ts";
import { PROBLEMS } from "../../src/protocol/problem.ts";
import { startChromium } from "../support/browser.ts";
import { type LocalService, startLocalService } from "../support/local/service.ts";

let service: LocalService;
beforeAll(async () => {
  service = await startLocalService();
});
afterAll(() => service?.remove());

const get = (path: string): Promise<Response> => fetch(service.url + path, { redirect: "manual" });
const json = async (path: string): Promise<unknown> => (await get(path)).json();

describe("what is served beside the API", () => {
  it("is the description, the schema of pipeline files and the agent", async () => {
    expect(await json("/openapi.json")).toEqual(JSON.parse(JSON.stringify(describeApi(ROUTES, EXAMPLES))));
    expect(await json("/schema/pipeline.json")).toEqual(PIPELINE_SCHEMA);
    expect(await (await get("/agent.mjs")).text()).toMatch(/^#!\/usr\/bin\/env node\n/);
  });

  it("has a page behind the type of every problem", async () => {
    for (const [kind, [status, title]] of Object.entries(PROBLEMS)) {
      const page = await get(`/problems/${kind}`);
      expect(page.status).toBe(200);
      expect(page.headers.get("Content-Security-Policy")).toContain("default-src 'none'");
      const text = await page.text();
      expect(text).toContain(title);
      expect(text).toContain(String(status));
      expect(text).toContain("What to do");
    }
    const { type } = (await json("/build")) as { type: string };
    expect((await get(type)).status).toBe(200);
  });

  it("is a reference page that shows every operation and needs no other host", async () => {
    const root = await get("/");
    expect([root.status, root.headers.get("Location")]).toEqual([302, "/app"]);
    const chromium = await startChromium(service.url);
    const browser = await chromium.open();
    await browser.page.goto(`${service.url}/docs`);
    await browser.page.locator(".opblock").first().waitFor();
    expect(await browser.page.locator(".opblock").count()).toBe(ROUTES.flatMap(methodsOf).length);
    await browser.page.locator("#operations-Variables-createVariable").click();
    await browser.page.getByText("A secret of a group").first().waitFor({ state: "attached" });
    expect(browser.complaints).toEqual([]);
    await chromium.stop();
  });
});
