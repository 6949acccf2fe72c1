import { describe, expect, it } from "vitest";
import { TestPool } from "./test-pool.ts";

/** The result of an attempt that delivers everything pending now. */
const everythingPending = (pool: TestPool) => {
  const { builds, dirty, entries } = pool.model.storage.rows;
  const known = [...dirty].map((buildId) => ({ buildId, version: builds.get(buildId)!.version }));
  return { builds: known, entries: [...entries.keys()], failed: false };
};

const flushAt = (pool: TestPool) => pool.model.state.flush.at;

describe("the outbox", () => {
  it("is empty after an attempt that delivered everything, until the next change", () => {
    const pool = new TestPool();
    pool.build();
    pool.ok("recordFlush", everythingPending(pool));
    expect(flushAt(pool)).toBeNull();
    pool.build();
    expect(flushAt(pool)).toBe(pool.now + 1_000);
  });

  it("keeps what changed during an attempt", () => {
    const pool = new TestPool();
    pool.build();
    const agent = pool.agent();
    const attempt = everythingPending(pool);
    agent.claimAndStart();
    pool.ok("recordFlush", attempt);
    expect(pool.model.storage.rows.dirty.size).toBe(1);
    expect(flushAt(pool)).not.toBeNull();
  });

  it("keeps an entry that the step which records the attempt appends", () => {
    const pool = new TestPool();
    pool.build();
    const agent = pool.agent({ isEphemeral: true });
    pool.ok("finish", { ...agent.claimAndStart(), status: "succeeded", exitCode: 0 });
    const attempt = everythingPending(pool);
    pool.now += 60_000;
    pool.ok("recordFlush", attempt);
    expect(pool.model.storage.rows.entries.size).toBe(1);
    expect(flushAt(pool)).not.toBeNull();
  });

  it("is retried with exponential backoff, at most every minute", () => {
    const pool = new TestPool();
    pool.build();
    const delays = [1, 2, 3, 4, 5, 6, 7, 8].map(() => {
      pool.ok("recordFlush", { builds: [], entries: [], failed: true });
      return flushAt(pool)! - pool.now;
    });
    expect(delays).toEqual([2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
  });
});
