import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { BrowserContext, Page } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const DESK = { width: 1280, height: 800 };
const PHONE = { width: 360, height: 740 };

type Violation = { id: string; nodes: { html: string; failureSummary: string }[] };

/** Installs axe on all pages that open from now on. Sending it to each page takes longer than most of its rules. */
export const bringAxe = (context: BrowserContext): Promise<unknown> => context.addInitScript(AXE);

const findings = async (page: Page, options: object): Promise<string[]> => {
  if (await page.evaluate("!globalThis.axe")) await page.evaluate(AXE);
  const asked = { ...options, resultTypes: ["violations"] };
  const run = `axe.run(${JSON.stringify(asked)}).then((result) => result.violations)`;
  const violations = (await page.evaluate(run)) as Violation[];
  return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html} ${nodes[0]?.failureSummary}`);
};

/** Returns axe's findings on the current page. */
export const axeFindings = (page: Page): Promise<string[]> => findings(page, {});

/**
 * Returns axe's violations in light mode, for contrast in dark mode, and on a phone, and reports a page that is too
 * wide for it.
 */
export const judge = async (page: Page): Promise<string[]> => {
  const found = await findings(page, {});
  await page.emulateMedia({ colorScheme: "dark" });
  found.push(...(await findings(page, { runOnly: ["color-contrast"] })).map((finding) => `dark: ${finding}`));
  await page.setViewportSize(PHONE);
  const width = await page.evaluate("document.documentElement.scrollWidth");
  if (Number(width) > PHONE.width) found.push(`${width} pixels wide`);
  found.push(...(await findings(page, {})).map((finding) => `phone: ${finding}`));
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize(DESK);
  return found;
};
