import { afterAll, afterEach, beforeAll, describe, expect } from "vitest";
import { signIn, startChromium } from "../support/browser.ts";
import { type RunningAgent, startAgent } from "../support/local/agent.ts";
import { startLocalService } from "../support/local/service.ts";
import { accessibility } from "./dashboard/accessibility.ts";
import { attention } from "./dashboard/attention.ts";
import { builds } from "./dashboard/builds.ts";
import { connections } from "./dashboard/connections.ts";
import { firstBuild } from "./dashboard/first-build.ts";
import { firstHour } from "./dashboard/first-hour.ts";
import { fleet } from "./dashboard/fleet.ts";
import { forgery } from "./dashboard/forgery.ts";
import { frame } from "./dashboard/frame.ts";
import { githubApp } from "./dashboard/github-app.ts";
import { hostile } from "./dashboard/hostile.ts";
import { jobs } from "./dashboard/jobs.ts";
import { layout } from "./dashboard/layout.ts";
import { lists } from "./dashboard/lists.ts";
import { log } from "./dashboard/log.ts";
import { logGroups } from "./dashboard/log-groups.ts";
import { palette } from "./dashboard/palette.ts";
import { secrets } from "./dashboard/secrets.ts";
import { session } from "./dashboard/session.ts";
import { signInLink } from "./dashboard/sign-in-link.ts";
import type { Stage } from "./dashboard/stage.ts";
import { wideLog } from "./dashboard/wide-log.ts";
import { withoutScript } from "./dashboard/without-script.ts";

const stage = {} as Stage;
let agent: RunningAgent;

beforeAll(async () => {
  stage.service = await startLocalService();
  stage.client = await stage.service.newOrganization("acme");
  agent = await startAgent(stage.client, stage.service.folder, "one");
  stage.chromium = await startChromium(stage.service.url);
  stage.browser = await stage.chromium.open();
  await signIn(stage.browser.page, stage.service.url, stage.client.token);
});
afterAll(async () => {
  await stage.chromium?.stop();
  await agent?.stop();
  await stage.service?.remove();
});
afterEach(() => {
  expect(stage.browser.complaints.splice(0)).toEqual([]);
});

describe("the dashboard", () => {
  describe("for a new organization", () => firstBuild(stage));
  describe("for its first hour", () => firstHour(stage));
  describe("of builds", () => builds(stage));
  describe("of builds of several jobs", () => jobs(stage));
  describe("of a log", () => log(stage));
  describe("of a log with groups", () => logGroups(stage));
  describe("of a log with wide lines", () => wideLog(stage));
  describe("of lists and forms", () => lists(stage));
  describe("of the frame", () => frame(stage));
  describe("of the palette", () => palette(stage));
  describe("of what asks for attention", () => attention(stage));
  describe("of many agents", () => fleet(stage));
  describe("of connections", () => connections(stage));
  describe("of a GitHub App", () => githubApp(stage));
  describe("with secrets", () => secrets(stage));
  describe("for who is signed in", () => session(stage));
  describe("by the local link", () => signInLink(stage));
  describe("under forged requests", () => forgery(stage));
  describe("without a script", () => withoutScript(stage));
  describe("for everyone", () => accessibility(stage));
  describe("with long names", () => layout(stage));
  describe("under hostile text", () => hostile(stage));
});
