import { describe, expect, it } from "vitest";
import { ACTOR, Bench } from "./bench.ts";

describe("a lease", () => {
  it("is given again, unchanged, to an agent that asks again before it has started", () => {
    const bench = new Bench();
    const agent = bench.agent();
    bench.build();
    bench.build();
    const first = agent.claim();
    bench.pass(20);
    expect(agent.claim()).toEqual(first);
    expect(bench.agent().take()).not.toBe(first?.buildId);
  });

  it("that is not started in time goes to another, uncounted as an attempt", () => {
    const bench = new Bench();
    const build = bench.build();
    const slow = bench.agent();
    const grant = slow.claim()!;
    bench.pass(29);
    expect(bench.status(build)).toBe("assigned");
    bench.pass(1);
    expect(bench.facts(build)).toMatchObject({ status: "queued", attempt: 0, unstarted: 1 });
    expect(bench.refusal("start", slow.holder(grant))).toBe("lease-lost");
    const next = bench.agent().work();
    expect(next.fence).toBeGreaterThan(grant.fence);
    expect(bench.facts(build)).toMatchObject({ status: "running", attempt: 1 });
  });

  it("lives by heartbeats, and ends a minute after the last", () => {
    const bench = new Bench();
    const { agent, holder } = bench.busy();
    for (let minute = 0; minute < 5; minute++) {
      bench.pass(59);
      expect(bench.ok("heartbeat", { ...holder, bootId: agent.boot })).toMatchObject({ cancel: false });
    }
    bench.pass(60);
    expect(bench.status(holder.buildId)).toBe("queued");
    const answer = bench.ok("heartbeat", { ...holder, bootId: agent.boot });
    expect(answer).toEqual({ cancel: true, reason: "lease-lost" });
  });

  it("is not kept by polls", () => {
    const bench = new Bench();
    const { agent, holder } = bench.busy();
    bench.pass(59);
    agent.claim();
    bench.pass(1);
    expect(bench.status(holder.buildId)).toBe("queued");
  });

  it("of an agent that is stopped by force is over at once, is a used attempt, and any agent may have the next", () => {
    const bench = new Bench();
    const build = bench.build({ maxAttempts: 2 });
    const agent = bench.agent();
    const stop = { reason: "the agent was stopped", interrupted: true };
    bench.ok("release", { ...agent.work(), ...stop });
    expect(bench.facts(build)).toMatchObject({ status: "queued", attempt: 1 });
    expect(bench.message(build)).toBe("Attempt 1 was lost. Its agent was stopped.");
    bench.ok("release", { ...agent.work(), ...stop });
    expect(bench.facts(build)).toMatchObject({ status: "failed", reason: "agent-lost", attempt: 2 });
    expect(bench.message(build)).toBe("Its agent was stopped.");
  });

  it("of an agent that is stopped before it starts is counted, so that it cannot go on for ever", () => {
    const bench = new Bench();
    const build = bench.build();
    const agent = bench.agent();
    for (let round = 1; round <= 20; round++) {
      bench.ok("release", { ...agent.holder(agent.claim()!), reason: "no folder", interrupted: true });
      expect(bench.facts(build)).toMatchObject({ attempt: 0, unstarted: round });
    }
    expect(bench.facts(build)).toMatchObject({ status: "failed", reason: "agent-lost" });
  });

  it("of an agent that is stopped while its build is to be canceled ends the build as canceled", () => {
    const bench = new Bench();
    const { holder } = bench.busy();
    bench.ok("cancel", { buildId: holder.buildId, actor: ACTOR });
    bench.ok("release", { ...holder, reason: "the agent was stopped", interrupted: true });
    expect(bench.facts(holder.buildId)).toMatchObject({ status: "canceled", reason: "canceled" });
  });

  it("of an agent that dies each time ends the build when its attempts are used up", () => {
    const bench = new Bench();
    const build = bench.build({ maxAttempts: 2 });
    for (const attempt of [1, 2]) {
      bench.agent().work();
      expect(bench.facts(build)).toMatchObject({ status: "running", attempt });
      bench.pass(60);
    }
    expect(bench.facts(build)).toMatchObject({ status: "failed", reason: "agent-lost", attempt: 2 });
  });

  it("ends at once when its agent was started anew, and a late word of the old one changes nothing", () => {
    const bench = new Bench();
    const agent = bench.agent();
    const build = bench.build();
    const old = agent.work();
    agent.boot = "boot-2";
    const fresh = agent.claim();
    expect(fresh).toMatchObject({ buildId: build });
    expect(bench.ok("claim", { ...agent.speaker, bootId: "boot-1" })).toBeNull();
    expect(agent.claim()).toEqual(fresh);
    expect(bench.refusal("finish", { ...old, status: "succeeded", exitCode: 0 })).toBe("lease-lost");
  });

  it("is extended once when the service itself was away, and not again", () => {
    const bench = new Bench();
    const { holder } = bench.busy();
    bench.pass(300);
    expect(bench.status(holder.buildId)).toBe("running");
    bench.pass(300);
    expect(bench.status(holder.buildId)).toBe("queued");
  });

  it("is free at once when its agent is removed, which nothing is heard from any more", () => {
    const bench = new Bench();
    const { agent, holder } = bench.busy();
    bench.ok("removeAgent", { agentId: agent.id, actor: ACTOR });
    expect(bench.status(holder.buildId)).toBe("queued");
    expect(bench.refusal("finish", { ...holder, status: "succeeded", exitCode: 0 })).toBe("unauthenticated");
    expect(bench.refusal("claim", { ...agent.speaker, bootId: agent.boot })).toBe("unauthenticated");
    expect(bench.refusal("authenticateAgent", { tokenHash: agent.speaker.tokenHash })).toBe("unauthenticated");
  });
});

