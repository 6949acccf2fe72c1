import { expect, it } from "vitest";
import type { Role } from "../../src/protocol/token.ts";
import { countNow } from "../../src/queue/read/live.ts";
import { graphJob } from "./jobs/test-build.ts";
import { gate, newPlannedBuild, SHA, startNext } from "./planned-builds.ts";
import { ACTOR, TestPool } from "./test-pool.ts";

const nowOf = (pool: TestPool, role: Role) => countNow(pool.model.state, role);

it("the current counts have each active build once: running, waiting, or at a gate for those who may decide", () => {
  const pool = new TestPool();
  expect(nowOf(pool, "viewer")).toEqual({ running: 0, waiting: 0, forRole: 0 });
  const { buildId, agent } = newPlannedBuild(pool, [graphJob("deploy", { gate })]);
  expect(nowOf(pool, "member")).toEqual({ running: 0, waiting: 1, forRole: 0 });
  expect(nowOf(pool, "maintainer")).toEqual({ running: 0, waiting: 0, forRole: 1 });
  pool.build();
  pool.build();
  expect(nowOf(pool, "admin")).toEqual({ running: 0, waiting: 2, forRole: 1 });
  agent.claimAndStart();
  expect(nowOf(pool, "admin")).toEqual({ running: 1, waiting: 1, forRole: 1 });
  const answer = { approved: false, comment: null, role: "maintainer" as const, name: "Ada", actor: ACTOR };
  pool.ok("decideGate", { id: buildId, ...answer });
  expect(nowOf(pool, "admin")).toEqual({ running: 1, waiting: 1, forRole: 0 });
});

it("the current counts have a build with planned jobs once, however many of them run", () => {
  const pool = new TestPool();
  const { agent } = newPlannedBuild(pool, [graphJob("lint"), graphJob("test"), graphJob("later", { needs: ["test"] })]);
  expect(nowOf(pool, "admin")).toEqual({ running: 0, waiting: 1, forRole: 0 });
  startNext(agent);
  startNext(pool.agent());
  expect(nowOf(pool, "admin")).toEqual({ running: 1, waiting: 0, forRole: 0 });
});

it("the current counts have a stranger's commit for those who may approve it", () => {
  const pool = new TestPool();
  pool.build({ trust: "untrusted", needsApproval: true, commitSha: SHA, branch: "refs/pull/7/head" });
  expect(nowOf(pool, "viewer")).toEqual({ running: 0, waiting: 1, forRole: 0 });
  expect(nowOf(pool, "member")).toEqual({ running: 0, waiting: 0, forRole: 1 });
});
