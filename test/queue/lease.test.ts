import { describe, expect, it } from "vitest";
import { ACTOR, TestPool } from "./test-pool.ts";

describe("a lease", () => {
  it("stays the same for an agent that claims again before it starts the build", () => {
    const pool = new TestPool();
    const agent = pool.agent();
    pool.build();
    pool.build();
    const first = agent.claim();
    pool.advance(20);
    expect(agent.claim()).toEqual({ ...first, isAgain: true });
    expect(pool.agent().claimId()).not.toBe(first?.jobId);
  });

  it("ends if the build is not started in time, and the build goes to another agent without using an attempt", () => {
    const pool = new TestPool();
    const build = pool.build();
    const slow = pool.agent();
    const grant = slow.claim()!;
    pool.advance(29);
    expect(pool.status(build)).toBe("assigned");
    pool.advance(1);
    expect(pool.facts(build)).toMatchObject({ status: "queued", attempt: 0, unstarted: 1 });
    expect(pool.refusal("start", slow.holder(grant))).toBe("lease-lost");
    const next = pool.agent().claimAndStart();
    expect(next.fence).toBeGreaterThan(grant.fence);
    expect(pool.facts(build)).toMatchObject({ status: "running", attempt: 1 });
  });

  it("is renewed by heartbeats, and expires a minute after the last one", () => {
    const pool = new TestPool();
    const { agent, holder } = pool.busyAgent();
    for (let minute = 0; minute < 5; minute++) {
      pool.advance(59);
      expect(pool.ok("heartbeat", { ...holder, bootId: agent.bootId })).toMatchObject({ cancel: false });
    }
    pool.advance(60);
    expect(pool.status(holder.jobId)).toBe("queued");
    const answer = pool.ok("heartbeat", { ...holder, bootId: agent.bootId });
    expect(answer).toEqual({ cancel: true, reason: "lease-lost" });
  });

  it("is not renewed by polls", () => {
    const pool = new TestPool();
    const { agent, holder } = pool.busyAgent();
    pool.advance(59);
    agent.claim();
    pool.advance(1);
    expect(pool.status(holder.jobId)).toBe("queued");
  });

  it("ends at once if its agent is stopped by force, uses an attempt, and any agent may get the next one", () => {
    const pool = new TestPool();
    const build = pool.build({ maxAttempts: 2 });
    const agent = pool.agent();
    const stop = { reason: "the agent was stopped", interrupted: true };
    pool.ok("release", { ...agent.claimAndStart(), ...stop });
    expect(pool.facts(build)).toMatchObject({ status: "queued", attempt: 1 });
    expect(pool.message(build)).toBe("Attempt 1 was lost. Its agent was stopped.");
    pool.ok("release", { ...agent.claimAndStart(), ...stop });
    expect(pool.facts(build)).toMatchObject({ status: "failed", reason: "agent-lost", attempt: 2 });
    expect(pool.message(build)).toBe("Its agent was stopped.");
  });

  it("is counted if its agent is stopped before the start, so that this cannot repeat forever", () => {
    const pool = new TestPool();
    const build = pool.build();
    const agent = pool.agent();
    for (let round = 1; round <= 20; round++) {
      pool.ok("release", { ...agent.holder(agent.claim()!), reason: "no folder", interrupted: true });
      expect(pool.facts(build)).toMatchObject({ attempt: 0, unstarted: round });
    }
    expect(pool.facts(build)).toMatchObject({ status: "failed", reason: "agent-lost" });
  });

  it("ends the build as canceled if its agent is stopped while the build is canceling", () => {
    const pool = new TestPool();
    const { holder } = pool.busyAgent();
    pool.ok("cancel", { buildId: holder.jobId, actor: ACTOR });
    pool.ok("release", { ...holder, reason: "the agent was stopped", interrupted: true });
    expect(pool.facts(holder.jobId)).toMatchObject({ status: "canceled", reason: "canceled" });
  });

  it("fails the build if agents die in every attempt", () => {
    const pool = new TestPool();
    const build = pool.build({ maxAttempts: 2 });
    for (const attempt of [1, 2]) {
      pool.agent().claimAndStart();
      expect(pool.facts(build)).toMatchObject({ status: "running", attempt });
      pool.advance(60);
    }
    expect(pool.facts(build)).toMatchObject({ status: "failed", reason: "agent-lost", attempt: 2 });
  });

  it("ends at once when its agent restarts, and late calls of the old process change nothing", () => {
    const pool = new TestPool();
    const agent = pool.agent();
    const build = pool.build();
    const old = agent.claimAndStart();
    agent.bootId = "boot-2";
    const fresh = agent.claim();
    expect(fresh).toMatchObject({ jobId: build });
    expect(pool.ok("claim", { ...agent.credentials, bootId: "boot-1" })).toBeNull();
    expect(agent.claim()).toEqual({ ...fresh, isAgain: true });
    expect(pool.refusal("finish", { ...old, status: "succeeded", exitCode: 0 })).toBe("lease-lost");
  });

  it("is renewed once after an outage of the service", () => {
    const pool = new TestPool();
    const { holder } = pool.busyAgent();
    pool.advance(300);
    expect(pool.status(holder.jobId)).toBe("running");
    pool.advance(300);
    expect(pool.status(holder.jobId)).toBe("queued");
  });

  it("ends at once when its agent is removed, and the agent's token becomes invalid", () => {
    const pool = new TestPool();
    const { agent, holder } = pool.busyAgent();
    pool.ok("removeAgent", { agentId: agent.id, actor: ACTOR });
    expect(pool.status(holder.jobId)).toBe("queued");
    expect(pool.refusal("finish", { ...holder, status: "succeeded", exitCode: 0 })).toBe("unauthenticated");
    expect(pool.refusal("claim", { ...agent.credentials, bootId: agent.bootId })).toBe("unauthenticated");
    expect(pool.refusal("authenticateAgent", { tokenHash: agent.credentials.tokenHash })).toBe("unauthenticated");
  });
});

