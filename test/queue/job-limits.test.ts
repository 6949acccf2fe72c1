import { describe, expect, it } from "vitest";
import { LIMITS } from "../../src/protocol/limits.ts";
import { explainBuild, explainJob } from "../../src/queue/read/explain-jobs.ts";
import { toHostReport } from "../../src/queue/state/host-state.ts";
import { graphJob } from "./jobs/test-build.ts";
import { gate, newGraph, newPlannedBuild, startNext, succeed } from "./planned-builds.ts";
import { TestPool } from "./test-pool.ts";

describe("the queue", () => {
  it("counts jobs: a build fails if there is no room for its jobs", () => {
    const pool = new TestPool();
    const buildId = pool.build();
    const holder = startNext(pool.agent());
    pool.model.context.maxQueued = 1;
    const jobs = [graphJob("a"), graphJob("b", { needs: ["a"] })];
    const request = { ...holder, graph: newGraph(buildId, jobs), text: "text", base: null };
    expect(pool.refusal("plan", request)).toBe("limit-reached");
    expect(pool.facts(buildId)).toMatchObject({ status: "failed", reason: "queue-full" });
    const text = { graph: newGraph("p", jobs), text: "text", adopted: {} };
    expect(pool.refusal("enqueue", pool.newBuild({ planned: text }))).toBe("limit-reached");
  });
});

/** Creates a pool without the simulation's laws, which do not know results that depend on a job's own outputs. */
const withoutLaws = (): TestPool => {
  const pool = new TestPool();
  const nothing = () => {};
  Object.assign(pool.model.checker, { beforeCall: nothing, onCommit: nothing, afterCall: nothing });
  return pool;
};

describe("the outputs of a job", () => {
  it("fail it if they are too large, and the message names the largest", () => {
    const pool = withoutLaws();
    const { buildId, agent } = newPlannedBuild(pool, [graphJob("a")]);
    succeed(pool, startNext(agent), { small: "1", list: "x".repeat(LIMITS.outputBytes) });
    expect(pool.facts(buildId)).toMatchObject({ status: "failed", reason: "output-refused" });
    expect(pool.message(`${buildId}/a`)).toBe("Its outputs are larger than 64 KiB; the largest is list.");
    expect(pool.model.storage.outputs(`${buildId}/a`)).toEqual({});
  });

  it("fail it if the build's outputs are too large together", () => {
    const pool = withoutLaws();
    const keys = Array.from({ length: 17 }, (_, index) => `j${index}`);
    const { buildId, agent } = newPlannedBuild(
      pool,
      keys.map((key) => graphJob(key)),
    );
    const value = "x".repeat(LIMITS.outputBytes - 1);
    for (const _ of keys) succeed(pool, startNext(agent), { a: value });
    expect(pool.facts(buildId)).toMatchObject({ status: "failed", reason: "output-refused" });
    expect(pool.message(`${buildId}/j16`)).toContain("the build's outputs would be larger than 1 MiB");
  });
});

describe("explain", () => {
  it("says what a job and its build wait for", () => {
    const pool = new TestPool();
    const { buildId, agent } = newPlannedBuild(pool, [graphJob("a"), graphJob("b", { needs: ["a"], gate })]);
    const job = (key: string) =>
      explainJob(pool.model.state, pool.job(`${buildId}/${key}`), pool.model.context, () => 0);
    const build = () => {
      const { state, context } = pool.model;
      return explainBuild(state, state.builds.get(buildId)!, context, () => 0);
    };
    const old = pool.agent();
    expect(job("a")).toMatchObject({ status: "queued", code: "next" });
    expect(job("a").agents.find(({ agentId }) => agentId === old.id)).toMatchObject({ codes: ["too-old"] });
    expect(build()).toMatchObject({ buildId, code: "next" });
    expect(job("b")).toMatchObject({ status: "waiting", code: "needs", message: "It waits for a to end." });
    const a = startNext(agent);
    expect(build()).toMatchObject({ code: "running", message: "1 of its 2 jobs run, and 0 have ended." });
    succeed(pool, a);
    expect(job("a")).toMatchObject({ status: "succeeded", code: "ended" });
    expect(job("b")).toMatchObject({ code: "gate", message: "A person with the role maintainer must approve it." });
    expect(build()).toMatchObject({ status: "running", code: "gate", message: "b waits for approval." });
  });
});

describe("a git host", () => {
  it("gets success while the build waits only for people, and then the end", () => {
    const pool = new TestPool();
    const host = { connectionId: "c", repoId: 1, fullName: "a/b", context: "ci", origin: null, ref: "main" } as const;
    const { buildId } = newPlannedBuild(pool, [graphJob("deploy", { gate, hasSteps: false })], { host });
    const told = () => {
      return toHostReport(pool.model.storage.rows.builds.get(buildId)!, []);
    };
    expect(told()).toMatchObject({ state: "success", description: "deploy waits for approval" });
    pool.advance(3_600);
    expect(told()).toMatchObject({ state: "failure" });
  });
});
