import { describe, expect, it } from "vitest";
import type { GraphJob, JobGraph } from "../../../src/domain/jobs/graph.ts";
import type { Feature } from "../../../src/protocol/jobs.ts";
import { graphJob, graphOf } from "../jobs/test-build.ts";
import { ACTOR, type TestAgent, TestPool } from "./test-pool.ts";

const FEATURES: Feature[] = ["environment", "jobs"];
const SHA = "a".repeat(40);

/** The graph of a build, with ids of jobs that are unique in the pool. */
const graph = (buildId: string, jobs: GraphJob[], words: Partial<JobGraph> = {}): JobGraph =>
  graphOf(
    jobs.map((job) => ({ ...job, id: `${buildId}/${job.key}` })),
    { hash: "text", commitSha: SHA, ...words },
  );

const claim = (agent: TestAgent) =>
  agent.pool.ok("claim", { ...agent.credentials, bootId: agent.bootId, features: FEATURES });

/** Claims the next build or job and starts it. */
const take = (agent: TestAgent) => {
  const grant = claim(agent);
  if (!grant) throw new Error("there is nothing that this agent may have");
  agent.pool.ok("start", agent.holder(grant));
  return agent.holder(grant);
};

/** A build whose agent has planned these jobs. */
const planned = (pool: TestPool, jobs: GraphJob[], words: Partial<JobGraph> = {}) => {
  const buildId = pool.build();
  const agent = pool.agent();
  const root = take(agent);
  const request = { ...root, graph: graph(buildId, jobs, words), text: "text", base: null };
  pool.ok("plan", request);
  return { buildId, agent, root, request };
};

const succeed = (pool: TestPool, holder: ReturnType<typeof take>, outputs?: Record<string, string>) =>
  pool.ok("finish", { ...holder, status: "succeeded", exitCode: 0, ...(outputs && { outputs }) });

