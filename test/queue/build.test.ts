import { describe, expect, it } from "vitest";
import { ACTOR, TestPool } from "./test-pool.ts";

const SHA = "a".repeat(40);

describe("a build's end", () => {
  it("is accepted once: the same report gets the same answer, and another result or agent is rejected", () => {
    const pool = new TestPool();
    const other = pool.agent();
    const { holder } = pool.busyAgent();
    expect(pool.refusal("finish", { ...holder, ...other.credentials, status: "failed", exitCode: 1 })).toBe(
      "lease-lost",
    );
    const report = { ...holder, status: "failed", exitCode: 7, message: "no" } as const;
    for (const _ of [1, 2, 3]) expect(pool.ok("finish", report)).toBe(holder.jobId);
    expect(pool.refusal("finish", { ...report, status: "succeeded", exitCode: 0 })).toBe("conflict");
    expect(pool.refusal("finish", { ...report, fence: holder.fence - 1 })).toBe("lease-lost");
    expect(pool.facts(holder.jobId)).toMatchObject({ status: "failed", exitCode: 7 });
  });

  it("is rejected before the build starts, as is progress", () => {
    const pool = new TestPool();
    const agent = pool.agent();
    pool.build();
    const holder = agent.holder(agent.claim()!);
    expect(pool.refusal("finish", { ...holder, status: "succeeded", exitCode: 0 })).toBe("conflict");
    expect(pool.refusal("progress", { ...holder, commitSha: SHA })).toBe("conflict");
  });

  it("is not found for an unknown build", () => {
    const pool = new TestPool();
    const agent = pool.agent();
    const holder = { ...agent.credentials, jobId: "nowhere", fence: 1 };
    for (const verb of ["start", "progress", "release"] as const) {
      expect(pool.refusal(verb, { ...holder, reason: "" })).toBe("not-found");
    }
    expect(pool.refusal("finish", { ...holder, status: "succeeded" })).toBe("not-found");
    expect(pool.refusal("cancel", { buildId: "nowhere", actor: ACTOR })).toBe("not-found");
  });
});

describe("cancel", () => {
  it("ends a queued build at once, and is rejected for an ended one", () => {
    const pool = new TestPool();
    const build = pool.build();
    pool.ok("cancel", { buildId: build, actor: ACTOR });
    expect(pool.facts(build)).toMatchObject({ status: "canceled", reason: "canceled" });
    expect(pool.refusal("cancel", { buildId: build, actor: ACTOR })).toBe("conflict");
    expect(pool.agent().claimId()).toBeNull();
  });

  it("reaches a working agent by hint and by heartbeat, and holds whatever the agent reports", () => {
    const pool = new TestPool();
    const { agent, holder } = pool.busyAgent();
    for (const _ of [1, 2]) pool.ok("cancel", { buildId: holder.jobId, actor: ACTOR });
    expect(pool.pushes).toEqual([{ agentId: agent.id, type: "cancel", buildId: holder.jobId }]);
    expect(pool.status(holder.jobId)).toBe("canceling");
    const heard = pool.ok("heartbeat", { ...holder, bootId: agent.bootId });
    expect(heard).toMatchObject({ cancel: true, reason: "canceled" });
    pool.ok("finish", { ...holder, status: "succeeded", exitCode: 0 });
    expect(pool.facts(holder.jobId)).toMatchObject({ status: "canceled", reason: "canceled" });
  });

  it("is complete when the lease of a silent agent expires", () => {
    const pool = new TestPool();
    const { holder } = pool.busyAgent();
    pool.ok("cancel", { buildId: holder.jobId, actor: ACTOR });
    pool.advance(60);
    expect(pool.status(holder.jobId)).toBe("canceled");
  });

  it("is complete after a grace period, even if the agent keeps sending heartbeats", () => {
    const pool = new TestPool();
    const { agent, holder } = pool.busyAgent();
    pool.ok("cancel", { buildId: holder.jobId, actor: ACTOR });
    for (let beat = 0; beat < 30; beat++) {
      pool.advance(15);
      pool.call("heartbeat", { ...holder, bootId: agent.bootId });
    }
    expect(pool.status(holder.jobId)).toBe("canceled");
  });

  it("prevents the delivery and the start of a build that was already assigned", () => {
    const pool = new TestPool();
    const agent = pool.agent();
    pool.build();
    const next = pool.build();
    const grant = agent.claim()!;
    pool.ok("cancel", { buildId: grant.jobId, actor: ACTOR });
    expect(pool.refusal("deliver", { ...grant, agentId: agent.id, environment: [] })).toBe("lease-lost");
    expect(pool.refusal("start", agent.holder(grant))).toBe("conflict");
    expect(agent.claimId()).toBe(next);
    expect(pool.status(grant.jobId)).toBe("canceled");
  });
});

