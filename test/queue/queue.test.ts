import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { builtToday } from "../../src/queue/state/counts.ts";
import { DeadlineQueue } from "../../src/queue/state/deadline-queue.ts";
import { findEntry } from "../../src/queue/state/decision.ts";
import { requirementKey } from "../../src/queue/state/queue.ts";
import { ACTOR, TestPool } from "./test-pool.ts";

describe("the queue", () => {
  it("assigns builds by priority, and by age among equals", () => {
    const pool = new TestPool();
    const [late, first, urgent, last] = [0, 0, 9, -9].map((priority) => pool.build({ priority }));
    const agents = [1, 2, 3, 4].map(() => pool.agent());
    expect(agents.map((agent) => agent.claimId())).toEqual([urgent, late, first, last]);
  });

  it("never blocks an agent with a build that it cannot take", () => {
    const pool = new TestPool();
    pool.build({ priority: 100, requires: { platform: "macos" } });
    const possible = pool.build();
    expect(pool.agent().claimId()).toBe(possible);
  });

  it("keeps a requeued build's place", () => {
    const pool = new TestPool();
    const first = pool.build();
    pool.build();
    const lost = pool.agent();
    expect(lost.claimId()).toBe(first);
    pool.advance(30);
    expect(pool.agent().claimId()).toBe(first);
  });

  it("leases no more builds of a pipeline than maxParallel, but builds of others meanwhile", () => {
    const pool = new TestPool();
    const [one, two] = [1, 2].map(() => pool.build({ pipelineId: "narrow", maxParallel: 1 }));
    const other = pool.build({ pipelineId: "wide" });
    const first = pool.agent();
    const holder = first.claimAndStart();
    expect(holder.jobId).toBe(one);
    expect(pool.agent().claimId()).toBe(other);
    expect(pool.agent().claimId()).toBeNull();
    pool.ok("finish", { ...holder, status: "succeeded", exitCode: 0 });
    expect(pool.agent().claimId()).toBe(two);
  });

  it("numbers each repository's builds from one", () => {
    const pool = new TestPool();
    const made = ["r", "r", "s", "r"].map((repoId) => pool.facts(pool.build({ repoId })).number);
    expect(made).toEqual([1, 2, 1, 3]);
  });

  it("accepts at most 10,000 queued builds and 5,000 agents", () => {
    const pool = new TestPool();
    const many = (count: number, make: () => unknown) => Array.from({ length: count }, make);
    many(10_000, () => pool.model.state.queue.add(queued(pool.newBuild().id), []));
    expect(pool.refusal("enqueue", pool.newBuild())).toBe("limit-reached");
    const { agents } = pool.model.state;
    pool.agent();
    const [facts] = agents.values();
    many(4_999, () => agents.set(`filler-${agents.size}`, facts!));
    const skills = { platform: 2, canBuildIOS: false, canBuildAndroid: false, canBuildWeb: false };
    const actor = { actor: "token:t", requestId: null };
    const one = { id: "more", orgId: "acme", name: "more", tokenHash: "h", actor, ...skills };
    expect(pool.refusal("registerAgent", one)).toBe("limit-reached");
  });
});

const queued = (id: string) => {
  const pool = new TestPool();
  const buildId = pool.build({ id });
  return findEntry(pool.model.state, buildId)!;
};

