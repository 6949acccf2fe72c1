import { expect, it } from "vitest";
import type { Requires } from "../../src/protocol/pipeline.ts";
import { explainJob } from "../../src/queue/read/explain-jobs.ts";
import { graphJob } from "./jobs/test-build.ts";
import { claimNext, newGraph, startNext } from "./planned-builds.ts";
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

it.each(CASES)("the requirements %j are met by %j", (requires, fit) => {
  for (const [name, skills] of Object.entries({ mac: MAC, linux: LINUX, bare: BARE })) {
    const pool = new TestPool();
    const build = pool.build({ requires });
    expect(pool.agent(skills).claimId(), name).toBe(fit.includes(name as "mac") ? build : null);
  }
});

it("matching uses an agent's labels as last changed", () => {
  const pool = new TestPool();
  const build = pool.build({ requires: { labels: ["gpu"] } });
  const agent = pool.agent(BARE);
  expect(agent.claimId()).toBeNull();
  pool.ok("updateAgent", { agentId: agent.id, change: { labels: ["gpu"] }, actor: { actor: "x", requestId: null } });
  expect(agent.claimId()).toBe(build);
});

it("matching gives jobs to agents that support their file's features, and explains this to the others", () => {
  const pool = new TestPool();
  const buildId = pool.build();
  const agent = pool.agent();
  const jobs = newGraph(buildId, [graphJob("test")], { features: ["include", "tools"] });
  pool.ok("plan", { ...startNext(agent), graph: jobs, text: "text", base: null });
  expect(claimNext(agent)).toBeNull();
  const { state, context } = pool.model;
  const [group] = explainJob(state, pool.job(`${buildId}/test`), context, () => 0).groups ?? [];
  expect(group).toMatchObject({
    codes: ["too-old"],
    message: expect.stringContaining("too old for include, tools in the file"),
  });
  const able = pool.agent();
  const features = ["environment" as const, "jobs" as const, "include" as const, "tools" as const];
  const granted = pool.ok("claim", { ...able.credentials, bootId: able.bootId, features });
  expect(granted?.jobId).toBe(`${buildId}/test`);
});

it("matching uses the Xcodes that an agent last reported, and no label instead", () => {
  const pool = new TestPool();
  const labelled = pool.build({ requires: { labels: ["xcode=16"] } });
  const build = pool.build({ requires: { xcode: "16" } });
  const mac = pool.agent(MAC);
  expect(mac.claimId()).toBe(labelled);
  const [bare, told] = [pool.agent(BARE), pool.agent(BARE)];
  expect(bare.claimId()).toBeNull();
  const claim = { ...told.credentials, bootId: told.bootId, xcodes: ["26.1", "16.4"] };
  expect(pool.ok("claim", claim)?.jobId).toBe(build);
});
