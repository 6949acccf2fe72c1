import { expect, it } from "vitest";
import type { Requires } from "../../../src/protocol/pipeline.ts";
import { TestPool } from "./test-pool.ts";

const MAC = { platform: 1, canBuildIOS: true, canBuildWeb: true, labels: ["xcode=16", "arm64"] };
const LINUX = { platform: 2, canBuildAndroid: true, canBuildWeb: true, labels: ["docker", "gpu"] };
const BARE = { platform: 0, labels: [] };

const CASES: [requires: Requires, fit: ("mac" | "linux" | "bare")[]][] = [
  [{}, ["mac", "linux", "bare"]],
  [{ platform: null, ios: null, labels: [] }, ["mac", "linux", "bare"]],
  [{ platform: "macos" }, ["mac"]],
  [{ platform: "linux" }, ["linux"]],
  [{ platform: "windows" }, []],
  [{ ios: true }, ["mac"]],
  [{ android: true }, ["linux"]],
  [{ web: true }, ["mac", "linux"]],
  [{ ios: false, web: true }, ["mac", "linux"]],
  [{ ios: true, android: true }, []],
  [{ labels: ["docker"] }, ["linux"]],
  [{ labels: ["docker", "gpu"] }, ["linux"]],
  [{ labels: ["docker", "arm64"] }, []],
  [{ labels: ["xcode=16"], platform: "macos", ios: true }, ["mac"]],
  [{ labels: ["xcode=15"] }, []],
  [{ labels: ["Docker"] }, []],
];

it.each(CASES)("requirements %j are met by %j", (requires, fit) => {
  for (const [name, skills] of Object.entries({ mac: MAC, linux: LINUX, bare: BARE })) {
    const pool = new TestPool();
    const build = pool.build({ requires });
    expect(pool.agent(skills).claimId(), name).toBe(fit.includes(name as "mac") ? build : null);
  }
});

it("uses the labels of an agent as they were last changed", () => {
  const pool = new TestPool();
  const build = pool.build({ requires: { labels: ["gpu"] } });
  const agent = pool.agent(BARE);
  expect(agent.claimId()).toBeNull();
  pool.ok("updateAgent", { agentId: agent.id, change: { labels: ["gpu"] }, actor: { actor: "x", requestId: null } });
  expect(agent.claimId()).toBe(build);
});
