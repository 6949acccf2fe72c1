import { describe, expect, it } from "vitest";
import { nextDue } from "../../src/queue/commands/step.ts";
import { sweep } from "../../src/queue/commands/sweep.ts";
import { apply } from "../../src/queue/state/apply.ts";
import type { DueIds } from "../../src/queue/state/deadlines.ts";
import { OFFER_MS } from "../../src/queue/state/rules.ts";
import { DEADLINE_KINDS } from "../../src/queue/state/state.ts";
import { TestPool } from "./test-pool.ts";

const DAY = 24 * 60 * 60;

const forgotten = (pool: TestPool): string[] =>
  [...pool.model.storage.rows.audits.values()].flatMap(({ action, subject }) =>
    action === "agent.forget" ? [subject] : [],
  );

describe("a silent agent", () => {
  it("is removed with its token after ninety days, and not a second earlier", () => {
    const pool = new TestPool();
    const { id, credentials, bootId } = pool.agent();
    expect(nextDue(pool.model.state, pool.model.context)).toBeLessThanOrEqual(pool.now + 90 * DAY * 1000);
    pool.advance(90 * DAY - 1);
    expect(pool.model.state.agents.has(id)).toBe(true);
    pool.advance(1);
    expect(forgotten(pool)).toEqual([id]);
    expect(pool.refusal("authenticateAgent", credentials)).toBe("unauthenticated");
    expect(pool.refusal("claim", { ...credentials, bootId: bootId })).toBe("unauthenticated");
  });

  it("is kept if it made contact, waits, or holds a build", () => {
    const pool = new TestPool();
    const [heard, waiting, silent] = [pool.agent(), pool.agent(), pool.agent()];
    pool.advance(60 * DAY);
    heard.claim();
    waiting.wait();
    const { agent: busy, holder } = pool.busyAgent();
    for (let minute = 0; minute < 5; minute++) {
      pool.advance(50);
      pool.ok("heartbeat", { ...holder, bootId: busy.bootId });
    }
    // The clock passes every limit. The busy agent stays because of its lease, not because of a message.
    pool.now += 91 * DAY * 1000;
    pool.call("sweep", null);
    expect(forgotten(pool).sort()).toEqual([heard.id, silent.id].sort());
    expect(pool.model.state.agents.has(waiting.id)).toBe(true);
    expect(pool.model.state.index.holding.get(busy.id)).toBe(holder.jobId);
  });

  it("stops waiting, even if an ignored offer is withdrawn in the same step", () => {
    const pool = new TestPool();
    const { state } = pool.model;
    const agent = pool.agent({ isEphemeral: true });
    agent.wait();
    pool.build();
    const jobId = state.index.offered.get(agent.id)!;
    apply(state, [{ kind: "agent", agent: { ...state.agents.get(agent.id)!, spentAt: pool.now } }]);
    pool.now += OFFER_MS;
    const none = Object.fromEntries(DEADLINE_KINDS.map((kind) => [kind, []])) as unknown as DueIds;
    const due = { ...none, silence: [], offer: [jobId], retirement: [agent.id] };
    const { changes } = sweep(state, due, { ...pool.model.context, now: pool.now });
    apply(state, changes);
    expect(state.agents.has(agent.id)).toBe(false);
    expect([...state.waiters.keys()]).toEqual([]);
    expect(state.index.offered.size).toBe(0);
  });

  it("is removed with at most 99 others in one step, and an alarm is set for the rest", () => {
    const pool = new TestPool();
    for (let n = 0; n < 250; n++) pool.agent();
    pool.now += 91 * DAY * 1000;
    const left = [1, 2, 3].map(() => {
      expect(nextDue(pool.model.state, pool.model.context)).toBeLessThanOrEqual(pool.now);
      pool.call("sweep", null);
      return pool.model.state.agents.size;
    });
    expect(left).toEqual([150, 50, 0]);
  });

  it("is judged by its stored contact, which agents with a socket update regularly", () => {
    const pool = new TestPool();
    const agent = pool.agent();
    agent.wait();
    for (let week = 0; week < 20; week++) {
      pool.advance(7 * DAY);
      agent.claim();
    }
    pool.model.reload(pool.now);
    pool.advance(30 * DAY);
    expect(forgotten(pool)).toEqual([]);
    pool.advance(61 * DAY);
    expect(forgotten(pool)).toEqual([agent.id]);
  });
});

describe("an ephemeral agent without a build", () => {
  const MINUTE = 60;

  it("is removed once if it also was silent for the time after which the pool forgets agents", () => {
    const pool = new TestPool();
    const unused = pool.agent({ isEphemeral: true });
    const spent = pool.agent({ isEphemeral: true });
    pool.build();
    pool.ok("finish", { ...spent.claimAndStart(), status: "succeeded", exitCode: 0 });
    pool.now += 91 * DAY * 1000;
    pool.call("sweep", null);
    expect(pool.model.state.agents.size).toBe(0);
    const removals = [...pool.model.storage.rows.audits.values()].filter(({ action }) => /forget|remove/.test(action));
    expect(removals.map(({ action, subject }) => `${action} ${subject}`).sort()).toEqual([
      `agent.forget ${unused.id}`,
      `agent.remove ${spent.id}`,
    ]);
  });

  const isThere = (pool: TestPool, id: string) => pool.model.state.agents.has(id);

  it("is removed an hour after its last contact, even if it never waited", () => {
    const pool = new TestPool();
    const [never, polled, lasting] = [
      pool.agent({ isEphemeral: true }),
      pool.agent({ isEphemeral: true }),
      pool.agent(),
    ];
    pool.advance(30 * MINUTE);
    polled.claim();
    expect(nextDue(pool.model.state, pool.model.context)).toBeLessThanOrEqual(pool.now + 30 * MINUTE * 1000);
    pool.advance(30 * MINUTE - 1);
    expect(forgotten(pool)).toEqual([]);
    pool.advance(1);
    expect(forgotten(pool)).toEqual([never.id]);
    pool.advance(30 * MINUTE);
    expect(forgotten(pool)).toEqual([never.id, polled.id]);
    expect(isThere(pool, lasting.id)).toBe(true);
  });

  it("is kept while it waits or builds, and for an hour after it leaves", () => {
    const pool = new TestPool();
    const [waiting, left] = [pool.agent({ isEphemeral: true }), pool.agent({ isEphemeral: true })];
    waiting.wait();
    left.wait();
    pool.advance(5 * 60 * MINUTE);
    pool.ok("leave", { agentId: left.id });
    pool.advance(59 * MINUTE);
    expect(forgotten(pool)).toEqual([]);
    pool.advance(MINUTE);
    expect(forgotten(pool)).toEqual([left.id]);
    expect(isThere(pool, waiting.id)).toBe(true);
  });

  it("has an hour from the wake if its socket was lost with the object, and its full time otherwise", () => {
    const pool = new TestPool();
    const [lost, kept] = [pool.agent({ isEphemeral: true }), pool.agent({ isEphemeral: true })];
    lost.wait();
    kept.wait();
    pool.advance(5 * 60 * MINUTE);
    const sockets = new Map([[kept.id, { until: null, hasOwn: true, kept: null }]]);
    pool.model.reload(pool.now, sockets);
    pool.advance(59 * MINUTE);
    expect(forgotten(pool)).toEqual([]);
    pool.model.reload(pool.now, sockets);
    pool.advance(MINUTE);
    expect(forgotten(pool)).toEqual([lost.id]);
    expect(isThere(pool, kept.id)).toBe(true);
  });
});