describe("a hand-out", () => {
  it("uses no attempt when it is taken back, and delays the build", () => {
    const pool = new TestPool();
    const agent = pool.agent();
    const build = pool.build();
    for (let round = 0; round < 30; round++) {
      const { fence } = agent.claim()!;
      pool.ok("unclaim", { jobId: build, fence, notBefore: pool.now + 5_000 });
      expect(agent.claim()).toBeNull();
      pool.advance(5);
    }
    expect(pool.facts(build)).toMatchObject({ status: "queued", attempt: 0, unstarted: 0 });
  });

  it("closes its log when it is taken back, but only if the log may be open", () => {
    const pool = new TestPool();
    const agent = pool.agent();
    const build = pool.build();
    const closed: number[] = [];
    for (const isLogOpen of [undefined, false, true]) {
      const { fence } = agent.claim()!;
      pool.ok("unclaim", { jobId: build, fence, notBefore: 0, ...(isLogOpen !== undefined && { isLogOpen }) });
      closed.push([...pool.model.storage.rows.closes.values()].filter((close) => close.fence === fence).length);
      pool.advance(5);
    }
    expect(closed).toEqual([1, 0, 1]);
  });

  it("is delivered only to the agent with the lease, and the audit names the keys", () => {
    const pool = new TestPool();
    const agent = pool.agent();
    const other = pool.agent();
    const build = pool.build();
    const { fence } = agent.claim()!;
    const environment = [{ key: "TOKEN", scope: "organization", isSecret: true, version: 3 } as const];
    expect(pool.refusal("deliver", { jobId: build, fence, agentId: other.id, environment })).toBe("lease-lost");
    pool.ok("deliver", { jobId: build, fence, agentId: agent.id, environment });
    const audited = [...pool.model.storage.rows.audits.values()];
    expect(audited.at(-1)).toMatchObject({ action: "build.deliver", subject: build, detail: { keys: ["TOKEN"] } });
  });

  it("fails the build with a message if its environment cannot be composed", () => {
    const pool = new TestPool();
    const agent = pool.agent();
    const build = pool.build();
    const { fence } = agent.claim()!;
    pool.ok("failClaim", { jobId: build, fence, reason: "environment", message: "The group is gone." });
    expect(pool.facts(build)).toMatchObject({ status: "failed", reason: "environment" });
    expect(agent.claimId()).toBeNull();
  });

  it("fails the build after twenty times without a start", () => {
    const pool = new TestPool();
    const build = pool.build();
    for (let round = 1; round <= 20; round++) {
      pool.agent().claim();
      pool.advance(30);
      expect(pool.facts(build).unstarted).toBe(round);
    }
    expect(pool.facts(build)).toMatchObject({ status: "failed", reason: "agent-lost", attempt: 0 });
  });
});

describe("an agent", () => {
  it("gets no more builds after it claims two and starts neither, until it sends a heartbeat", () => {
    const pool = new TestPool();
    const agent = pool.agent();
    const build = pool.build();
    for (const _ of [1, 2]) {
      expect(agent.claimId()).toBe(build);
      pool.advance(30);
    }
    expect(agent.claimId()).toBeNull();
    expect(pool.ok("heartbeat", { ...agent.credentials, bootId: agent.bootId })).toEqual({ cancel: false });
    expect(agent.claimId()).toBe(build);
  });

  it("finishes its build and gets no new one while draining", () => {
    const pool = new TestPool();
    const agent = pool.agent();
    pool.build();
    const next = pool.build();
    const holder = agent.claimAndStart();
    const drain = (isDraining: boolean) =>
      pool.ok("updateAgent", { agentId: agent.id, change: { isDraining }, actor: ACTOR });
    drain(true);
    pool.ok("finish", { ...holder, status: "succeeded", exitCode: 0 });
    expect(agent.claimId()).toBeNull();
    drain(false);
    expect(agent.claimId()).toBe(next);
  });

  it("gets one build and is removed if it is ephemeral", () => {
    const pool = new TestPool();
    const agent = pool.agent({ isEphemeral: true });
    pool.build();
    pool.build();
    const holder = agent.claimAndStart();
    pool.ok("finish", { ...holder, status: "failed", exitCode: 1 });
    expect(agent.claimId()).toBeNull();
    expect(pool.ok("finish", { ...holder, status: "failed", exitCode: 1 })).toBe(holder.jobId);
    pool.advance(60);
    expect(pool.model.state.agents.size).toBe(0);
    expect(pool.refusal("claim", { ...agent.credentials, bootId: agent.bootId })).toBe("unauthenticated");
  });

  it("costs at most 75 rows for an hour of polling without work", () => {
    const pool = new TestPool();
    const agent = pool.agent();
    const { storage } = pool.model;
    let rows = 0;
    const store = storage.store.bind(storage);
    storage.store = (changes) => {
      rows += changes.filter(({ kind }) => !["contact", "waiter", "offer", "attempt", "matched"].includes(kind)).length;
      store(changes);
    };
    for (let poll = 0; poll < 72; poll++) {
      pool.now += 50_000;
      agent.claim();
      agent.wait(pool.now + 50_000);
      pool.ok("leave", { agentId: agent.id });
    }
    expect(rows).toBeGreaterThan(0);
    expect(rows).toBeLessThanOrEqual(75);
  });
});
