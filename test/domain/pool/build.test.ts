import { describe, expect, it } from "vitest";
import { ACTOR, Bench } from "./test-pool.ts";

const SHA = "a".repeat(40);

describe("a build's end", () => {
  it("is told once: the same again is the same answer, another is refused, a stranger's is no word at all", () => {
    const bench = new Bench();
    const other = bench.agent();
    const { holder } = bench.busy();
    expect(bench.refusal("finish", { ...holder, ...other.speaker, status: "failed", exitCode: 1 })).toBe("lease-lost");
    const told = { ...holder, status: "failed", exitCode: 7, message: "no" } as const;
    for (const _ of [1, 2, 3]) expect(bench.ok("finish", told)).toBe(holder.buildId);
    expect(bench.refusal("finish", { ...told, status: "succeeded", exitCode: 0 })).toBe("conflict");
    expect(bench.refusal("finish", { ...told, fence: holder.fence - 1 })).toBe("lease-lost");
    expect(bench.facts(holder.buildId)).toMatchObject({ status: "failed", exitCode: 7 });
  });

  it("needs a beginning", () => {
    const bench = new Bench();
    const agent = bench.agent();
    bench.build();
    const holder = agent.holder(agent.claim()!);
    expect(bench.refusal("finish", { ...holder, status: "succeeded", exitCode: 0 })).toBe("conflict");
    expect(bench.refusal("progress", { ...holder, commitSha: SHA })).toBe("conflict");
  });

  it("of an unknown build is not found", () => {
    const bench = new Bench();
    const agent = bench.agent();
    const holder = { ...agent.speaker, buildId: "nowhere", fence: 1 };
    for (const verb of ["start", "progress", "release"] as const) {
      expect(bench.refusal(verb, { ...holder, reason: "" })).toBe("not-found");
    }
    expect(bench.refusal("finish", { ...holder, status: "succeeded" })).toBe("not-found");
    expect(bench.refusal("cancel", { buildId: "nowhere", actor: ACTOR })).toBe("not-found");
  });
});

describe("cancel", () => {
  it("ends a waiting build at once, and an ended one never", () => {
    const bench = new Bench();
    const build = bench.build();
    bench.ok("cancel", { buildId: build, actor: ACTOR });
    expect(bench.facts(build)).toMatchObject({ status: "canceled", reason: "canceled" });
    expect(bench.refusal("cancel", { buildId: build, actor: ACTOR })).toBe("conflict");
    expect(bench.agent().take()).toBeNull();
  });

  it("reaches a working agent by push and by heartbeat, and holds whatever it reports then", () => {
    const bench = new Bench();
    const { agent, holder } = bench.busy();
    for (const _ of [1, 2]) bench.ok("cancel", { buildId: holder.buildId, actor: ACTOR });
    expect(bench.pushes).toEqual([{ agentId: agent.id, type: "cancel", buildId: holder.buildId }]);
    expect(bench.status(holder.buildId)).toBe("canceling");
    const heard = bench.ok("heartbeat", { ...holder, bootId: agent.boot });
    expect(heard).toMatchObject({ cancel: true, reason: "canceled" });
    bench.ok("finish", { ...holder, status: "succeeded", exitCode: 0 });
    expect(bench.facts(holder.buildId)).toMatchObject({ status: "canceled", reason: "canceled" });
  });

  it("ends with the lease of an agent that does not answer", () => {
    const bench = new Bench();
    const { holder } = bench.busy();
    bench.ok("cancel", { buildId: holder.buildId, actor: ACTOR });
    bench.pass(60);
    expect(bench.status(holder.buildId)).toBe("canceled");
  });

  it("ends in the end also where the agent goes on for ever", () => {
    const bench = new Bench();
    const { agent, holder } = bench.busy();
    bench.ok("cancel", { buildId: holder.buildId, actor: ACTOR });
    for (let beat = 0; beat < 30; beat++) {
      bench.pass(15);
      bench.ask("heartbeat", { ...holder, bootId: agent.boot });
    }
    expect(bench.status(holder.buildId)).toBe("canceled");
  });

  it("of a build that was handed out lets it neither be delivered nor started", () => {
    const bench = new Bench();
    const agent = bench.agent();
    bench.build();
    const next = bench.build();
    const grant = agent.claim()!;
    bench.ok("cancel", { buildId: grant.buildId, actor: ACTOR });
    expect(bench.refusal("deliver", { ...grant, agentId: agent.id, environment: [] })).toBe("lease-lost");
    expect(bench.refusal("start", agent.holder(grant))).toBe("conflict");
    expect(agent.take()).toBe(next);
    expect(bench.status(grant.buildId)).toBe("canceled");
  });
});

