import { setTimeout } from "node:timers/promises";
import type { BrowserContext, Page } from "playwright-core";

const POLL_MS = 20;
const MOST_MS = 60_000;
/** What a person on a bad mobile line has: 400 kbit/s, each answer 400 ms later. */
const SLOW_LINE = { offline: false, latency: 400, downloadThroughput: 50_000, uploadThroughput: 50_000 };

/** Milliseconds between the frames that are drawn during `work`. */
export const framesDuring = async (page: Page, work: () => Promise<unknown>): Promise<number[]> => {
  await page.evaluate(`window.__frames = []; window.__last = performance.now();
    (function next(now) { __frames.push(now - __last); __last = now; window.__raf = requestAnimationFrame(next); })(performance.now())`);
  await work();
  return (await page.evaluate("cancelAnimationFrame(__raf), __frames")) as number[];
};

/** Milliseconds of the tasks that held up the page during `work`: those above 50. */
export const longTasksDuring = async (page: Page, work: () => Promise<unknown>): Promise<number[]> => {
  await page.evaluate(`window.__tasks = []; window.__watch = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) __tasks.push(duration); }); __watch.observe({ type: "longtask" })`);
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
  // The policy of the pages forbids what waits within them.
  while (!(await page.evaluate(ready).catch(() => false))) {
    if (performance.now() - begun > MOST_MS) throw new Error(`not ready after ${MOST_MS} ms: ${ready}`);
    await setTimeout(POLL_MS);
  }
  const taken = performance.now() - begun;
  await page.close();
  return taken;
};
