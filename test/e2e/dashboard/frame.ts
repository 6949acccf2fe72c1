import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { signIn } from "../../support/browser.ts";
import { crawl, type Stage } from "./stage.ts";

const MOST_BYTES = 70 * 1024;
const MOST_BYTES_OF_LOGS = 90 * 1024;
const MOST_FONT_BYTES = 130 * 1024;

const SHIFTS = `new Promise((resolve) => {
  let moved = 0;
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) moved += value;
  }).observe({ type: "layout-shift", buffered: true });
  document.fonts.ready.then(() => requestAnimationFrame(() => requestAnimationFrame(() => resolve(moved))));
})`;

const fontsOf = (source: string): string[] =>
  [...source.matchAll(/href="(\/app\/static\/[^"]+\.woff2)"/g)].map(([, path = ""]) => path);

export const frame = (stage: Stage) => {
  it("shifts no layout when fonts load late, and the check detects a shift", async () => {
    const { service, client, chromium } = stage;
    const person = await chromium.open();
    const { page } = person;
    await signIn(page, service.url, client.token);
    let release: () => void = () => undefined;
    const late = new Promise<void>((resolve) => {
      release = resolve;
    });
    await person.context.route("**/*.woff2", async (route) => {
      await late;
      await route.continue().catch(() => undefined);
    });
    await page.goto(`${service.url}/app/repositories`, { waitUntil: "domcontentloaded" });
    await page.getByRole("heading", { name: "Repositories" }).waitFor();
    release();
    expect(await page.evaluate(SHIFTS)).toBe(0);
    await page.evaluate(`document.querySelector("main").prepend(document.createElement("h1"));
      document.querySelector("main h1").textContent = "in the way"`);
    expect(await page.evaluate(SHIFTS)).toBeGreaterThan(0);
    await person.close();
  });

  it("loads few bytes for each page, and the fonts once", async () => {
    const { service, browser } = stage;
    const { page } = browser;
    const size = async (path: string): Promise<number> =>
      gzipSync(await (await page.request.get(service.url + path)).body()).length;
    const sizes = new Map<string, number>();
    const heavy: string[] = [];
    const fonts = new Set<string>();
    for (const [path, source] of await crawl(page, service.url, 1)) {
      for (const font of fontsOf(source)) fonts.add(font);
      let bytes = gzipSync(source).length;
      for (const [, file = ""] of source.matchAll(/(?:src|href)="(\/app\/static\/[^"]+\.(?:js|css))"/g)) {
        if (!sizes.has(file)) sizes.set(file, await size(file));
        bytes += sizes.get(file) ?? 0;
      }
      const most = /^\/app\/(builds|jobs)\//.test(path) ? MOST_BYTES_OF_LOGS : MOST_BYTES;
      if (bytes > most) heavy.push(`${path}: ${bytes}`);
    }
    expect(heavy).toEqual([]);
    expect(fonts.size).toBe(2);
    let bytesOfFonts = 0;
    for (const font of fonts) {
      const answer = await page.request.get(service.url + font);
      expect(answer.headers()["cache-control"]).toBe("public, max-age=31536000, immutable");
      bytesOfFonts += (await answer.body()).length;
    }
    expect(bytesOfFonts).toBeLessThan(MOST_FONT_BYTES);
  });

  it("switches the theme by a form, also without a script, and paints the choice", async () => {
    const { service, client, chromium } = stage;
    const groundOf = (page: Page) => page.evaluate("getComputedStyle(document.body).backgroundColor");
    for (const javaScriptEnabled of [true, false]) {
      const person = await chromium.open({ javaScriptEnabled, colorScheme: "light" });
      const { page } = person;
      await signIn(page, service.url, client.token);
      const before = await groundOf(page);
      await page.getByRole("button", { name: "Account" }).click();
      await page.getByRole("button", { name: "dark" }).click();
      await page.locator('html[data-theme="dark"]').waitFor();
      expect(await groundOf(page)).not.toBe(before);
      await page.getByRole("button", { name: "Account" }).click();
      await page.getByRole("button", { name: "system" }).click();
      await page.locator("html:not([data-theme])").waitFor();
      expect(await groundOf(page)).toBe(before);
      expect(person.complaints).toEqual([]);
      await person.close();
    }
  });

  it("links to all pages on a desktop, a tablet and a phone", async () => {
    const { service, browser } = stage;
    const { page } = browser;
    for (const width of [1440, 768, 360]) {
      await page.setViewportSize({ width, height: 800 });
      await page.goto(`${service.url}/app/builds`);
      for (const [name, path] of [
        ["Fleet", "agents"],
        ["Pipelines", "repositories"],
        ["Variables", "variables"],
        ["Settings", "tokens"],
      ] as const) {
        await page.locator(".rail").getByRole("link", { name }).click();
        await page.waitForURL(`${service.url}/app/${path}`);
        await page.locator(".rail a[aria-current=page]").waitFor();
      }
    }
    await page.setViewportSize({ width: 1280, height: 720 });
  });
};
