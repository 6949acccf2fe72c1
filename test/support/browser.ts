import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BrowserContext, type BrowserContextOptions, chromium, type Page } from "playwright-core";

const FLAGS = [
  ...["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"],
  ...["--disable-component-update", "--disable-sync"],
];

export interface Browser {
  context: BrowserContext;
  page: Page;
  /** What the pages broke of their policy, threw, or asked of any other host. */
  complaints: string[];
  close(): Promise<void>;
}

/** Debian's Chromium with an empty profile, watched for whatever a page should never do. */
export const openBrowser = async (service: string, options: BrowserContextOptions = {}): Promise<Browser> => {
  const profile = mkdtempSync(join(tmpdir(), "millrace-chromium-"));
  const context = await chromium.launchPersistentContext(profile, {
    ...{ executablePath: "/usr/bin/chromium", headless: true, args: FLAGS, ...options },
  });
  const complaints: string[] = [];
  context.on("request", (request) => {
    if (!request.url().startsWith(service)) complaints.push(`asked for ${request.url()}`);
  });
  context.on("weberror", (error) => complaints.push(`threw ${error.error().stack}`));
  context.on("console", (message) => {
    if (/Content Security Policy|Refused to|TrustedHTML/.test(message.text())) complaints.push(message.text());
  });
  context.on("dialog", (dialog) => {
    complaints.push(`opened a dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  return {
    ...{ context, page: context.pages()[0] ?? (await context.newPage()), complaints },
    async close() {
      await context.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
};

/** Signs in as a person does. */
export const signIn = async (page: Page, service: string, token: string): Promise<void> => {
  await page.goto(`${service}/app/sign-in`);
  await page.getByLabel("API token").fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL(`${service}/app/builds`);
};