describe("the timeout", () => {
  it("tells the agent to stop, and fails the build whatever it reports", () => {
    const bench = new Bench();
    const { agent, holder } = bench.busy({ timeoutSeconds: 40 });
    bench.pass(39);
    expect(bench.ok("heartbeat", { ...holder, bootId: agent.boot })).toMatchObject({ cancel: false });
    bench.pass(1);
    expect(bench.pushes.at(-1)).toEqual({ agentId: agent.id, type: "cancel", buildId: holder.buildId });
    expect(bench.ok("heartbeat", { ...holder, bootId: agent.boot })).toMatchObject({ cancel: true, reason: "timeout" });
    bench.ok("finish", { ...holder, status: "canceled" });
    expect(bench.facts(holder.buildId)).toMatchObject({ status: "failed", reason: "timeout" });
  });

  it("ends the build of an agent that died, without another attempt", () => {
    const bench = new Bench();
    const build = bench.build({ timeoutSeconds: 20, maxAttempts: 3 });
    bench.agent().work();
    bench.pass(20);
    bench.pass(40);
    expect(bench.facts(build)).toMatchObject({ status: "failed", reason: "timeout", attempt: 1 });
  });
});

describe("what the agent finds out", () => {
  it("pins the commit for later attempts", () => {
    const bench = new Bench();
    const build = bench.build();
    bench.ok("progress", { ...bench.agent().work(), commitSha: SHA });
    bench.pass(60);
    const again = bench.agent().work();
    bench.ok("progress", { ...again, commitSha: "b".repeat(40) });
    expect(bench.facts(build)).toMatchObject({ commitSha: SHA, attempt: 2 });
  });

  it("names the commit where a tag's own object was asked for", () => {
    const bench = new Bench();
    const build = bench.build({ branch: "refs/tags/v1", commitSha: "c".repeat(40) });
    bench.ok("progress", { ...bench.agent().work(), commitSha: SHA });
    expect(bench.facts(build)).toMatchObject({ commitSha: SHA });
    const pinned = bench.build({ commitSha: SHA });
    bench.ok("progress", { ...bench.agent().work(), commitSha: "b".repeat(40) });
    expect(bench.facts(pinned)).toMatchObject({ commitSha: SHA });
  });

  it("sends the build back for an agent that has what the file asks for, and uses no attempt", () => {
    const bench = new Bench();
    const build = bench.build({ requires: { labels: ["a"] } });
    const plain = bench.agent({ labels: ["a"] });
    const able = bench.agent({ labels: ["a", "b"] });
    bench.ok("release", { ...plain.work(), reason: "needs b", requires: { labels: ["b"] } });
    expect(bench.facts(build)).toMatchObject({ status: "queued", attempt: 0, requires: { labels: ["a", "b"] } });
    expect(plain.take()).toBeNull();
    expect(able.take()).toBe(build);
  });

  it("fails the build when file and pipeline contradict each other", () => {
    const bench = new Bench();
    const build = bench.build({ requires: { platform: "linux" } });
    bench.ok("release", { ...bench.agent().work(), reason: "wants macOS", requires: { platform: "macos" } });
    expect(bench.facts(build)).toMatchObject({ status: "failed", reason: "requirements-unmet" });
  });

  it("does not come back to an agent that gave it back", () => {
    const bench = new Bench();
    const agent = bench.agent();
    const build = bench.build();
    bench.ok("release", { ...agent.work(), reason: "the disk is full" });
    expect(agent.take()).toBeNull();
    expect(bench.agent().take()).toBe(build);
  });
});

describe("an idempotency key", () => {
  const key = (bodyHash: string) => ({ key: "k", caller: "token:1", bodyHash });

  it("makes one build for a day, and one of its own for each caller", () => {
    const bench = new Bench();
    const build = bench.build({ idempotency: key("x") });
    expect(bench.ok("enqueue", bench.wanted({ idempotency: key("x") }))).toEqual({ buildId: build, isNew: false });
    expect(bench.refusal("enqueue", bench.wanted({ idempotency: key("y") }))).toBe("idempotency-mismatch");
    expect(bench.build({ idempotency: { ...key("x"), caller: "token:2" } })).not.toBe(build);
    bench.ok("cancel", { buildId: build, actor: ACTOR });
    expect(bench.build({ idempotency: key("x") })).toBe(build);
    bench.pass(24 * 60 * 60);
    expect(bench.build({ idempotency: key("x") })).not.toBe(build);
  });

  it("is not needed to repeat a call whose answer was lost", () => {
    const bench = new Bench();
    const wanted = bench.wanted();
    expect(bench.ok("enqueue", wanted).isNew).toBe(true);
    expect(bench.ok("enqueue", wanted)).toEqual({ buildId: wanted.id, isNew: false });
  });
});
