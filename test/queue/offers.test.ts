import { describe, expect, it } from "vitest";
import { nextOfferDue } from "../../src/queue/commands/step.ts";
import { ACTOR, TestPool } from "./test-pool.ts";

const looks = (pool: TestPool) => pool.pushes.filter(({ type }) => type === "look").map(({ agentId }) => agentId);

describe("a new build", () => {
  it("is offered to the capable agent that has waited longest", () => {
    const pool = new TestPool();
    const [mac, first, second] = [{ platform: 1 }, {}, {}].map((skills) => pool.agent(skills));
    for (const agent of [mac, first, second]) agent?.wait();
    pool.build({ requires: { platform: "linux" } });
    expect(looks(pool)).toEqual([first?.id]);
    pool.build({ requires: { platform: "linux" } });
    expect(looks(pool)).toEqual([first?.id, second?.id]);
  });

  it("is offered to another agent after two seconds without a claim, and to no agent twice before the others", () => {
    const pool = new TestPool();
    const agents = [1, 2].map(() => pool.agent());
    for (const agent of agents) agent.wait();
    pool.build();
    expect(nextOfferDue(pool.model.state)).toBe(pool.now + 2_000);
    pool.advance(1.999);
    expect(looks(pool)).toHaveLength(1);
    pool.advance(0.001);
    expect(looks(pool)).toEqual(agents.map(({ id }) => id));
  });

  it("is not offered to an agent that ignored two offers until that agent makes contact", () => {
    const pool = new TestPool();
    const agent = pool.agent();
    agent.wait();
    pool.build();
    for (const _ of [1, 2, 3]) pool.advance(2);
    expect(looks(pool)).toHaveLength(2);
    pool.ok("heartbeat", { ...agent.credentials, bootId: agent.bootId });
    expect(looks(pool)).toHaveLength(3);
  });

  it("stores no contact of an agent while its socket is open, only the last one when the socket closes", () => {
    const pool = new TestPool();
    const [own, polls] = [pool.agent(), pool.agent()];
    own.wait();
    const written = (agent: typeof own) => pool.model.storage.rows.agents.get(agent.id)?.heardAt;
    const registered = written(own);
    for (const agent of [own, polls]) {
      pool.now += 600_000;
      agent.claim();
    }
    expect([written(own), written(polls)]).toEqual([registered, pool.now]);
    pool.ok("leave", { agentId: own.id });
    expect(written(own)).toBe(pool.now);
  });

  it("is not offered to agents that timed out, left, are draining or are busy", () => {
    const pool = new TestPool();
    const [late, gone, draining, busy] = [1, 2, 3, 4].map(() => pool.agent());
    pool.build();
    busy!.claimAndStart();
    for (const agent of [gone, draining, busy]) agent!.wait();
    late!.wait(pool.now + 1_000);
    pool.ok("leave", { agentId: gone!.id });
    pool.ok("updateAgent", { agentId: draining!.id, change: { isDraining: true }, actor: ACTOR });
    pool.now += 1_000;
    pool.build();
    expect(looks(pool)).toEqual([]);
  });

  it("is not offered beyond its pipeline's limit", () => {
    const pool = new TestPool();
    for (const _ of [1, 2, 3]) pool.agent().wait();
    for (const _ of [1, 2, 3]) pool.build({ maxParallel: 2 });
    expect(looks(pool)).toHaveLength(2);
  });
});

describe("an agent that begins to wait", () => {
  it("gets an offer at once when a build is queued for it", () => {
    const pool = new TestPool();
    pool.build();
    const agent = pool.agent();
    agent.wait();
    expect(looks(pool)).toEqual([agent.id]);
  });

  it("gets an offer when a build is requeued, a delay ends, or its pipeline has room", () => {
    const pool = new TestPool();
    const [worker, waiter] = [1, 2].map(() => pool.agent());
    pool.build({ maxParallel: 1 });
    pool.build({ maxParallel: 1 });
    const holder = worker!.claimAndStart();
    waiter!.wait();
    expect(looks(pool)).toEqual([]);
    pool.ok("finish", { ...holder, status: "succeeded", exitCode: 0 });
    expect(looks(pool)).toEqual([waiter!.id]);
    const { jobId, fence } = waiter!.claim()!;
    pool.ok("unclaim", { jobId, fence, notBefore: pool.now + 5_000 });
    expect(looks(pool)).toHaveLength(1);
    pool.advance(5);
    expect(looks(pool)).toHaveLength(2);
  });

  it("passes its offer on when it leaves", () => {
    const pool = new TestPool();
    const [first, second] = [1, 2].map(() => pool.agent());
    for (const agent of [first, second]) agent!.wait();
    pool.build();
    pool.ok("leave", { agentId: first!.id });
    expect(looks(pool)).toEqual([first!.id, second!.id]);
  });
});
