import { type BrowserContext, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { findChromium } from "./find-chromium.ts";

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Long, because other tests may use the machine at the same time. */
const PATIENCE_MS = 60_000;

/** The browser of one person, with its own cookies and pages. */
export interface Browser {
  context: BrowserContext;
  page: Page;
  /** Violations of the pages' security policy, errors, and requests to other hosts. */
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
  // The processor draws moving parts of a page many times a second.
  const open = async (options: BrowserContextOptions = {}): Promise<Browser> => {
    const context = await process.newContext({ reducedMotion: "reduce", ...options });
    context.setDefaultTimeout(PATIENCE_MS);
    const complaints: string[] = [];
    watch(context, service, complaints);
    return { context, complaints, page: await context.newPage(), close: () => context.close() };
  };
  return { open, stop: () => process.close() };
};

export type Chromium = Awaited<ReturnType<typeof startChromium>>;

/** Collects events that a page must never cause. */
const watch = (context: BrowserContext, service: string, complaints: string[]): void => {
  context.on("request", (request) => {
    if (!request.url().startsWith(service)) complaints.push(`requested ${request.url()}`);
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
  await page.waitForURL(`${service}/app`);
};
