import { describe, expect, it } from "vitest";
import { ACTOR, Bench, type TestAgent } from "./bench.ts";

const giveBack = (bench: Bench, agent: TestAgent) =>
  bench.ask("release", { ...agent.work(), reason: "no way there", elsewhere: true });

describe("a build that its agent cannot fetch", () => {
  it("goes to another one that is there, at the cost of no attempt, and passes the first one over", () => {
    const bench = new Bench();
    const [first, second] = [bench.agent(), bench.agent()];
    second.wait();
    const build = bench.build();
    const { fence } = first.claim()!;
    const holder = first.holder({ buildId: build, fence });
    bench.ok("start", holder);
    bench.pushes.length = 0;
    bench.ok("release", { ...holder, reason: "no way there", elsewhere: true });
    expect(bench.facts(build)).toMatchObject({ status: "queued", attempt: 0 });
    expect(bench.pushes).toEqual([{ agentId: second.id, type: "look", buildId: build }]);
    expect(first.take()).toBeNull();
    expect(second.take()).toBe(build);
  });

  it("stays with an agent that is the only one, or the only one that fits, takes builds and is there", () => {
    const bench = new Bench();
    const only = bench.agent({ labels: ["x"] });
    const unfit = bench.agent();
    const draining = bench.agent({ labels: ["x"] });
    bench.ok("updateAgent", { agentId: draining.id, change: { isDraining: true }, actor: ACTOR });
    bench.agent({ labels: ["x"] });
    bench.pass(91);
    for (const { speaker, boot } of [only, unfit, draining]) bench.ok("heartbeat", { ...speaker, bootId: boot });
    const build = bench.build({ requires: { labels: ["x"] } });
    expect(giveBack(bench, only)).toMatchObject({ ok: false, refusal: { kind: "conflict" } });
    expect(bench.facts(build)).toMatchObject({ status: "running", agentId: only.id, attempt: 1 });
    bench.agent({ labels: ["x"] });
    expect(bench.ask("release", { ...only.holder(lease(bench, build)), reason: "no", elsewhere: true }).ok).toBe(true);
  });

  it("is given on once: who has it next says how it ended", () => {
    const bench = new Bench();
    const [first, second] = [bench.agent(), bench.agent()];
    const build = bench.build();
    expect(giveBack(bench, first).ok).toBe(true);
    expect(giveBack(bench, second)).toMatchObject({ ok: false });
    bench.ok("finish", { ...second.holder(lease(bench, build)), status: "failed", reason: "checkout-failed" });
    expect(bench.facts(build)).toMatchObject({ status: "failed", reason: "checkout-failed" });
  });

  it("waits for one that is busy, and no longer than that one is there", () => {
    const bench = new Bench();
    const [first, busy] = [bench.agent(), bench.agent()];
    bench.build();
    const work = busy.work();
    const build = bench.build();
    expect(giveBack(bench, first).ok).toBe(true);
    for (let minute = 0; minute < 10; minute++) {
      bench.pass(50);
      bench.ok("heartbeat", { ...work, bootId: busy.boot });
      expect(first.take()).toBeNull();
    }
    first.wait();
    bench.pushes.length = 0;
    bench.ok("removeAgent", { agentId: busy.id, actor: ACTOR });
    bench.pass(60);
    expect(bench.pushes.filter(({ type }) => type === "look").map(({ agentId }) => agentId)).toContain(first.id);
    expect([work.buildId, build]).toContain(first.take());
  });

  it("ends when it is canceled meanwhile", () => {
    const bench = new Bench();
    const agent = bench.agent();
    bench.agent();
    const build = bench.build();
    const holder = agent.work();
    bench.ok("cancel", { buildId: build, actor: ACTOR });
    bench.ok("release", { ...holder, reason: "no way there", elsewhere: true });
    expect(bench.status(build)).toBe("canceled");
  });
});

const lease = (bench: Bench, buildId: string) => ({ buildId, fence: bench.pool.storage.rows.jobs.get(buildId)!.fence });
