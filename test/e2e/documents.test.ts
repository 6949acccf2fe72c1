import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { describeApi } from "../../src/api/description/describe.ts";
import { EXAMPLES } from "../../src/api/description/examples.ts";
import { methodsOf } from "../../src/api/route.ts";
import { ROUTES } from "../../src/api/routes.ts";
import { buildAssets } from "../../src/assets/build.ts";
import { ROOT } from "../../src/assets/output-files.ts";
import { agentProgram, importerProgram } from "../../src/assets/programs.ts";
import { GIT_HOSTS } from "../../src/dashboard/connections/git-hosts.tsx";
import { INCLUDE_SCHEMA, PIPELINE_SCHEMA } from "../../src/pipeline/parse/pipeline-file.ts";
import { PROBLEMS } from "../../src/protocol/problem.ts";
import { startChromium } from "../support/browser.ts";
import { type LocalService, startLocalService } from "../support/local/service.ts";

const { version } = packageJson;
let service: LocalService;
beforeAll(async () => {
  service = await startLocalService();
});
afterAll(() => service?.remove());

const get = (path: string): Promise<Response> => fetch(service.url + path, { redirect: "manual" });
const json = async (path: string): Promise<unknown> => (await get(path)).json();

interface Described {
  tags: { name: string }[];
  paths: Record<string, Record<string, { tags?: string[] }>>;
}

describe("the documents beside the API", () => {
  it("include the API description, the schemas of pipeline files and the agent", async () => {
    expect(await json("/openapi.json")).toEqual(JSON.parse(JSON.stringify(describeApi(ROUTES, EXAMPLES))));
    expect(await json("/schema/pipeline.json")).toEqual(PIPELINE_SCHEMA);
    expect(await json("/schema/include.json")).toEqual(INCLUDE_SCHEMA);
    expect(await (await get("/agent.mjs")).text()).toMatch(/^#!\/usr\/bin\/env node\n/);
  });

  it("name the same version everywhere", async () => {
    expect((await json("/openapi.json")) as object).toMatchObject({ info: { version } });
    expect(await json("/healthz")).toEqual({ isAlive: true, version });
    expect(await (await get("/agent.mjs")).text()).toContain(`// Millrace agent ${version}.`);
    const { token } = await service.newOrganization("versions");
    const signedIn = await fetch(`${service.url}/app/sign-in`, {
      ...{ method: "POST", redirect: "manual", headers: { Origin: service.url }, body: new URLSearchParams({ token }) },
    });
    const headers = { Cookie: signedIn.headers.get("set-cookie")?.split(";")[0] ?? "" };
    const page = await fetch(`${service.url}/app/builds`, { headers });
    expect(await page.text()).toContain(`Millrace ${version}`);
  });

  it("include the agent under a permanent versioned name, and a checksum for both names", async () => {
    const program = await (await get("/agent.mjs")).text();
    const sha256 = createHash("sha256").update(program).digest("hex");
    const versioned = await get(`/agent-${version}.mjs`);
    expect(await versioned.text()).toBe(program);
    expect(versioned.headers.get("Cache-Control")).toBe("public, max-age=31536000, immutable");
    expect((await get("/agent.mjs")).headers.get("Cache-Control")).not.toContain("immutable");
    for (const name of ["agent.mjs", `agent-${version}.mjs`]) {
      const checksum = await get(`/${name}.sha256`);
      expect(checksum.headers.get("Content-Type")).toBe("text/plain; charset=utf-8");
      expect(await checksum.text()).toBe(`${sha256}  ${name}\n`);
    }
    expect((await get("/agent-0.0.0.mjs")).status).toBe(404);
  });

  it("include as text the guides that pages link to", async () => {
    const ofHosts = Object.values(GIT_HOSTS).map(({ guide }) => guide.replace("/docs/", ""));
    for (const name of ["pipelines.md", "connect.md", ...ofHosts]) {
      const guide = await get(`/docs/${name}`);
      expect([name, guide.status, guide.headers.get("Content-Type")]).toEqual([name, 200, "text/plain; charset=utf-8"]);
      expect(await guide.text()).toBe(readFileSync(join(ROOT, "docs", name), "utf8"));
    }
  });

  it("list every distributed package in the notices", async () => {
    const notices = await (await get("/THIRD-PARTY-NOTICES.txt")).text();
    const named = [...notices.matchAll(/^-{80}\n\n(\S+) \S+ \(/gm)].map(([, name]) => `node_modules/${name}`);
    const programs = [await agentProgram(), await importerProgram()].flatMap(({ packages }) => packages);
    const handedOn = [...(await buildAssets()), ...programs, "node_modules/swagger-ui-dist"];
    expect(named).toEqual([...new Set(handedOn)].sort());
    for (const name of ["swagger-ui-bundle.js.LICENSE.txt", "LICENSE", "NOTICE"])
      expect((await get(`/docs/static/${name}`)).status).toBe(200);
  });

  it("include a page for each problem type", async () => {
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

  it("include a reference page that shows every operation and loads nothing from other hosts", async () => {
    const root = await get("/");
    expect([root.status, root.headers.get("Location")]).toEqual([302, "/app"]);
    const chromium = await startChromium(service.url);
    const browser = await chromium.open();
    await browser.page.goto(`${service.url}/docs`);
    await browser.page.locator(".opblock").first().waitFor();
    const { tags, paths } = (await json("/openapi.json")) as Described;
    const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
    expect(operations).toHaveLength(ROUTES.flatMap(methodsOf).length);
    // The page draws only the visible part of a long list, so the test opens each group by itself.
    const filter = browser.page.locator(".operation-filter-input");
    for (const { name } of tags) {
      await filter.fill(name);
      const ofTag = operations.filter((operation) => operation.tags?.includes(name));
      await expect.poll(() => browser.page.locator(".opblock").count(), { timeout: 120_000 }).toBe(ofTag.length);
    }
    await filter.fill("Variables");
    await browser.page.locator("#operations-Variables-createVariable").click();
    await browser.page.getByText("A secret of a group").first().waitFor({ state: "attached" });
    expect(browser.complaints).toEqual([]);
    await chromium.stop();
  });
});