describe("the timeout", () => {
  it("stops the agent, and fails the build whatever the agent reports", () => {
    const pool = new TestPool();
    const { agent, holder } = pool.busyAgent({ timeoutSeconds: 40 });
    pool.advance(39);
    expect(pool.ok("heartbeat", { ...holder, bootId: agent.bootId })).toMatchObject({ cancel: false });
    pool.advance(1);
    expect(pool.pushes.at(-1)).toEqual({ agentId: agent.id, type: "cancel", buildId: holder.jobId });
    expect(pool.ok("heartbeat", { ...holder, bootId: agent.bootId })).toMatchObject({
      cancel: true,
      reason: "timeout",
    });
    pool.ok("finish", { ...holder, status: "canceled" });
    expect(pool.facts(holder.jobId)).toMatchObject({ status: "failed", reason: "timeout" });
  });

  it("fails the build of a lost agent without another attempt", () => {
    const pool = new TestPool();
    const build = pool.build({ timeoutSeconds: 20, maxAttempts: 3 });
    pool.agent().claimAndStart();
    pool.advance(20);
    pool.advance(40);
    expect(pool.facts(build)).toMatchObject({ status: "failed", reason: "timeout", attempt: 1 });
  });
});

describe("an agent's report", () => {
  it("pins the commit for later attempts", () => {
    const pool = new TestPool();
    const build = pool.build();
    pool.ok("progress", { ...pool.agent().claimAndStart(), commitSha: SHA });
    pool.advance(60);
    const again = pool.agent().claimAndStart();
    pool.ok("progress", { ...again, commitSha: "b".repeat(40) });
    expect(pool.facts(build)).toMatchObject({ commitSha: SHA, attempt: 2 });
  });

  it("replaces the id of an annotated tag with its commit", () => {
    const pool = new TestPool();
    const build = pool.build({ branch: "refs/tags/v1", commitSha: "c".repeat(40) });
    pool.ok("progress", { ...pool.agent().claimAndStart(), commitSha: SHA });
    expect(pool.facts(build)).toMatchObject({ commitSha: SHA });
    const pinned = pool.build({ commitSha: SHA });
    pool.ok("progress", { ...pool.agent().claimAndStart(), commitSha: "b".repeat(40) });
    expect(pool.facts(pinned)).toMatchObject({ commitSha: SHA });
  });

  it("releases the build for an agent that meets the file's requirements, and uses no attempt", () => {
    const pool = new TestPool();
    const build = pool.build({ requires: { labels: ["a"] } });
    const plain = pool.agent({ labels: ["a"] });
    const able = pool.agent({ labels: ["a", "b"] });
    pool.ok("release", { ...plain.claimAndStart(), reason: "needs b", requires: { labels: ["b"] } });
    expect(pool.facts(build)).toMatchObject({ status: "queued", attempt: 0, requires: { labels: ["a", "b"] } });
    expect(plain.claimId()).toBeNull();
    expect(able.claimId()).toBe(build);
  });

  it("fails the build when the requirements of file and pipeline contradict each other", () => {
    const pool = new TestPool();
    const build = pool.build({ requires: { platform: "linux" } });
    pool.ok("release", { ...pool.agent().claimAndStart(), reason: "wants macOS", requires: { platform: "macos" } });
    expect(pool.facts(build)).toMatchObject({ status: "failed", reason: "requirements-unmet" });
  });

  it("keeps a released build from the agent that released it", () => {
    const pool = new TestPool();
    const agent = pool.agent();
    const build = pool.build();
    pool.ok("release", { ...agent.claimAndStart(), reason: "the disk is full" });
    expect(agent.claimId()).toBeNull();
    expect(pool.agent().claimId()).toBe(build);
  });
});

describe("an idempotency key", () => {
  const key = (bodyHash: string) => ({ key: "k", caller: "token:1", bodyHash });

  it("creates one build a day for each caller", () => {
    const pool = new TestPool();
    const build = pool.build({ idempotency: key("x") });
    expect(pool.ok("enqueue", pool.newBuild({ idempotency: key("x") }))).toEqual({ buildId: build, isNew: false });
    expect(pool.refusal("enqueue", pool.newBuild({ idempotency: key("y") }))).toBe("idempotency-mismatch");
    expect(pool.build({ idempotency: { ...key("x"), caller: "token:2" } })).not.toBe(build);
    pool.ok("cancel", { buildId: build, actor: ACTOR });
    expect(pool.build({ idempotency: key("x") })).toBe(build);
    pool.advance(24 * 60 * 60);
    expect(pool.build({ idempotency: key("x") })).not.toBe(build);
  });

  it("is not required to repeat a call whose answer was lost", () => {
    const pool = new TestPool();
    const wanted = pool.newBuild();
    expect(pool.ok("enqueue", wanted).isNew).toBe(true);
    expect(pool.ok("enqueue", wanted)).toEqual({ buildId: wanted.id, isNew: false });
  });
});
