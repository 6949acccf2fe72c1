import { type BrowserContext, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { findChromium } from "./find-chromium.ts";

const FLAGS = [
  ...["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"],
  ...["--disable-component-update", "--disable-sync"],
];

/** A machine that is busy with other tests takes its time. */
const PATIENCE_MS = 60_000;

/** One person's browser: cookies and pages of its own. */
export interface Browser {
  context: BrowserContext;
  page: Page;
  /** What the pages broke of their policy, threw, or asked of any other host. */
  complaints: string[];
  close(): Promise<void>;
}

/** Chromium with an empty profile, for any number of people. */
export const startChromium = async (service: string) => {
  const { executablePath, env } = findChromium();
  const process = await chromium.launch({
    executablePath,
    env: { ...globalThis.process.env, ...env },
    headless: true,
    args: FLAGS,
  });
  const open = async (options: BrowserContextOptions = {}): Promise<Browser> => {
    const context = await process.newContext(options);
    context.setDefaultTimeout(PATIENCE_MS);
    const complaints: string[] = [];
    watch(context, service, complaints);
    return { context, complaints, page: await context.newPage(), close: () => context.close() };
  };
  return { open, stop: () => process.close() };
};

export type Chromium = Awaited<ReturnType<typeof startChromium>>;

/** Notes whatever a page should never do. */
const watch = (context: BrowserContext, service: string, complaints: string[]): void => {
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
};

/** Signs in as a person does. */
export const signIn = async (page: Page, service: string, token: string): Promise<void> => {
  await page.goto(`${service}/app/sign-in`);
  await page.getByLabel("API token").fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL(`${service}/app/builds`);
};
