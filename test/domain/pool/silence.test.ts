import { describe, expect, it } from "vitest";
import { nextDue } from "../../../src/domain/pool/step.ts";
import { Bench } from "./bench.ts";

const DAY = 24 * 60 * 60;

const forgotten = (bench: Bench): string[] =>
  [...bench.pool.storage.rows.entries.values()].flatMap(({ audit }) =>
    audit?.action === "agent.forget" ? [audit.subject] : [],
  );

describe("an agent that nothing is heard of", () => {
  it("is forgotten after ninety days, with its token, and not a second sooner", () => {
    const bench = new Bench();
    const { id, speaker, boot } = bench.agent();
    expect(nextDue(bench.pool.state, bench.pool.context)).toBeLessThanOrEqual(bench.now + 90 * DAY * 1000);
    bench.pass(90 * DAY - 1);
    expect(bench.pool.state.agents.has(id)).toBe(true);
    bench.pass(1);
    expect(forgotten(bench)).toEqual([id]);
    expect(bench.refusal("authenticateAgent", speaker)).toBe("unauthenticated");
    expect(bench.refusal("claim", { ...speaker, bootId: boot })).toBe("unauthenticated");
  });

  it("is kept that was heard of since, that waits, or that has a build in its hands", () => {
    const bench = new Bench();
    const [heard, waiting, silent] = [bench.agent(), bench.agent(), bench.agent()];
    bench.pass(60 * DAY);
    heard.claim();
    waiting.wait();
    const { agent: busy, holder } = bench.busy();
    for (let minute = 0; minute < 5; minute++) {
      bench.pass(50);
      bench.ok("heartbeat", { ...holder, bootId: busy.boot });
    }
    // The clock jumps past everything: it is the lease, and no word, that keeps the busy one.
    bench.now += 91 * DAY * 1000;
    bench.ask("sweep", null);
    expect(forgotten(bench).sort()).toEqual([heard.id, silent.id].sort());
    expect(bench.pool.state.agents.has(waiting.id)).toBe(true);
    expect(bench.pool.state.index.holding.get(busy.id)).toBe(holder.buildId);
  });

  it("goes a hundred at a time, the rest with the next look, for which an alarm is set", () => {
    const bench = new Bench();
    for (let n = 0; n < 250; n++) bench.agent();
    bench.now += 91 * DAY * 1000;
    const left = [1, 2, 3].map(() => {
      expect(nextDue(bench.pool.state, bench.pool.context)).toBeLessThanOrEqual(bench.now);
      bench.ask("sweep", null);
      return bench.pool.state.agents.size;
    });
    expect(left).toEqual([150, 50, 0]);
  });

  it("is known by what was written down: one with a socket of its own leaves a word there now and then", () => {
    const bench = new Bench();
    const agent = bench.agent();
    agent.wait();
    for (let week = 0; week < 20; week++) {
      bench.pass(7 * DAY);
      agent.claim();
    }
    bench.pool.reload([]);
    bench.pass(30 * DAY);
    expect(forgotten(bench)).toEqual([]);
    bench.pass(61 * DAY);
    expect(forgotten(bench)).toEqual([agent.id]);
  });
});