describe("a hand-out", () => {
  it("taken back because a dependency was away counts as nothing, and rests", () => {
    const bench = new Bench();
    const agent = bench.agent();
    const build = bench.build();
    for (let round = 0; round < 30; round++) {
      const { fence } = agent.claim()!;
      bench.ok("unclaim", { buildId: build, fence, notBefore: bench.now + 5_000 });
      expect(agent.claim()).toBeNull();
      bench.pass(5);
    }
    expect(bench.facts(build)).toMatchObject({ status: "queued", attempt: 0, unstarted: 0 });
  });

  it("is delivered only to who holds it, and the audit tells the names of the keys", () => {
    const bench = new Bench();
    const agent = bench.agent();
    const other = bench.agent();
    const build = bench.build();
    const { fence } = agent.claim()!;
    const environment = [{ key: "TOKEN", scope: "organization", isSecret: true, version: 3 } as const];
    expect(bench.refusal("deliver", { buildId: build, fence, agentId: other.id, environment })).toBe("lease-lost");
    bench.ok("deliver", { buildId: build, fence, agentId: agent.id, environment });
    const told = [...bench.pool.storage.rows.entries.values()].map(({ audit }) => audit);
    expect(told.at(-1)).toMatchObject({ action: "build.deliver", subject: build, detail: { keys: ["TOKEN"] } });
  });

  it("whose environment cannot be composed fails the build and says why", () => {
    const bench = new Bench();
    const agent = bench.agent();
    const build = bench.build();
    const { fence } = agent.claim()!;
    bench.ok("failClaim", { buildId: build, fence, reason: "environment", message: "The group is gone." });
    expect(bench.facts(build)).toMatchObject({ status: "failed", reason: "environment" });
    expect(agent.take()).toBeNull();
  });

  it("that nobody ever starts ends after twenty times", () => {
    const bench = new Bench();
    const build = bench.build();
    for (let round = 1; round <= 20; round++) {
      bench.agent().claim();
      bench.pass(30);
      expect(bench.facts(build).unstarted).toBe(round);
    }
    expect(bench.facts(build)).toMatchObject({ status: "failed", reason: "agent-lost", attempt: 0 });
  });
});

describe("an agent", () => {
  it("that lets two builds lie gets no more until it sends a heartbeat", () => {
    const bench = new Bench();
    const agent = bench.agent();
    const build = bench.build();
    for (const _ of [1, 2]) {
      expect(agent.take()).toBe(build);
      bench.pass(30);
    }
    expect(agent.take()).toBeNull();
    expect(bench.ok("heartbeat", { ...agent.speaker, bootId: agent.boot })).toEqual({ cancel: false });
    expect(agent.take()).toBe(build);
  });

  it("that drains finishes what it has and takes nothing new", () => {
    const bench = new Bench();
    const agent = bench.agent();
    bench.build();
    const next = bench.build();
    const holder = agent.work();
    const drain = (isDraining: boolean) =>
      bench.ok("updateAgent", { agentId: agent.id, change: { isDraining }, actor: ACTOR });
    drain(true);
    bench.ok("finish", { ...holder, status: "succeeded", exitCode: 0 });
    expect(agent.take()).toBeNull();
    drain(false);
    expect(agent.take()).toBe(next);
  });

  it("that is ephemeral takes one build and is gone", () => {
    const bench = new Bench();
    const agent = bench.agent({ isEphemeral: true });
    bench.build();
    bench.build();
    const holder = agent.work();
    bench.ok("finish", { ...holder, status: "failed", exitCode: 1 });
    expect(agent.take()).toBeNull();
    expect(bench.ok("finish", { ...holder, status: "failed", exitCode: 1 })).toBe(holder.buildId);
    bench.pass(60);
    expect(bench.pool.state.agents.size).toBe(0);
    expect(bench.refusal("claim", { ...agent.speaker, bootId: agent.boot })).toBe("unauthenticated");
  });

  it("that polls for an hour without work costs at most 75 rows", () => {
    const bench = new Bench();
    const agent = bench.agent();
    const { storage } = bench.pool;
    let rows = 0;
    const store = storage.store.bind(storage);
    storage.store = (changes) => {
      rows += changes.filter(({ kind }) => !["heard", "waiter", "offer", "flush", "matched"].includes(kind)).length;
      store(changes);
    };
    for (let poll = 0; poll < 72; poll++) {
      bench.now += 50_000;
      agent.claim();
      agent.wait(bench.now + 50_000);
      bench.ok("leave", { agentId: agent.id });
    }
    expect(rows).toBeGreaterThan(0);
    expect(rows).toBeLessThanOrEqual(75);
  });
});
