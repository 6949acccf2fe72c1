import { describe, expect, it } from "vitest";
import { Bench } from "./bench.ts";

/** What one attempt takes, as it was when the attempt began. */
const taken = (bench: Bench) => {
  const { builds, dirty, entries } = bench.pool.storage.rows;
  const known = [...dirty].map((buildId) => ({ buildId, version: builds.get(buildId)!.version }));
  return { builds: known, entries: [...entries.keys()], failed: false };
};

const flushAt = (bench: Bench) => bench.pool.state.flush.at;

describe("the outbox", () => {
  it("is empty after an attempt that took everything, and full again with the next change", () => {
    const bench = new Bench();
    bench.build();
    bench.ok("flushed", taken(bench));
    expect(flushAt(bench)).toBeNull();
    bench.build();
    expect(flushAt(bench)).toBe(bench.now + 1_000);
  });

  it("keeps what changed while an attempt was under way", () => {
    const bench = new Bench();
    bench.build();
    const agent = bench.agent();
    const attempt = taken(bench);
    agent.work();
    bench.ok("flushed", attempt);
    expect(bench.pool.storage.rows.dirty.size).toBe(1);
    expect(flushAt(bench)).not.toBeNull();
  });

  it("keeps a letter that is appended by the very step that ends an attempt", () => {
    const bench = new Bench();
    bench.build();
    const agent = bench.agent({ isEphemeral: true });
    bench.ok("finish", { ...agent.work(), status: "succeeded", exitCode: 0 });
    const attempt = taken(bench);
    bench.now += 60_000;
    bench.ok("flushed", attempt);
    expect(bench.pool.storage.rows.entries.size).toBe(1);
    expect(flushAt(bench)).not.toBeNull();
  });

  it("is tried again ever more patiently, at most a minute apart", () => {
    const bench = new Bench();
    bench.build();
    const delays = [1, 2, 3, 4, 5, 6, 7, 8].map(() => {
      bench.ok("flushed", { builds: [], entries: [], failed: true });
      return flushAt(bench)! - bench.now;
    });
    expect(delays).toEqual([2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
  });
});
