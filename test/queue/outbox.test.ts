import { describe, expect, it } from "vitest";
import { nothingDelivered } from "../../src/queue/state/outbox.ts";
import { ACTOR, TestPool } from "./test-pool.ts";

/** Returns the result of an attempt that delivers all pending rows to D1. */
const everythingPending = (pool: TestPool) => {
  const { builds, audits } = pool.model.storage.rows;
  const known = [...pool.model.state.outbox.lists.due.keys()].map((buildId) => ({
    buildId,
    version: builds.get(buildId)!.version,
  }));
  return { ...nothingDelivered(), channel: "lists" as const, builds: known, entries: [...audits.keys()] };
};

const flushAt = (pool: TestPool) => pool.model.state.outbox.lists.at;

describe("the outbox", () => {
  it("is empty after an attempt that delivered everything, until the next change", () => {
    const pool = new TestPool();
    pool.build();
    pool.ok("recordDelivery", everythingPending(pool));
    expect(flushAt(pool)).toBeNull();
    const build = pool.build();
    expect(flushAt(pool)).toBe(pool.now + 30_000);
    pool.ok("cancel", { buildId: build, actor: ACTOR });
    expect(flushAt(pool)).toBe(pool.now + 1_000);
  });

  it("reports a build when it is created and when it ends, not between", () => {
    const pool = new TestPool();
    const build = pool.build();
    const agent = pool.agent();
    const attempt = everythingPending(pool);
    const holder = agent.claimAndStart();
    pool.ok("recordDelivery", attempt);
    expect([...pool.model.state.outbox.lists.due.keys()]).toEqual([]);
    pool.ok("finish", { ...holder, status: "succeeded", exitCode: 0 });
    expect([...pool.model.state.outbox.lists.due.keys()]).toEqual([build]);
  });

  it("keeps a build that ended during the attempt that reported its creation", () => {
    const pool = new TestPool();
    const build = pool.build();
    const agent = pool.agent();
    const attempt = everythingPending(pool);
    pool.ok("finish", { ...agent.claimAndStart(), status: "succeeded", exitCode: 0 });
    pool.ok("recordDelivery", attempt);
    expect([...pool.model.state.outbox.lists.due.keys()]).toEqual([build]);
    expect(flushAt(pool)).not.toBeNull();
  });

  it("has separate attempts for logs: a failed close delays neither D1 nor a later close", () => {
    const pool = new TestPool();
    pool.build();
    pool.build();
    pool.ok("finish", { ...pool.agent().claimAndStart(), status: "succeeded", exitCode: 0 });
    for (let round = 0; round < 6; round++) pool.ok("recordDelivery", { channel: "logs", ...nothingDelivered(true) });
    pool.ok("recordDelivery", everythingPending(pool));
    expect(flushAt(pool)).toBeNull();
    expect(pool.model.state.outbox.logs.at).toBe(pool.now + 60_000);
    pool.ok("finish", { ...pool.agent().claimAndStart(), status: "succeeded", exitCode: 0 });
    expect(pool.model.state.outbox.logs.at).toBe(pool.now + 1_000);
  });

  it("keeps an entry from the step that records the attempt", () => {
    const pool = new TestPool();
    pool.build();
    const agent = pool.agent({ isEphemeral: true });
    pool.ok("finish", { ...agent.claimAndStart(), status: "succeeded", exitCode: 0 });
    const attempt = everythingPending(pool);
    pool.now += 60_000;
    pool.ok("recordDelivery", attempt);
    expect(pool.model.storage.rows.audits.size).toBe(1);
    expect(flushAt(pool)).not.toBeNull();
  });

  it("is retried with exponential backoff, at most every minute", () => {
    const pool = new TestPool();
    pool.build();
    const delays = [1, 2, 3, 4, 5, 6, 7, 8].map(() => {
      pool.ok("recordDelivery", { channel: "lists", ...nothingDelivered(true) });
      return flushAt(pool)! - pool.now;
    });
    expect(delays).toEqual([2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
  });
});
