import { describe, expect, it } from "vitest";
import { claimNext, SHA, startNext } from "./planned-builds.ts";
import { ACTOR, type TestAgent, TestPool } from "./test-pool.ts";

const releaseElsewhere = (pool: TestPool, agent: TestAgent) =>
  pool.call("release", { ...agent.claimAndStart(), reason: "no way there", elsewhere: true });

describe("a build that its agent cannot fetch", () => {
  it("goes to another online agent and not to the first, without using an attempt", () => {
    const pool = new TestPool();
    const [first, second] = [pool.agent(), pool.agent()];
    second.wait();
    const build = pool.build();
    const { fence } = first.claim()!;
    const holder = first.holder({ jobId: build, fence });
    pool.ok("start", holder);
    pool.pushes.length = 0;
    pool.ok("release", { ...holder, reason: "no way there", elsewhere: true });
    expect(pool.facts(build)).toMatchObject({ status: "queued", attempt: 0 });
    expect(pool.pushes).toEqual([{ agentId: second.id, type: "look", buildId: build }]);
    expect(first.claimId()).toBeNull();
    expect(second.claimId()).toBe(build);
  });

  it("stays with its agent if no other is online, capable and accepting builds", () => {
    const pool = new TestPool();
    const only = pool.agent({ labels: ["x"] });
    const unfit = pool.agent();
    const draining = pool.agent({ labels: ["x"] });
    pool.ok("updateAgent", { agentId: draining.id, change: { isDraining: true }, actor: ACTOR });
    pool.agent({ labels: ["x"] });
    pool.advance(91);
    for (const { credentials, bootId } of [only, unfit, draining])
      pool.ok("heartbeat", { ...credentials, bootId: bootId });
    const build = pool.build({ requires: { labels: ["x"] } });
    expect(releaseElsewhere(pool, only)).toMatchObject({ ok: false, refusal: { kind: "conflict" } });
    expect(pool.facts(build)).toMatchObject({ status: "running", agentId: only.id, attempt: 1 });
    pool.agent({ labels: ["x"] });
    expect(pool.call("release", { ...only.holder(lease(pool, build)), reason: "no", elsewhere: true }).ok).toBe(true);
  });

  it("does not wait for an agent whose program is too old", () => {
    const pool = new TestPool();
    const untrusted = { labels: ["untrusted"] };
    const [first, old] = [pool.agent(untrusted), pool.agent(untrusted)];
    old.wait();
    const build = pool.build({ trust: "untrusted", commitSha: SHA });
    const elsewhere = () =>
      pool.call("release", { ...first.holder(lease(pool, build)), reason: "no", elsewhere: true });
    expect(startNext(first)).toMatchObject({ jobId: build });
    expect(elsewhere()).toMatchObject({ ok: false, refusal: { kind: "conflict" } });
    expect(claimNext(old)).toBeNull();
    expect(elsewhere()).toMatchObject({ ok: true });
  });

  it("can be released this way once: the next agent must report a result", () => {
    const pool = new TestPool();
    const [first, second] = [pool.agent(), pool.agent()];
    const build = pool.build();
    expect(releaseElsewhere(pool, first).ok).toBe(true);
    expect(releaseElsewhere(pool, second)).toMatchObject({ ok: false });
    pool.ok("finish", { ...second.holder(lease(pool, build)), status: "failed", reason: "checkout-failed" });
    expect(pool.facts(build)).toMatchObject({ status: "failed", reason: "checkout-failed" });
  });

  it("waits for a busy agent while that agent is online", () => {
    const pool = new TestPool();
    const [first, busy] = [pool.agent(), pool.agent()];
    pool.build();
    const work = busy.claimAndStart();
    const build = pool.build();
    expect(releaseElsewhere(pool, first).ok).toBe(true);
    for (let minute = 0; minute < 10; minute++) {
      pool.advance(50);
      pool.ok("heartbeat", { ...work, bootId: busy.bootId });
      expect(first.claimId()).toBeNull();
    }
    first.wait();
    pool.pushes.length = 0;
    pool.ok("removeAgent", { agentId: busy.id, actor: ACTOR });
    pool.advance(60);
    expect(pool.pushes.filter(({ type }) => type === "look").map(({ agentId }) => agentId)).toContain(first.id);
    expect([work.jobId, build]).toContain(first.claimId());
  });

  it("loses its delay and its wait for another agent in the same step", () => {
    const pool = new TestPool();
    const [first, second] = [pool.agent(), pool.agent()];
    const build = pool.build();
    expect(releaseElsewhere(pool, first).ok).toBe(true);
    pool.ok("unclaim", { ...second.claim()!, notBefore: pool.now + 5_000 });
    pool.advance(91);
    expect(pool.job(build)).toMatchObject({ status: "queued", notBefore: 0, passedOver: { until: null } });
  });

  it("ends when it is canceled before another agent takes it", () => {
    const pool = new TestPool();
    const agent = pool.agent();
    pool.agent();
    const build = pool.build();
    const holder = agent.claimAndStart();
    pool.ok("cancel", { buildId: build, actor: ACTOR });
    pool.ok("release", { ...holder, reason: "no way there", elsewhere: true });
    expect(pool.status(build)).toBe("canceled");
  });
});

const lease = (pool: TestPool, jobId: string) => ({
  jobId,
  fence: pool.job(jobId).fence,
});
