import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const DESK = { width: 1280, height: 800 };
const PHONE = { width: 360, height: 740 };

type Violation = { id: string; nodes: { html: string; failureSummary: string }[] };

const findings = async (page: Page, options: object): Promise<string[]> => {
  const run = `axe.run(${JSON.stringify(options)}).then((result) => result.violations)`;
  const violations = (await page.evaluate(run)) as Violation[];
  return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html} ${nodes[0]?.failureSummary}`);
};

/** What axe objects to in a page as it is shown. */
export const axeFindings = async (page: Page): Promise<string[]> => {
  await page.evaluate(AXE);
  return findings(page, {});
};

/** Violations that axe finds in light mode, of contrast in dark mode, on a phone, and whether the page is too wide for it. */
export const judge = async (page: Page): Promise<string[]> => {
  // Else axe may see a colour on its way from light to dark.
  await page.emulateMedia({ reducedMotion: "reduce" });
  await page.evaluate(AXE);
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
