import { setTimeout } from "node:timers/promises";
import type { BrowserContext, Page } from "playwright-core";

const POLL_MS = 20;
const MOST_MS = 60_000;
/** What a person on a bad mobile line has: 400 kbit/s, each answer 400 ms later. */
const SLOW_LINE = { offline: false, latency: 400, downloadThroughput: 50_000, uploadThroughput: 50_000 };

/** Looks from outside until `ready` holds: the policy of the pages forbids what waits within them. Returns milliseconds. */
export const until = async (page: Page, ready: string): Promise<number> => {
  const begun = performance.now();
  while (!(await page.evaluate(ready).catch(() => false))) {
    if (performance.now() - begun > MOST_MS) throw new Error(`not ready after ${MOST_MS} ms: ${ready}`);
    await setTimeout(POLL_MS);
  }
  return performance.now() - begun;
};

/** Milliseconds between the frames that are drawn during `work`. */
export const framesDuring = async (page: Page, work: () => Promise<unknown>): Promise<number[]> => {
  await page.evaluate(`window.__frames = []; window.__last = performance.now();
    (function next(now) { __frames.push(now - __last); __last = now; window.__raf = requestAnimationFrame(next); })(performance.now())`);
  await work();
  return (await page.evaluate("cancelAnimationFrame(__raf), __frames")) as number[];
};

/** A task that the watch must see, or it sees none. */
const CONTROL_MS = 120;

const seesTasks = "__tasks.some((duration) => duration >= 100)";

/** Milliseconds of the tasks that held up the page during `work`: those above 50. It first sees one that it made. */
export const longTasksDuring = async (page: Page, work: () => Promise<unknown>): Promise<number[]> => {
  await page.evaluate(`window.__tasks = []; window.__watch = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) __tasks.push(duration); }); __watch.observe({ type: "longtask" })`);
  await page.evaluate(
    `setTimeout(() => { const end = performance.now() + ${CONTROL_MS}; while (performance.now() < end); })`,
  );
  await until(page, seesTasks);
  await page.evaluate("__tasks.length = 0");
  await work();
  return (await page.evaluate("__watch.disconnect(), __tasks")) as number[];
};

/** Milliseconds from the navigation until `ready` holds in the page, over a slow line. */
export const overSlowLine = async (
  context: BrowserContext,
  { address, ready, isCold }: { address: string; ready: string; isCold: boolean },
): Promise<number> => {
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send("Network.enable");
  await session.send("Network.setCacheDisabled", { cacheDisabled: isCold });
  await session.send("Network.emulateNetworkConditions", SLOW_LINE);
  const begun = performance.now();
  await page.goto(address, { waitUntil: "commit" });
  await until(page, ready);
  const taken = performance.now() - begun;
  await page.close();
  return taken;
};
