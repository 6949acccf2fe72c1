import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../src/local/service.ts";
import type { Build } from "../../src/protocol/build.ts";
import { type Job, LEASE_HEADER } from "../../src/protocol/jobs.ts";
import { signIn, startChromium } from "../support/browser.ts";
import { serveBundled } from "../support/served-worker.ts";
import { makePipeline, registerAgent } from "./support/build-requests.ts";
import { KeepAliveClient } from "./support/keep-alive.ts";

/* Frames lost while a log streams in, and while a long one scrolls. */
const LINES_PER_SECOND = 5_000;
const STREAM_SECONDS = 5;
const TICK_MS = 200;
const LONG_BYTES = 50 * 1024 * 1024;
const CHUNK = 1024 * 1024;
/** At 60 frames a second, a longer pause means that a frame was lost. */
const LOST_MS = 34;

const LINE = "2026-11-21T12:00:00.000Z  compiling src/cart/checkout.ts, 128 modules, all of them fine\n";

const service = await serveBundled();
const client = await service.newOrganization("bench");
const http = new KeepAliveClient(service.url);
const { id: pipelineId } = await makePipeline(client);
const { token, id: agentId } = await registerAgent(client, http, "mill-1");

/** Starts a build; this program plays its agent. */
const begin = async () => {
  await client.call<Build>("POST", "/build", { pipelineId, branch: "main" });
  const { build, lease } = await http.request<Job>("GET", `/buildagent/${agentId}/poll?wait=50`, { token });
  const headers = { [LEASE_HEADER]: String(lease), "Content-Type": "application/octet-stream" };
  await http.request("POST", `/build/${build.id}/start`, { token, headers: { [LEASE_HEADER]: String(lease) } });
  let offset = 0;
  const write = async (body: string, isFinal = false) => {
    const path = `/build/${build.id}/log?offset=${offset}${isFinal ? "&final=true" : ""}`;
    await http.request("PUT", path, { token, headers, body });
    offset += body.length;
  };
  const end = async () => {
    await write("", true);
    const body = JSON.stringify({ status: "succeeded", exitCode: 0 });
    await http.request("POST", `/build/${build.id}/finish`, {
      token,
      headers: { [LEASE_HEADER]: String(lease) },
      body,
    });
  };
  return { address: `${service.url}/app/builds/${build.id}`, write, end };
};

const chromium = await startChromium(service.url);
const { context, page } = await chromium.open({ viewport: { width: 1280, height: 800 } });
await context.route("**/app/static/*", (route) => {
  const path = new URL(route.request().url()).pathname;
  const types: Record<string, string> = { js: "text/javascript", css: "text/css", svg: "image/svg+xml" };
  const contentType = types[path.split(".").at(-1) ?? ""];
  return route.fulfill({ body: readFileSync(join(ROOT, "dist/assets", path)), contentType });
});
await signIn(page, service.url, client.token);

/** Milliseconds between the frames that are drawn during `work`. */
const framesDuring = async (work: () => Promise<unknown>): Promise<number[]> => {
  await page.evaluate(`window.__frames = []; window.__last = performance.now();
    (function next(now) { __frames.push(now - __last); __last = now; window.__raf = requestAnimationFrame(next); })(performance.now())`);
  await work();
  return (await page.evaluate("cancelAnimationFrame(__raf), __frames")) as number[];
};

const report = (what: string, frames: number[]): void => {
  const lost = frames.filter((frame) => frame > LOST_MS);
  const share = ((100 * lost.length) / frames.length).toFixed(1);
  console.log(
    `  ${what}: ${frames.length} frames, ${lost.length} late (${share} %), the longest ${Math.max(...frames).toFixed(0)} ms`,
  );
};

const idle = await framesDuring(() => new Promise((resolve) => setTimeout(resolve, 2_000)));
report("nothing happens", idle);

const live = await begin();
await page.goto(live.address);
await page.locator(".log-lines").waitFor();
const streamed = await framesDuring(async () => {
  const lines = LINE.repeat((LINES_PER_SECOND * TICK_MS) / 1000);
  const begun = performance.now();
  for (let tick = 1; tick <= (STREAM_SECONDS * 1000) / TICK_MS; tick++) {
    await live.write(lines);
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, begun + tick * TICK_MS - performance.now())));
  }
});
report(`${LINES_PER_SECOND} lines a second stream in`, streamed);
await live.end();

const long = await begin();
const chunk = LINE.repeat(Math.floor(CHUNK / LINE.length));
for (let size = 0; size < LONG_BYTES; size += chunk.length) await long.write(chunk);
await long.end();
const opened = performance.now();
await page.goto(long.address);
await page.locator(".log[data-complete]").waitFor();
console.log(`  50 MB are complete ${((performance.now() - opened) / 1000).toFixed(1)} s after the navigation`);
const scrolled = await framesDuring(() =>
  page.evaluate(`new Promise((resolve) => {
    const lines = document.querySelector(".log-lines");
    const until = performance.now() + 4000;
    (function step(now) {
      lines.scrollTop += 1700;
      if (now < until) requestAnimationFrame(step); else resolve();
    })(performance.now());
  })`),
);
report("50 MB scroll by", scrolled);
console.log(`  elements on the page: ${await page.locator("*").count()}`);

await chromium.stop();
http.close();
await service.stop();
