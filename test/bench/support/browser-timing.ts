import { setTimeout } from "node:timers/promises";
import type { BrowserContext, Page } from "playwright-core";

const POLL_MS = 20;
const MOST_MS = 60_000;
/** A slow mobile line: 400 kbit/s, and each answer arrives 400 ms later. */
const SLOW_LINE = { offline: false, latency: 400, downloadThroughput: 50_000, uploadThroughput: 50_000 };

/** Polls from outside until `ready` holds: the pages' policy forbids waiting within them. Returns milliseconds. */
export const until = async (page: Page, ready: string): Promise<number> => {
  const begun = performance.now();
  while (!(await page.evaluate(ready).catch(() => false))) {
    if (performance.now() - begun > MOST_MS) throw new Error(`The page is not ready after ${MOST_MS} ms: ${ready}`);
    await setTimeout(POLL_MS);
  }
  return performance.now() - begun;
};

/** Returns the milliseconds between the frames that the browser draws during `work`. */
export const framesDuring = async (page: Page, work: () => Promise<unknown>): Promise<number[]> => {
  await page.evaluate(`window.__frames = []; window.__last = performance.now();
    (function next(now) { __frames.push(now - __last); __last = now; window.__raf = requestAnimationFrame(next); })(performance.now())`);
  await work();
  return (await page.evaluate("cancelAnimationFrame(__raf), __frames")) as number[];
};

/** A task that the observer must see. Otherwise it sees no tasks at all. */
const CONTROL_MS = 120;

const seesTasks = "__tasks.some((duration) => duration >= 100)";

/**
 * Returns the milliseconds of tasks above 50 that blocked the page during `work`. First checks that the observer sees a
 * task of its own.
 */
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

/** Returns the milliseconds from the navigation until `ready` holds in the page, over a slow line. */
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