describe("the daily limit of builds", () => {
  const NOON = Date.UTC(2026, 4, 4, 12);
  /** Creates a pool at noon with this limit on builds per day. */
  const limited = (buildsPerDay: number) => {
    const pool = new TestPool();
    pool.now = NOON;
    pool.model.context.buildsPerDay = buildsPerDay;
    return pool;
  };
  const cancel = (pool: TestPool, buildId: string) => pool.ok("cancel", { buildId, actor: ACTOR });

  it("holds for all repositories and triggers and despite cancels, until the day ends", () => {
    const pool = limited(3);
    cancel(pool, pool.build({ repoId: "r" }));
    cancel(pool, pool.build({ repoId: "s" }));
    cancel(pool, pool.build({ trigger: "retry" }));
    const answer = pool.call("enqueue", pool.newBuild());
    expect(answer).toMatchObject({ refusal: { kind: "limit-reached", retryAfterSeconds: 12 * 3600 } });
    expect(JSON.stringify(answer)).toContain("today: 3 of 3. Wait until 00:00 UTC");
    pool.now = NOON + 12 * 3600_000 - 1;
    expect(pool.refusal("enqueue", pool.newBuild())).toBe("limit-reached");
    pool.now++;
    for (let n = 0; n < 3; n++) pool.build();
    expect(pool.refusal("enqueue", pool.newBuild())).toBe("limit-reached");
  });

  it("holds after evictions and deletions, and if the clock goes back over midnight", () => {
    const pool = limited(4);
    const ids = [1, 2, 3].map(() => pool.build());
    const remove = (buildId: string) => {
      cancel(pool, buildId);
      const seen = { repoId: "repo", number: 1, finishedAt: pool.now };
      pool.ok("deleteBuild", { buildId, deleted: "build", seen, actor: ACTOR });
    };
    for (const id of ids.toReversed()) {
      remove(id);
      pool.model.reload(pool.now);
      pool.ok("compare", { found: { sequence: 0, complete: pool.model.state.databaseSequence } });
      expect(builtToday(pool.model.state, pool.now)).toBe(3);
    }
    pool.build();
    pool.now -= 13 * 3600_000;
    expect(pool.refusal("enqueue", pool.newBuild())).toBe("limit-reached");
  });

  it("counts a repeated trigger once", () => {
    const pool = limited(1);
    const build = pool.newBuild({ idempotency: { key: "k", caller: "c", bodyHash: "h" } });
    pool.ok("enqueue", build);
    expect(pool.ok("enqueue", { ...build, id: "again" })).toMatchObject({ isNew: false });
    expect(pool.refusal("enqueue", pool.newBuild())).toBe("limit-reached");
  });

  it("is never lower than the organization's limit", () => {
    const pool = limited(1000);
    for (let n = 0; n < 200; n++) cancel(pool, pool.build());
    expect(builtToday(pool.model.state, pool.now)).toBe(200);
  });
});

describe("run values", () => {
  const given = { inputs: "x".repeat(1024 * 1024) };

  it("may have at most 64 MiB in all active builds together", () => {
    const pool = new TestPool();
    const builds = Array.from({ length: 64 }, () => pool.build(given));
    expect(pool.refusal("enqueue", pool.newBuild(given))).toBe("limit-reached");
    pool.ok("enqueue", pool.newBuild({ inputs: null }));
    pool.ok("cancel", { buildId: builds[0]!, actor: ACTOR });
    pool.ok("enqueue", pool.newBuild(given));
    expect(pool.refusal("enqueue", pool.newBuild(given))).toBe("limit-reached");
  });
});

describe("the key for requirements", () => {
  it("is the same text for every spelling", () => {
    const same = [{}, { platform: null }, { ios: false, labels: [] }, { web: null, labels: null }];
    expect(new Set(same.map(requirementKey)).size).toBe(1);
    expect(requirementKey({ labels: ["b", "a"] })).toBe(requirementKey({ labels: ["a", "b"] }));
    const other = [{ ios: true }, { labels: ["ios"] }, { platform: "macos" as const }, { labels: ["a"] }];
    expect(new Set(other.map(requirementKey)).size).toBe(4);
  });
});

describe("the deadline queue", () => {
  it("does not return a removed entry until it is scheduled again", () => {
    const deadlines = new DeadlineQueue();
    deadlines.schedule("a", 5);
    deadlines.schedule("b", 7);
    deadlines.remove("a");
    expect(deadlines.next()).toBe(7);
    deadlines.schedule("a", 6);
    expect(deadlines.takeDue(10)).toEqual(["a", "b"]);
    expect(deadlines.next()).toBeNull();
  });

  it("drops removed entries and delays postponed ones until the first one is right", () => {
    const queue = new DeadlineQueue();
    for (const [at, id] of ["gone", "moved", "right", "later"].entries()) queue.schedule(id, at);
    const asked: string[] = [];
    const actual: Record<string, number> = { moved: 9, right: 2 };
    queue.settle((id) => {
      asked.push(id);
      return actual[id] ?? null;
    });
    expect(asked).toEqual(["gone", "moved", "right"]);
    expect(queue.takeDue(10)).toEqual(["right", "later", "moved"]);
  });

  it("returns each id once, no later than its earliest time, in any order of scheduling", () => {
    const entries = fc.array(fc.tuple(fc.integer({ min: 0, max: 8 }), fc.integer({ min: 0, max: 100 })), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(entries, fc.integer({ min: 0, max: 100 }), (scheduled, now) => {
        const deadlines = new DeadlineQueue();
        const earliest = new Map<string, number>();
        for (const [key, at] of scheduled) {
          deadlines.schedule(`${key}`, at);
          earliest.set(`${key}`, Math.min(at, earliest.get(`${key}`) ?? Infinity));
        }
        const due = [...earliest].filter(([, at]) => at <= now).map(([key]) => key);
        expect(deadlines.takeDue(now).toSorted()).toEqual(due.sort());
        const left = [...earliest.values()].filter((at) => at > now);
        expect(deadlines.next()).toBe(left.length > 0 ? Math.min(...left) : null);
      }),
    );
  });
});
