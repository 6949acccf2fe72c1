import type { Build } from "../../src/protocol/build.ts";
import { type Job, LEASE_HEADER } from "../../src/protocol/jobs.ts";
import { signIn, startChromium } from "../support/browser.ts";
import { startLocalService } from "../support/local/service.ts";
import { framesDuring, longTasksDuring, overSlowLine, until } from "./support/browser-timing.ts";
import { makePipeline, registerAgent } from "./support/build-requests.ts";
import { KeepAliveClient } from "./support/keep-alive.ts";

/* Lost frames while a log streams in, and while a long one scrolls. */
const LINES_PER_SECOND = 5_000;
const STREAM_SECONDS = 20;
const TICK_MS = 200;
const LONG_BYTES = 50 * 1024 * 1024;
const CHUNK = 1024 * 1024;
/** At 60 frames per second, a longer pause means a lost frame. */
const LOST_MS = 34;

const LAST_LINE = "the last line of all";
const LINE = "2026-11-21T12:00:00.000Z  compiling src/cart/checkout.ts, 128 modules, all of them fine\n";

const service = await startLocalService();
const client = await service.newOrganization("bench");
const http = new KeepAliveClient(service.url);
const { id: pipelineId } = await makePipeline(client);
const { token, id: agentId } = await registerAgent(client, http, "mill-1");

/** Starts a build. This program acts as its agent. */
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
await signIn(page, service.url, client.token);

const report = (what: string, frames: number[]): void => {
  const lost = frames.filter((frame) => frame > LOST_MS);
  const share = ((100 * lost.length) / frames.length).toFixed(1);
  console.log(
    `  ${what}: ${frames.length} frames, ${lost.length} late (${share} %), the longest ${Math.max(...frames).toFixed(0)} ms`,
  );
};

const idle = await framesDuring(page, () => new Promise((resolve) => setTimeout(resolve, 2_000)));
report("idle page", idle);

const live = await begin();
await page.goto(live.address);
await page.locator(".log-lines").waitFor();
const stream = async () => {
  const lines = LINE.repeat((LINES_PER_SECOND * TICK_MS) / 1000);
  const begun = performance.now();
  for (let tick = 1; tick <= (STREAM_SECONDS * 1000) / TICK_MS; tick++) {
    await live.write(lines);
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, begun + tick * TICK_MS - performance.now())));
  }
};
const lineIsSeen = (line: number) =>
  `[...document.querySelectorAll(".log-number")].some(({ textContent }) => textContent === "${line}")`;
let streamed: number[] = [];
let late = 0;
const tasks = await longTasksDuring(page, async () => {
  streamed = await framesDuring(page, async () => {
    await stream();
    late = await until(page, lineIsSeen(LINES_PER_SECOND * STREAM_SECONDS));
  });
});
report(`${LINES_PER_SECOND} lines a second stream in for ${STREAM_SECONDS} s`, streamed);
const longest = Math.max(0, ...tasks).toFixed(0);
console.log(`  long tasks meanwhile: ${tasks.length}, the longest ${longest} ms (goal: none above 100)`);
console.log(`  the last of these lines is in view ${late.toFixed(0)} ms after it was written`);
await live.end();

const long = await begin();
const chunk = LINE.repeat(Math.floor(CHUNK / LINE.length));
for (let size = 0; size < LONG_BYTES; size += chunk.length) await long.write(chunk);
await long.write(`${LAST_LINE}\n`);
await long.end();
const opened = performance.now();
await page.goto(long.address);
await page.locator(".log-text").first().waitFor();
console.log(`  the end of 50 MB is there ${((performance.now() - opened) / 1000).toFixed(1)} s after the navigation`);
const readAll = page.getByRole("button", { name: "Load all" });
if (await readAll.isVisible()) await readAll.click();
await page.locator(".log[data-complete]").waitFor();
console.log(`  50 MB are complete ${((performance.now() - opened) / 1000).toFixed(1)} s after the navigation`);
const scrolled = await framesDuring(page, () =>
  page.evaluate(`new Promise((resolve) => {
    const lines = document.querySelector(".log-lines");
    const until = performance.now() + 4000;
    (function step(now) {
      lines.scrollTop += 1700;
      if (now < until) requestAnimationFrame(step); else resolve();
    })(performance.now());
  })`),
);
report("scroll through 50 MB", scrolled);
console.log(`  elements on the page: ${await page.locator("*").count()}`);

// The page has only the rows that the log's box shows.
const isAtEnd = `[...document.querySelectorAll(".log-text")].some((row) => row.textContent.includes("${LAST_LINE}"))`;
for (const isCold of [true, false]) {
  const taken = await overSlowLine(context, { address: long.address, ready: isAtEnd, isCold });
  const cache = isCold ? "empty browser cache" : "scripts and fonts are cached";
  console.log(
    `  400 kbit/s, 400 ms, ${cache}: the last line of 50 MB is in view after ${(taken / 1000).toFixed(1)} s (goal 2)`,
  );
}

await chromium.stop();
http.close();
await service.remove();
