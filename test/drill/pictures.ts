import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { axeFindings } from "../e2e/dashboard/judge.ts";
import { type Chromium, signIn, startChromium } from "../support/browser.ts";
import { startLocalService } from "../support/local/service.ts";
import { setup as bundleAgent } from "../support/set-up/agent.ts";
import { PicturedOrganization } from "./pictures/organization.ts";

const WIDTHS = [1440, 1024, 768, 360];
const THEMES = ["light", "dark"] as const;
const HEIGHT = 900;
const TALLEST = 1800;
const KIB = 1024;
/** Maximum compressed bytes for a page, its style, its scripts and their imports. Browsers keep fonts forever. */
const MOST = { page: 70 * KIB, log: 90 * KIB, fonts: 130 * KIB };
const HAS_LOG = /^build-(?!waiting|held|approved)|^job$/;

/** A page's cost for a browser with an empty cache. */
interface Cost {
  page: number;
  fonts: number;
  shift: number;
  paintMs: number;
}

const SHIFT = `new Promise((resolve) => {
  let shift = 0, paint = 0;
  new PerformanceObserver((list) => { for (const one of list.getEntries()) shift += one.value; }).observe({ type: "layout-shift", buffered: true });
  new PerformanceObserver((list) => { for (const one of list.getEntries()) paint = one.startTime; }).observe({ type: "largest-contentful-paint", buffered: true });
  setTimeout(() => resolve([shift, paint]), 600);
})`;

/** Loads a page with an empty cache. Delays the fonts. */
const costOf = async (context: BrowserContext, url: string): Promise<Cost> => {
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send("Network.enable");
  await session.send("Network.setCacheDisabled", { cacheDisabled: true });
  const [urls, sizes] = [new Map<string, string>(), { page: 0, fonts: 0 }];
  session.on("Network.responseReceived", ({ requestId, response }) => urls.set(requestId, response.url));
  session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    sizes[urls.get(requestId)?.endsWith(".woff2") ? "fonts" : "page"] += encodedDataLength;
  });
  await page.route("**/*.woff2", async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 400));
    await route.continue();
  });
  await page.goto(url, { waitUntil: "load" });
  const [shift = 0, paintMs = 0] = (await page.evaluate(SHIFT)) as number[];
  await page.close();
  return { ...sizes, shift, paintMs };
};

const take = async (page: Page, url: string, path: string, status: number): Promise<string[]> => {
  const answer = await page.goto(url);
  if (answer?.status() !== status) return [`answered ${answer?.status()}, not ${status}`];
  await page.waitForTimeout(350);
  const [wide, tall] = (await page.evaluate(
    "[document.documentElement.scrollWidth, document.documentElement.scrollHeight]",
  )) as [number, number];
  const { width = 0 } = page.viewportSize() ?? {};
  const clip = { x: 0, y: 0, width, height: Math.min(Math.max(tall, HEIGHT), TALLEST) };
  await page.screenshot({ path, fullPage: true, clip });
  const found = await axeFindings(page);
  return wide > width ? [...found, `${wide} pixels wide`] : found;
};

const takeAll = async (
  chromium: Chromium,
  { url, token, folder }: { url: string; token: string; folder: string },
  pages: [string, string][],
): Promise<string[]> => {
  const wrong: string[] = [];
  for (const theme of THEMES)
    for (const width of WIDTHS) {
      const size = { viewport: { width, height: HEIGHT }, colorScheme: theme, reducedMotion: "reduce" } as const;
      const browser = await chromium.open(size);
      await signIn(browser.page, url, token);
      for (const [name, path] of pages) {
        const found = await take(
          browser.page,
          url + path,
          join(folder, `${name}-${width}-${theme}.png`),
          name === "problem" ? 404 : 200,
        );
        wrong.push(...found.map((one) => `${name}, ${width}, ${theme}: ${one}`));
      }
      wrong.push(...browser.complaints.map((one) => `${width}, ${theme}: ${one}`));
      await browser.close();
      console.log(`${pages.length} pages of ${width} pixels, ${theme}: ${wrong.length} findings so far`);
    }
  return wrong;
};

const weigh = async (chromium: Chromium, url: string, token: string, pages: [string, string][]): Promise<boolean> => {
  const browser = await chromium.open({ viewport: { width: 1440, height: HEIGHT } });
  await signIn(browser.page, url, token);
  let isLight = true;
  for (const [name, path] of pages) {
    const { page, fonts, shift, paintMs } = await costOf(browser.context, url + path);
    const most = HAS_LOG.test(name) ? MOST.log : MOST.page;
    const isGood = page <= most && fonts <= MOST.fonts && shift === 0;
    isLight &&= isGood;
    const figures = `${(page / KIB).toFixed(1)} KiB, fonts ${(fonts / KIB).toFixed(0)} KiB, shift ${shift.toFixed(4)}`;
    console.log(`${name.padEnd(18)} ${figures}, largest paint ${paintMs.toFixed()} ms${isGood ? "" : "  TOO MUCH"}`);
  }
  await browser.close();
  return isLight;
};

/** Takes pictures of every page at four widths in both themes. Prints axe's findings and the cost for each. */
export const drill = async ({ folder = "pictures" }: { folder?: string }): Promise<boolean> => {
  mkdirSync(folder, { recursive: true });
  const endBundle = await bundleAgent();
  const service = await startLocalService();
  const client = await service.newOrganization("acme");
  const organization = new PicturedOrganization(service, client);
  const chromium = await startChromium(service.url);
  try {
    await organization.fill();
    const pages = Object.entries(organization.pages);
    const isLight = await weigh(chromium, service.url, client.token, pages);
    const wrong = await takeAll(chromium, { url: service.url, token: client.token, folder }, pages);
    for (const one of wrong) console.log(one);
    return isLight && wrong.length === 0;
  } finally {
    await chromium.stop();
    await organization.stop();
    await service.remove();
    await endBundle?.();
  }
};
