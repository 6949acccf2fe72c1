import { describe, expect, it } from "vitest";
import type { Concurrency } from "../../src/pipeline/graph/graph.ts";
import { graphJob } from "./jobs/test-build.ts";
import { claim, gate, planned, succeed, take } from "./planned.ts";
import { ACTOR, TestPool } from "./test-pool.ts";

const group = (limit: number, whenBusy: Concurrency["whenBusy"] = "wait"): Concurrency => ({
  ...{ group: "Production", limit, whenBusy },
});

describe("a matrix", () => {
  it("has no more jobs leased than max-parallel", () => {
    const pool = new TestPool();
    const [one, two] = [pool.agent(), pool.agent()];
    const matrix = ["1", "2"].map((key) => ({ ...graphJob("m", { maxParallel: 1 }), key: `m ${key}` }));
    const { buildId } = planned(pool, matrix);
    const first = take(one);
    expect(claim(two)).toBeNull();
    succeed(pool, first);
    expect(claim(two)?.jobId).toBe(`${buildId}/m 2`);
  });
});

describe("a pipeline's limit of builds", () => {
  it("counts a build of planned jobs once, from its first lease until it waits for people only", () => {
    const pool = new TestPool();
    const agents = [1, 2, 3].map(() => pool.agent());
    const jobs = [graphJob("a"), graphJob("b"), graphJob("deploy", { needs: ["a", "b"], gate })];
    const { buildId } = planned(pool, jobs, { maxParallel: 1 });
    const next = pool.build({ maxParallel: 1 });
    const [a, b] = [take(agents[0]!), take(agents[1]!)];
    expect([a.jobId, b.jobId]).toEqual([`${buildId}/a`, `${buildId}/b`]);
    succeed(pool, a);
    expect(claim(agents[2]!)).toBeNull();
    succeed(pool, b);
    const holder = take(agents[2]!);
    expect(holder.jobId).toBe(next);
    const person = { role: "admin", name: "Ada", comment: null, actor: ACTOR } as const;
    pool.ok("decideGate", { id: buildId, approved: true, ...person });
    expect(claim(agents[0]!)).toBeNull();
    succeed(pool, holder);
    expect(claim(agents[0]!)?.jobId).toBe(`${buildId}/deploy`);
  });
});

describe("a concurrency group", () => {
  it("is another one for code of strangers, by the ref that it is of", () => {
    const pool = new TestPool();
    const jobs = [graphJob("x", { concurrency: group(1) })];
    /** Whether the job of another build of this source finds room. */
    const hasRoom = (labels: string[], more: object = {}): boolean => {
      planned(pool, jobs, more, pool.agent({ labels }));
      return claim(pool.agent({ labels })) !== null;
    };
    const ofPull = (number: number) =>
      hasRoom(["untrusted"], { trust: "untrusted", branch: `refs/pull/${number}/head` });
    expect([hasRoom([]), hasRoom([])]).toEqual([true, false]);
    expect([ofPull(7), ofPull(8), ofPull(7)]).toEqual([true, true, false]);
  });

  it("has no more jobs leased than the smallest limit of those present, whatever their pipelines", () => {
    const pool = new TestPool();
    const [one, two] = [pool.agent(), pool.agent()];
    const first = planned(pool, [graphJob("x", { concurrency: group(2) })], { pipelineId: "p" });
    const x = take(one);
    const second = planned(pool, [graphJob("y", { concurrency: group(1) })], { pipelineId: "q" });
    expect(claim(two)).toBeNull();
    succeed(pool, x);
    expect(claim(two)?.jobId).toBe(`${second.buildId}/y`);
    expect(pool.status(first.buildId)).toBe("succeeded");
  });

  it("cancels the older build of the same pipeline and ref, and of another build the one job that holds it", () => {
    const pool = new TestPool();
    const [one, two] = [pool.agent(), pool.agent()];
    const jobs = [graphJob("x", { concurrency: group(1, "cancel-running") }), graphJob("then", { needs: ["x"] })];
    const older = planned(pool, jobs);
    const x = take(one);
    const newer = planned(pool, jobs);
    expect(pool.model.storage.rows.builds.get(older.buildId)).toMatchObject({
      ...{ status: "canceling", message: "A newer job took its place in the group Production." },
    });
    pool.ok("finish", { ...x, status: "canceled" });
    expect(pool.facts(older.buildId)).toMatchObject({ status: "canceled", reason: "canceled" });
    const y = take(two);
    expect(y.jobId).toBe(`${newer.buildId}/x`);
    planned(pool, [graphJob("z", { concurrency: group(1, "cancel-running") })], { branch: "release" });
    expect(pool.status(y.jobId)).toBe("canceling");
    expect(pool.status(newer.buildId)).toBe("running");
  });
});