describe("a build of several jobs", () => {
  it("runs its jobs in the order of their needs, and ends with the last", () => {
    const pool = new TestPool();
    const { buildId, agent, root } = planned(pool, [graphJob("build"), graphJob("test", { needs: ["build"] })]);
    expect(pool.refusal("finish", { ...root, status: "succeeded" })).toBe("lease-lost");
    const build = take(agent);
    expect(build.buildId).toBe(`${buildId}/build`);
    expect(claim(pool.agent())).toBeNull();
    expect(pool.status(buildId)).toBe("running");
    succeed(pool, build);
    const test = take(agent);
    expect(test.buildId).toBe(`${buildId}/test`);
    expect(pool.status(buildId)).toBe("running");
    succeed(pool, test);
    expect(pool.facts(buildId)).toMatchObject({ status: "succeeded", commitSha: SHA });
    expect([pool.model.state.builds.size, pool.model.state.graphs.size, pool.model.state.index.openJobs]).toEqual([
      0, 0, 0,
    ]);
  });

  it("is planned once: the same text again gets the same answer, all else is refused", () => {
    const pool = new TestPool();
    const { request, buildId } = planned(pool, [graphJob("a"), graphJob("b", { needs: ["a"] })]);
    const jobs = ["a", "b"].map((key) => ({ id: `${buildId}/${key}`, key }));
    expect(pool.ok("plan", { ...request, graph: graph(buildId, []) })).toEqual({ jobs });
    expect(pool.refusal("plan", { ...request, graph: graph(buildId, [], { hash: "other" }) })).toBe("conflict");
    expect(pool.refusal("plan", { ...request, fence: request.fence - 1 })).toBe("lease-lost");
    const other = pool.agent();
    expect(pool.refusal("plan", { ...request, ...other.credentials })).toBe("lease-lost");
    pool.ok("cancel", { buildId, actor: ACTOR });
    expect(pool.status(buildId)).toBe("canceled");
    expect(pool.refusal("plan", request)).toBe("lease-lost");
  });

  it("gives its jobs only to agents whose programs run them", () => {
    const pool = new TestPool();
    const { buildId } = planned(pool, [graphJob("a")]);
    const old = pool.agent();
    expect(old.claimId()).toBeNull();
    expect(claim(pool.agent())?.buildId).toBe(`${buildId}/a`);
  });

  it("goes on after an eviction in each state", () => {
    const pool = new TestPool();
    const { buildId, agent } = planned(pool, [graphJob("a"), graphJob("b", { needs: ["a"] })]);
    const reload = () => {
      pool.model.reload(pool.now);
      pool.ok("compare", { found: { sequence: 0, complete: 0 } });
    };
    reload();
    const first = take(agent);
    reload();
    succeed(pool, first, { list: "1" });
    reload();
    const second = claim(agent)!;
    reload();
    pool.ok("start", agent.holder(second));
    succeed(pool, agent.holder(second));
    expect(pool.status(buildId)).toBe("succeeded");
    expect(pool.model.storage.outputs(`${buildId}/a`)).toEqual({ list: "1" });
  });

  it("asks at a gate, and takes one decision of somebody who may", () => {
    const pool = new TestPool();
    const gate = { message: "Go?", by: "maintainer", timeoutHours: 1, hostStatus: "success" } as const;
    const { buildId, agent } = planned(pool, [graphJob("deploy", { gate })]);
    expect(claim(agent)).toBeNull();
    const request = {
      id: buildId,
      approved: true,
      comment: null,
      role: "maintainer" as const,
      name: "Ada",
      actor: ACTOR,
    };
    expect(pool.refusal("decideGate", { ...request, role: "member" })).toBe("forbidden");
    pool.ok("decideGate", request);
    expect(pool.ok("decideGate", { ...request, id: `${buildId}/deploy` })).toBe(buildId);
    expect(pool.refusal("decideGate", { ...request, id: `${buildId}/deploy`, approved: false })).toBe("conflict");
    succeed(pool, take(agent));
    expect(pool.status(buildId)).toBe("succeeded");
  });

  it("fails where nobody answers its gate in time", () => {
    const pool = new TestPool();
    const gate = { message: null, by: "member", timeoutHours: 1, hostStatus: "success" } as const;
    const { buildId } = planned(pool, [graphJob("deploy", { gate })]);
    pool.advance(3_599);
    expect(pool.status(buildId)).toBe("queued");
    pool.advance(1);
    expect(pool.facts(buildId)).toMatchObject({ status: "failed", reason: "gate-closed" });
  });

  it("is canceled as a whole: leased jobs stop, others end", () => {
    const pool = new TestPool();
    const { buildId, agent } = planned(pool, [graphJob("a"), graphJob("b"), graphJob("c", { needs: ["a"] })]);
    const a = take(agent);
    pool.ok("cancel", { buildId, actor: ACTOR });
    expect(pool.status(buildId)).toBe("canceling");
    expect(claim(pool.agent())).toBeNull();
    expect(pool.ok("heartbeat", { ...agent.credentials, bootId: agent.bootId, ...a })).toMatchObject({ cancel: true });
    pool.ok("finish", { ...a, status: "canceled" });
    expect(pool.facts(buildId)).toMatchObject({ status: "canceled", reason: "canceled" });
  });

  it("holds its limits: max-parallel, the pipeline's builds, and a concurrency group", () => {
    const pool = new TestPool();
    const agents = [1, 2, 3].map(() => pool.agent());
    const matrix = ["1", "2"].map((key) => ({ ...graphJob("m", { maxParallel: 1 }), key: `m ${key}` }));
    const { buildId } = planned(pool, matrix);
    const first = take(agents[0]!);
    expect(claim(agents[1]!)).toBeNull();
    succeed(pool, first);
    expect(claim(agents[1]!)?.buildId).toBe(`${buildId}/m 2`);
  });
});
