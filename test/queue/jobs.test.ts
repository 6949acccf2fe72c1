import { describe, expect, it } from "vitest";
import { graphJob } from "./jobs/test-build.ts";
import { claimNext, gate, newGraph, newPlannedBuild, SHA, startNext, succeed } from "./planned-builds.ts";
import { ACTOR, TestPool } from "./test-pool.ts";

describe("a build with planned jobs", () => {
  it("runs its jobs in the order of their needs, and ends with the last one", () => {
    const pool = new TestPool();
    const { buildId, agent, first } = newPlannedBuild(pool, [
      graphJob("build"),
      graphJob("test", { needs: ["build"] }),
    ]);
    expect(pool.refusal("finish", { ...first, status: "succeeded" })).toBe("lease-lost");
    const build = startNext(agent);
    expect(build.jobId).toBe(`${buildId}/build`);
    expect(claimNext(pool.agent())).toBeNull();
    expect(pool.status(buildId)).toBe("running");
    succeed(pool, build);
    const test = startNext(agent);
    expect(test.jobId).toBe(`${buildId}/test`);
    expect(pool.status(buildId)).toBe("running");
    succeed(pool, test);
    expect(pool.facts(buildId)).toMatchObject({ status: "succeeded", commitSha: SHA });
    expect([pool.model.state.builds.size, pool.model.state.graphs.size, pool.model.state.index.waitingJobs]).toEqual([
      0, 0, 0,
    ]);
  });

  it("is planned once: the same text gets the same answer, and any other plan is rejected", () => {
    const pool = new TestPool();
    const { request, buildId } = newPlannedBuild(pool, [graphJob("a"), graphJob("b", { needs: ["a"] })]);
    const jobs = ["a", "b"].map((key) => ({ id: `${buildId}/${key}`, key }));
    expect(pool.ok("plan", { ...request, graph: newGraph(buildId, []) })).toEqual({ jobs });
    expect(pool.refusal("plan", { ...request, text: "other", graph: newGraph(buildId, [], { hash: "other" }) })).toBe(
      "conflict",
    );
    expect(pool.refusal("plan", { ...request, fence: request.fence - 1 })).toBe("lease-lost");
    const other = pool.agent();
    expect(pool.refusal("plan", { ...request, ...other.credentials })).toBe("lease-lost");
    pool.ok("cancel", { buildId, actor: ACTOR });
    expect(pool.status(buildId)).toBe("canceled");
    expect(pool.refusal("plan", request)).toBe("lease-lost");
  });

  it("has its planned jobs in place of its first job", () => {
    const pool = new TestPool();
    const { buildId, first } = newPlannedBuild(pool, [graphJob("a")]);
    expect([...pool.model.state.jobs.keys()]).toEqual([`${buildId}/a`]);
    const { plannedBy } = pool.model.storage.rows.builds.get(buildId)!;
    expect(plannedBy).toEqual({ agentId: first.agentId, fence: first.fence, attempt: 1 });
  });

  it("remembers the lease of its first job, even after that job ends", () => {
    const pool = new TestPool();
    const { buildId, agent, first, request } = newPlannedBuild(pool, [graphJob("a")]);
    succeed(pool, startNext(agent));
    expect(pool.refusal("cancel", { buildId, actor: ACTOR })).toBe("conflict");
    for (const late of ["start", "progress"] as const) expect(pool.refusal(late, first)).toBe("lease-lost");
    expect(pool.refusal("finish", { ...first, status: "succeeded" })).toBe("lease-lost");
    expect(pool.refusal("plan", request)).toBe("lease-lost");
    expect(pool.refusal("flagLeak", { jobId: buildId, fence: first.fence + 1 })).toBe("lease-lost");
    pool.ok("flagLeak", { jobId: buildId, fence: first.fence });
    expect(pool.model.storage.rows.builds.get(buildId)).toMatchObject({ status: "succeeded", leak: true });
  });

  it("is reported again when another of its jobs leaks after its end", () => {
    const pool = new TestPool();
    const { buildId, agent } = newPlannedBuild(pool, [graphJob("a"), graphJob("b")]);
    const holders = [startNext(agent), startNext(pool.agent())];
    for (const holder of holders) succeed(pool, holder);
    const versions = holders.map(({ jobId, fence }) => {
      pool.ok("flagLeak", { jobId, fence });
      return pool.model.storage.rows.builds.get(buildId)!.version;
    });
    expect(versions[1]).toBeGreaterThan(versions[0]!);
    for (const { jobId } of holders) expect(pool.job(jobId).leak).toBe(true);
  });

  it("assigns its jobs only to agents whose programs can run them", () => {
    const pool = new TestPool();
    const { buildId } = newPlannedBuild(pool, [graphJob("a")]);
    const old = pool.agent();
    expect(old.claimId()).toBeNull();
    expect(claimNext(pool.agent())?.jobId).toBe(`${buildId}/a`);
  });

  it("continues after an eviction in each state", () => {
    const pool = new TestPool();
    const { buildId, agent } = newPlannedBuild(pool, [graphJob("a"), graphJob("b", { needs: ["a"] })]);
    const reload = () => {
      pool.model.reload(pool.now);
      pool.ok("compare", { found: { sequence: 0, complete: 0 } });
    };
    reload();
    const first = startNext(agent);
    reload();
    succeed(pool, first, { list: "1" });
    reload();
    const second = claimNext(agent)!;
    pool.ok("deliver", { ...second, agentId: agent.id, environment: [] });
    reload();
    pool.ok("start", agent.holder(second));
    succeed(pool, agent.holder(second));
    expect(pool.status(buildId)).toBe("succeeded");
    expect(pool.model.storage.outputs(`${buildId}/a`)).toEqual({ list: "1" });
  });

  it("waits at a gate, and accepts one decision from a person with the role", () => {
    const pool = new TestPool();
    const { buildId, agent } = newPlannedBuild(pool, [graphJob("deploy", { gate })]);
    expect(claimNext(agent)).toBeNull();
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
    succeed(pool, startNext(agent));
    expect(pool.status(buildId)).toBe("succeeded");
  });

  it("fails if its gate is not decided in time", () => {
    const pool = new TestPool();
    const { buildId } = newPlannedBuild(pool, [graphJob("deploy", { gate })]);
    pool.advance(3_599);
    expect(pool.status(buildId)).toBe("queued");
    pool.advance(1);
    expect(pool.facts(buildId)).toMatchObject({ status: "failed", reason: "gate-closed" });
  });

  it("is canceled as a whole: leased jobs stop, other jobs end", () => {
    const pool = new TestPool();
    const { buildId, agent } = newPlannedBuild(pool, [graphJob("a"), graphJob("b"), graphJob("c", { needs: ["a"] })]);
    const a = startNext(agent);
    pool.ok("cancel", { buildId, actor: ACTOR });
    expect(pool.status(buildId)).toBe("canceling");
    expect(claimNext(pool.agent())).toBeNull();
    expect(pool.ok("heartbeat", { ...agent.credentials, bootId: agent.bootId, ...a })).toMatchObject({ cancel: true });
    pool.ok("finish", { ...a, status: "canceled" });
    expect(pool.facts(buildId)).toMatchObject({ status: "canceled", reason: "canceled" });
  });

  it("also ends its cleanup jobs at once when it is canceled a second time", () => {
    const pool = new TestPool();
    const { buildId, agent } = newPlannedBuild(pool, [
      graphJob("a"),
      graphJob("clean", { condition: "always()", needs: ["a"] }),
    ]);
    const a = startNext(agent);
    pool.ok("cancel", { buildId, actor: ACTOR });
    pool.ok("finish", { ...a, status: "canceled" });
    const clean = startNext(agent);
    expect(clean.jobId).toBe(`${buildId}/clean`);
    expect(pool.status(buildId)).toBe("canceling");
    pool.ok("cancel", { buildId, actor: ACTOR });
    expect(pool.pushes.at(-1)).toMatchObject({ type: "cancel", buildId: clean.jobId });
    pool.ok("finish", { ...clean, status: "succeeded" });
    expect(pool.facts(buildId)).toMatchObject({ status: "canceled", reason: "canceled" });
  });

  it("continues when one job is canceled, without the jobs that need it", () => {
    const pool = new TestPool();
    const jobs = [graphJob("a"), graphJob("b", { needs: ["a"] }), graphJob("c")];
    const { buildId, agent } = newPlannedBuild(pool, jobs);
    pool.ok("cancel", { buildId: `${buildId}/a`, actor: ACTOR });
    expect(pool.refusal("cancel", { buildId: `${buildId}/a`, actor: ACTOR })).toBe("conflict");
    expect(["a", "b", "c"].map((key) => pool.status(`${buildId}/${key}`))).toEqual(["canceled", "dropped", "queued"]);
    succeed(pool, startNext(agent));
    expect(pool.status(buildId)).toBe("canceled");
  });

  it("is marked when the log of a job leaked a secret, even after its end", () => {
    const pool = new TestPool();
    const { buildId, agent } = newPlannedBuild(pool, [graphJob("a")]);
    const a = startNext(agent);
    succeed(pool, a);
    pool.ok("flagLeak", { jobId: a.jobId, fence: a.fence });
    expect(pool.model.storage.rows.builds.get(buildId)?.leak).toBe(true);
  });

  it("does not use up an ephemeral agent while it is planned", () => {
    const pool = new TestPool();
    const buildId = pool.build();
    const agent = pool.agent({ isEphemeral: true });
    pool.ok("plan", { ...startNext(agent), graph: newGraph(buildId, [graphJob("a")]), text: "text", base: null });
    succeed(pool, startNext(agent));
    expect(pool.status(buildId)).toBe("succeeded");
    expect(pool.model.state.agents.get(agent.id)?.spentAt).not.toBeNull();
  });
});
