import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RunningAgent, startAgent } from "../support/local/agent.ts";
import { TestGitHost } from "../support/local/git-host/git-host.ts";
import { startLocalService } from "../support/local/service.ts";
import { files } from "./git-hosts/files.ts";
import { otherHosts } from "./git-hosts/other-hosts.ts";
import { pushes } from "./git-hosts/pushes.ts";
import { refs } from "./git-hosts/refs.ts";
import type { Stage } from "./git-hosts/stage.ts";
import { troubles } from "./git-hosts/troubles.ts";

/* The service, real agents and real git, with git hosts on loopback. */

const stage = { projects: [] } as unknown as Stage;
const agents: RunningAgent[] = [];

beforeAll(async () => {
  stage.service = await startLocalService();
  const { folder } = stage.service;
  stage.client = await stage.service.newOrganization("acme");
  stage.host = await TestGitHost.start("github", folder);
  const { url, secrets } = stage.host;
  stage.connection = await stage.client.call("POST", "/connection", {
    ...{ kind: "github", name: "GitHub", webUrl: url, token: secrets.token },
  });
  const start = (name: string) => startAgent(stage.client, folder, name);
  agents.push(...(await Promise.all(["one", "two", "three"].map(start))));
});
afterAll(async () => {
  for (const project of stage.projects) project.letGo();
  await Promise.all(agents.map((agent) => agent.stop()));
  await stage.host?.close();
  await stage.service?.remove();
});
describe("a connected repository", () => {
  describe("of a GitHub", () => pushes(stage));
  describe("whose refs are moved or removed", () => refs(stage));
  // At the same time: their builds mostly wait for each other.
  describe.concurrent("with conditions in its file", () => files(stage));
  describe.concurrent("of another host", () => otherHosts(stage));
  describe("in bad times", () => troubles(stage));
});

it("asks a host only what its API describes, and one thing at a time", () => {
  const hosts = new Set(stage.projects.map(({ host }) => host));
  const requests = [...hosts].flatMap(({ api }) => api.requests);
  expect(requests.length).toBeGreaterThan(30);
  expect(requests.flatMap(({ problems }) => problems)).toEqual([]);
});
