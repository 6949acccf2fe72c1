import { describe, expect, it } from "vitest";
import { nextOfferDue } from "../../../src/domain/pool/step.ts";
import { ACTOR, Bench } from "./bench.ts";

const looks = (bench: Bench) => bench.pushes.filter(({ type }) => type === "look").map(({ agentId }) => agentId);

describe("a build that comes", () => {
  it("wakes one waiter that fits, the one that waits longest", () => {
    const bench = new Bench();
    const [mac, first, second] = [{ platform: 1 }, {}, {}].map((skills) => bench.agent(skills));
    for (const agent of [mac, first, second]) agent?.wait();
    bench.build({ requires: { platform: "linux" } });
    expect(looks(bench)).toEqual([first?.id]);
    bench.build({ requires: { platform: "linux" } });
    expect(looks(bench)).toEqual([first?.id, second?.id]);
  });

  it("wakes another when two seconds have passed without a claim, and no one twice as long as others wait", () => {
    const bench = new Bench();
    const agents = [1, 2].map(() => bench.agent());
    for (const agent of agents) agent.wait();
    bench.build();
    expect(nextOfferDue(bench.pool.state)).toBe(bench.now + 2_000);
    bench.pass(1.999);
    expect(looks(bench)).toHaveLength(1);
    bench.pass(0.001);
    expect(looks(bench)).toEqual(agents.map(({ id }) => id));
  });

  it("leaves a waiter alone that did not follow two hints, until it is heard from", () => {
    const bench = new Bench();
    const agent = bench.agent();
    agent.wait();
    bench.build();
    for (const _ of [1, 2, 3]) bench.pass(2);
    expect(looks(bench)).toHaveLength(2);
    bench.ok("heartbeat", { ...agent.speaker, bootId: agent.boot });
    expect(looks(bench)).toHaveLength(3);
  });

  it("writes nothing for an agent that looks while its own socket is open, and its last sign of life once that closes", () => {
    const bench = new Bench();
    const [own, polls] = [bench.agent(), bench.agent()];
    own.wait();
    const written = (agent: typeof own) => bench.pool.storage.rows.agents.get(agent.id)?.heardAt;
    const registered = written(own);
    for (const agent of [own, polls]) {
      bench.now += 600_000;
      agent.claim();
    }
    expect([written(own), written(polls)]).toEqual([registered, bench.now]);
    bench.ok("leave", { agentId: own.id });
    expect(written(own)).toBe(bench.now);
  });

  it("wakes nobody whose deadline has passed, who left, who drains, or who works", () => {
    const bench = new Bench();
    const [late, gone, draining, busy] = [1, 2, 3, 4].map(() => bench.agent());
    bench.build();
    busy!.work();
    for (const agent of [gone, draining, busy]) agent!.wait();
    late!.wait(bench.now + 1_000);
    bench.ok("leave", { agentId: gone!.id });
    bench.ok("updateAgent", { agentId: draining!.id, change: { isDraining: true }, actor: ACTOR });
    bench.now += 1_000;
    bench.build();
    expect(looks(bench)).toEqual([]);
  });

  it("wakes no more waiters than its pipeline has room for", () => {
    const bench = new Bench();
    for (const _ of [1, 2, 3]) bench.agent().wait();
    for (const _ of [1, 2, 3]) bench.build({ maxParallel: 2 });
    expect(looks(bench)).toHaveLength(2);
  });
});

describe("a waiter that comes", () => {
  it("is told at once when a build waits for it already", () => {
    const bench = new Bench();
    bench.build();
    const agent = bench.agent();
    agent.wait();
    expect(looks(bench)).toEqual([agent.id]);
  });

  it("is told when a build it may have comes back, rests no longer, or gets room", () => {
    const bench = new Bench();
    const [worker, waiter] = [1, 2].map(() => bench.agent());
    bench.build({ maxParallel: 1 });
    bench.build({ maxParallel: 1 });
    const holder = worker!.work();
    waiter!.wait();
    expect(looks(bench)).toEqual([]);
    bench.ok("finish", { ...holder, status: "succeeded", exitCode: 0 });
    expect(looks(bench)).toEqual([waiter!.id]);
    const { buildId, fence } = waiter!.claim()!;
    bench.ok("unclaim", { buildId, fence, notBefore: bench.now + 5_000 });
    expect(looks(bench)).toHaveLength(1);
    bench.pass(5);
    expect(looks(bench)).toHaveLength(2);
  });

  it("passes its hint on when it leaves", () => {
    const bench = new Bench();
    const [first, second] = [1, 2].map(() => bench.agent());
    for (const agent of [first, second]) agent!.wait();
    bench.build();
    bench.ok("leave", { agentId: first!.id });
    expect(looks(bench)).toEqual([first!.id, second!.id]);
  });
});
