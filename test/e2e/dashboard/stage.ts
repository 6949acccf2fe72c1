import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, onTestFinished } from "vitest";
import type { Client } from "../../../src/local/client.ts";
import type { Build } from "../../../src/protocol/build.ts";
import { type Browser, type Chromium, signIn, startChromium } from "../../support/browser.ts";
import { type RunningAgent, startAgent } from "../../support/local/agent.ts";
import { connectRepository, makeRepository } from "../../support/local/git-repository.ts";
import { type LocalService, startLocalService } from "../../support/local/service.ts";

/** Shared by all tests in a file: a service, an organization with an agent, and a browser signed in as its admin. */
export interface Stage {
  service: LocalService;
  client: Client;
  chromium: Chromium;
  browser: Browser;
}

/** Sets the stage before a file's tests, and clears it after them. No test may leave complaints. */
export const setStage = (): Stage => {
  const stage = {} as Stage;
  let agent: RunningAgent;
  beforeAll(async () => {
    stage.service = await startLocalService();
    stage.client = await stage.service.newOrganization("acme");
    const { client, service } = stage;
    [agent, stage.chromium] = await Promise.all([
      startAgent(client, service.folder, "one"),
      startChromium(service.url),
    ]);
    stage.browser = await stage.chromium.open();
    await signIn(stage.browser.page, service.url, client.token);
  });
  afterAll(async () => {
    await Promise.all([stage.chromium?.stop(), agent?.stop()]);
    await stage.service?.remove();
  });
  afterEach(() => {
    expect(stage.browser.complaints.splice(0)).toEqual([]);
  });
  return stage;
};

/** Connects a repository with this pipeline file. */
export const repositoryWith = ({ service, client }: Stage, file: string) =>
  connectRepository(client, makeRepository(service.folder, { ".millrace.yml": file }));

export const runBuild = ({ client }: Stage, repoId: string): Promise<Build> =>
  client.call("POST", `/repository/${repoId}/build`, { branch: "main" });

/** Returns the path to a file that a step waits for. The file appears by the end of the test, to free the agent. */
export const makeGate = ({ service }: Stage): string => {
  const gate = join(service.folder, `gate-${crypto.randomUUID()}`);
  onTestFinished(() => writeFileSync(gate, ""));
  return gate;
};

/**
 * Returns a page's path without its ids and query, equal for all pages of one kind. Keeps the tab of a build's page.
 */
const kindOf = (path: string): string => path.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "ID").replace(/\?(?!tab=).*/, "");

/**
 * Follows links from `start`. Returns each page's address, and its source as the server sent it.
 * @param most maximum pages of one kind
 */
export const crawl = async (page: Page, service: string, most = Number.POSITIVE_INFINITY, start = "/app/builds") => {
  const sources = new Map<string, string>();
  const seen = new Map<string, number>();
  const open = [start];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const kind = kindOf(path);
    const count = seen.get(kind) ?? 0;
    if (sources.has(path) || count >= most || /\/log(?:\?|$)|\/zip$|\/content\/|^\/app\/static/.test(path)) continue;
    seen.set(kind, count + 1);
    const source = await (await page.request.get(service + path)).text();
    sources.set(path, source);
    for (const [, link = ""] of source.matchAll(/href="(\/app\/[^"#]*)(?:#[^"]*)?"/g))
      open.push(link.replaceAll("&amp;", "&"));
  }
  return sources;
};
