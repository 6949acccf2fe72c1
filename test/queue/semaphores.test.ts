import { describe, expect, it } from "vitest";
import type { Concurrency } from "../../src/pipeline/graph/graph.ts";
import { graphJob } from "./jobs/test-build.ts";
import { claimNext, gate, newPlannedBuild, startNext, succeed } from "./planned-builds.ts";
import { ACTOR, TestPool } from "./test-pool.ts";

const group = (limit: number, whenBusy: Concurrency["whenBusy"] = "wait"): Concurrency => ({
  ...{ group: "Production", limit, whenBusy },
});

describe("a matrix", () => {
  it("never has more leased jobs than max-parallel", () => {
    const pool = new TestPool();
    const [one, two] = [pool.agent(), pool.agent()];
    const matrix = ["1", "2"].map((key) => ({ ...graphJob("m", { maxParallel: 1 }), key: `m ${key}` }));
    const { buildId } = newPlannedBuild(pool, matrix);
    const first = startNext(one);
    expect(claimNext(two)).toBeNull();
    succeed(pool, first);
    expect(claimNext(two)?.jobId).toBe(`${buildId}/m 2`);
  });
});

describe("a pipeline's limit of parallel builds", () => {
  it("counts a build with planned jobs once, from its first lease until it waits only for people", () => {
    const pool = new TestPool();
    const agents = [1, 2, 3].map(() => pool.agent());
    const jobs = [graphJob("a"), graphJob("b"), graphJob("deploy", { needs: ["a", "b"], gate })];
    const { buildId } = newPlannedBuild(pool, jobs, { maxParallel: 1 });
    const next = pool.build({ maxParallel: 1 });
    const [a, b] = [startNext(agents[0]!), startNext(agents[1]!)];
    expect([a.jobId, b.jobId]).toEqual([`${buildId}/a`, `${buildId}/b`]);
    succeed(pool, a);
    expect(claimNext(agents[2]!)).toBeNull();
    succeed(pool, b);
    const holder = startNext(agents[2]!);
    expect(holder.jobId).toBe(next);
    const person = { role: "admin", name: "Ada", comment: null, actor: ACTOR } as const;
    pool.ok("decideGate", { id: buildId, approved: true, ...person });
    expect(claimNext(agents[0]!)).toBeNull();
    succeed(pool, holder);
    expect(claimNext(agents[0]!)?.jobId).toBe(`${buildId}/deploy`);
  });
});

describe("a concurrency group", () => {
  it("is separate for strangers' code, by its ref", () => {
    const pool = new TestPool();
    const jobs = [graphJob("x", { concurrency: group(1) })];
    /** Reports whether a job can start in another build from this source. */
    const hasRoom = (labels: string[], more: object = {}): boolean => {
      newPlannedBuild(pool, jobs, more, pool.agent({ labels }));
      return claimNext(pool.agent({ labels })) !== null;
    };
    const ofPull = (number: number) =>
      hasRoom(["untrusted"], { trust: "untrusted", branch: `refs/pull/${number}/head` });
    expect([hasRoom([]), hasRoom([])]).toEqual([true, false]);
    expect([ofPull(7), ofPull(8), ofPull(7)]).toEqual([true, true, false]);
  });

  it("never has more leased jobs than the smallest limit among them, across pipelines", () => {
    const pool = new TestPool();
    const [one, two] = [pool.agent(), pool.agent()];
    const first = newPlannedBuild(pool, [graphJob("x", { concurrency: group(2) })], { pipelineId: "p" });
    const x = startNext(one);
    const second = newPlannedBuild(pool, [graphJob("y", { concurrency: group(1) })], { pipelineId: "q" });
    expect(claimNext(two)).toBeNull();
    succeed(pool, x);
    expect(claimNext(two)?.jobId).toBe(`${second.buildId}/y`);
    expect(pool.status(first.buildId)).toBe("succeeded");
  });

  it("cancels the older build of the same pipeline and ref, and only the job that holds it of another build", () => {
    const pool = new TestPool();
    const [one, two] = [pool.agent(), pool.agent()];
    const jobs = [graphJob("x", { concurrency: group(1, "cancel-running") }), graphJob("then", { needs: ["x"] })];
    const older = newPlannedBuild(pool, jobs);
    const x = startNext(one);
    const newer = newPlannedBuild(pool, jobs);
    expect(pool.model.storage.rows.builds.get(older.buildId)).toMatchObject({
      ...{ status: "canceling", message: "A newer job took its place in the group Production." },
    });
    pool.ok("finish", { ...x, status: "canceled" });
    expect(pool.facts(older.buildId)).toMatchObject({ status: "canceled", reason: "canceled" });
    const y = startNext(two);
    expect(y.jobId).toBe(`${newer.buildId}/x`);
    newPlannedBuild(pool, [graphJob("z", { concurrency: group(1, "cancel-running") })], { branch: "release" });
    expect(pool.status(y.jobId)).toBe("canceling");
    expect(pool.status(newer.buildId)).toBe("running");
  });
});
