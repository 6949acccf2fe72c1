import { readdirSync } from "node:fs";
import { request } from "node:http";
import { join, relative } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SERVED } from "../../src/assets/output-files.ts";
import type { Client } from "../../src/local/client.ts";
import { waitForEnd } from "../../src/local/demo.ts";
import { localSettings } from "../../src/local/service.ts";
import type { Build } from "../../src/protocol/build.ts";
import { type Chromium, signIn, startChromium } from "../support/browser.ts";
import { type RunningAgent, startAgent } from "../support/local/agent.ts";
import { connectRepository, makeRepository } from "../support/local/git-repository.ts";
import { type LocalService, startLocalService } from "../support/local/service.ts";

/* A build creates a report with scripts. A signed-in person opens it in a real browser. */

let service: LocalService;
let port: number;
let client: Client;
let agent: RunningAgent;
let chromium: Chromium;
/** The service's address under a name whose site includes the artifacts' host. */
let site: string;
let host: string;

beforeAll(async () => {
  service = await startLocalService();
  port = Number(new URL(service.url).port);
  host = localSettings(port).ARTIFACT_ORIGIN ?? "";
  site = `http://localhost:${port}`;
  client = await service.newOrganization("acme");
  agent = await startAgent(client, service.folder, "one");
  chromium = await startChromium("http://");
});
afterAll(async () => {
  await chromium?.stop();
  await agent?.stop();
  await service?.remove();
});

/** Tries everything that a hostile report could want, and writes down the results. */
const SCRIPT = `
const said = {};
const trying = async (name, act) => {
  try { said[name] = String(await act()); } catch (error) { said[name] = "no: " + error.name; }
};
await trying("cookie", () => document.cookie);
await trying("storage", () => localStorage.length);
await trying("own", async () => (await fetch("data/own.json")).text());
await trying("image", () => new Promise((resolve) => {
  const image = new Image();
  image.onload = () => resolve(image.naturalWidth);
  image.onerror = () => resolve("no");
  image.src = "data/one.svg";
}));
const api = "SITE";
for (const path of ["/build", "/token/self", "/app/builds"])
  await trying("read " + path, async () => (await fetch(api + path, { credentials: "include" })).text());
await trying("sign out", async () => {
  const sent = await fetch(api + "/app/sign-out", { method: "POST", mode: "no-cors", credentials: "include" });
  return sent.type;
});
await trying("frame", () => new Promise((resolve) => {
  const frame = document.createElement("iframe");
  frame.onload = () => { try { resolve(frame.contentWindow.document.title); } catch (error) { resolve("no: " + error.name); } };
  frame.src = api + "/app/builds";
  document.body.append(frame);
  setTimeout(() => resolve("no: silence"), 5000);
}));
document.querySelector("pre").textContent = JSON.stringify(said);
`;

const fileOf = (): string => {
  const page =
    '<!doctype html><title>Report</title><h1>Report</h1><pre></pre><script type="module" src="run.js"></script>';
  const script = Buffer.from(SCRIPT.replace("SITE", site)).toString("base64");
  return `steps:
  - run: |
      mkdir -p report/data
      echo '${page}' > report/index.html
      echo ${script} | base64 -d > report/run.js
      echo 42 > report/data/own.json
      echo '<svg xmlns="http://www.w3.org/2000/svg" width="7" height="7"/>' > report/data/one.svg
artifacts:
  - { name: report, path: report/ }
`;
};

describe("a report with scripts", () => {
  it("works, and cannot access the session of the person who opens it", async () => {
    const repository = await connectRepository(client, makeRepository(service.folder, { ".millrace.yml": fileOf() }));
    const { id } = await client.call<Build>("POST", `/repository/${repository.id}/build`, { branch: "main" });
    expect(await waitForEnd(client, id)).toMatchObject({ status: "succeeded" });
    const { page, context, close } = await chromium.open();
    await signIn(page, site, client.token);
    expect(await context.cookies(site)).not.toEqual([]);
    await page.goto(`${site}/app/builds/${id}`);
    await page.getByRole("link", { name: /^Artifacts/ }).click();
    await page.getByRole("link", { name: "report", exact: true }).first().click();
    const link = page.locator(`a[href^="${host}/view/"]`).first();
    await page.goto((await link.getAttribute("href")) ?? "");
    await page.waitForFunction(`document.querySelector("pre")?.textContent !== ""`);
    const said = JSON.parse((await page.locator("pre").textContent()) ?? "");
    expect(said).toMatchObject({ own: "42\n", image: "7" });
    for (const name of ["cookie", "storage"]) expect(said[name]).toBe("no: SecurityError");
    for (const path of ["/build", "/token/self", "/app/builds"]) expect(said[`read ${path}`]).toBe("no: TypeError");
    expect(said.frame).toMatch(/^no|^undefined$/);
    expect(page.url()).toContain(host);
    // The report's blind requests changed nothing.
    await page.goto(`${site}/app/builds`);
    expect(page.url()).toBe(`${site}/app/builds`);
    await close();
  });
});

/** Returns the answer's status for a request that names this host. */
const statusAt = (name: string, path: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const asked = { host: "127.0.0.1", port, path, headers: { Host: name } };
    const sent = request(asked, (answer) => {
      answer.resume();
      answer.on("end", () => resolve(answer.statusCode ?? 0));
    });
    sent.on("error", reject).end();
  });

/** Returns the addresses of all static files. */
const served = (): string[] =>
  readdirSync(SERVED, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith("_"))
    .map((entry) => `/${relative(SERVED, join(entry.parentPath, entry.name))}`);

describe("the artifacts' host", () => {
  it("serves none of the service's static files, and the service's own host serves all of them", async () => {
    const paths = served();
    expect(paths.length).toBeGreaterThan(30);
    for (const path of ["/", "/docs", "/problems/not-found", ...paths]) {
      expect([path, await statusAt(new URL(host).host, path)]).toEqual([path, 404]);
      const own = await statusAt(new URL(service.url).host, path);
      expect([path, own < 400]).toEqual([path, true]);
    }
    expect(await statusAt(new URL(service.url).host, "/problems/none")).toBe(404);
  });
});
