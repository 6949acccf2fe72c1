import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BuildReason } from "../../src/protocol/build-states.ts";
import { explainJob } from "../../src/queue/read/explain-jobs.ts";
import { graphJob } from "./jobs/test-build.ts";
import { claimNext, gate, newPlannedBuild, startNext, succeed } from "./planned-builds.ts";
import { ACTOR, TestPool } from "./test-pool.ts";

type Holder = ReturnType<typeof startNext>;

const fail = (pool: TestPool, holder: Holder, more: object = {}) =>
  pool.ok("finish", { ...holder, status: "failed", exitCode: 3, ...more });

const endOf = (pool: TestPool, id: string) => pool.job(id).end ?? null;

/** Creates a build with one job that has more tries, and an agent that has started the first. */
const started = (retry: number, more: Parameters<typeof graphJob>[1] = {}) => {
  const pool = new TestPool();
  const { buildId, agent } = newPlannedBuild(pool, [graphJob("test", { retry, ...more })]);
  return { pool, buildId, id: `${buildId}/test`, agent, first: startNext(agent) };
};

describe("a job with retries in its file", () => {
  it("returns to the queue when its steps fail, and says why", () => {
    const { pool, buildId, id, agent, first } = started(1);
    fail(pool, first, { message: "Step make failed." });
    expect(pool.status(buildId)).toBe("running");
    expect(pool.job(id)).toMatchObject({ status: "queued", attempt: 1, startedAt: null });
    const message = "Attempt 1 failed with exit code 3: retrying the job. Step make failed.";
    expect(pool.message(id)).toBe(message);
    const second = startNext(agent);
    expect(second.fence).toBeGreaterThan(first.fence);
    expect(pool.message(id)).toBe(message);
    succeed(pool, second);
    expect(endOf(pool, id)).toMatchObject({ status: "succeeded", attempt: 2, retries: 1, fence: second.fence });
    expect(pool.facts(buildId)).toMatchObject({ status: "succeeded", exitCode: 0 });
    expect(pool.message(buildId)).toBe("1 job passed after a retry: test.");
  });

  it("fails with its last try", () => {
    const { pool, buildId, id, agent, first } = started(2);
    fail(pool, first);
    fail(pool, startNext(agent));
    fail(pool, startNext(agent), { exitCode: 9, message: "the last" });
    expect(endOf(pool, id)).toMatchObject({ status: "failed", exitCode: 9, attempt: 3, retries: 2 });
    expect(pool.facts(buildId)).toMatchObject({ status: "failed", exitCode: 9 });
    expect(pool.message(buildId)).toBe("the last");
  });

  it("stores no tries if it has only one", () => {
    const pool = new TestPool();
    const { buildId, agent } = newPlannedBuild(pool, [graphJob("test")]);
    fail(pool, startNext(agent));
    const { jobs, graphs } = pool.model.storage.rows;
    const rows = [jobs.get(`${buildId}/test`), graphs.get(buildId)];
    expect(JSON.stringify(rows)).not.toMatch(/retr/);
    expect(pool.status(buildId)).toBe("failed");
  });

  const reasons = BuildReason.options.filter((reason) => reason !== "timeout");
  it.each(reasons)("is not retried after %s", (reason) => {
    const { pool, id, first } = started(2);
    fail(pool, first, { reason });
    expect(endOf(pool, id)).toMatchObject({ status: "failed", attempt: 1 });
  });

  it("is not retried if it reports a cancel that nobody requested", () => {
    const { pool, id, first } = started(2);
    pool.ok("finish", { ...first, status: "canceled" });
    expect(endOf(pool, id)).toMatchObject({ status: "failed", reason: "agent-error" });
  });

  it.each(["its agent answers", "its agent is silent"])("has its full timeout for each try, if %s", (how) => {
    const { pool, id, agent, first } = started(1, { timeoutSeconds: 50 });
    const runOut = (holder: Holder) => {
      pool.advance(50);
      if (how === "its agent answers") fail(pool, holder, { reason: "timeout" });
      else pool.advance(12);
    };
    runOut(first);
    expect(pool.job(id)).toMatchObject({ status: "queued", attempt: 1 });
    const second = startNext(agent);
    pool.advance(40);
    expect(pool.status(id)).toBe("running");
    pool.ok("heartbeat", { ...second, bootId: agent.bootId });
    runOut(second);
    expect(endOf(pool, id)).toMatchObject({ status: "failed", reason: "timeout", attempt: 2, retries: 1 });
  });

  it("gets the same answer for the same result until the next lease", () => {
    const { pool, id, agent, first } = started(1);
    fail(pool, first);
    fail(pool, first);
    expect(pool.job(id).retries).toBe(1);
    expect(pool.refusal("finish", { ...first, status: "succeeded" })).toBe("conflict");
    const stranger = pool.agent();
    expect(pool.refusal("finish", { ...first, ...stranger.credentials, status: "failed", exitCode: 3 })).toBe(
      "lease-lost",
    );
    const second = startNext(agent);
    expect(pool.refusal("finish", { ...first, status: "failed", exitCode: 3 })).toBe("lease-lost");
    for (const late of ["progress", "start"] as const) expect(pool.refusal(late, first)).toBe("lease-lost");
    succeed(pool, second);
    expect(pool.refusal("finish", { ...first, status: "failed", exitCode: 3 })).toBe("lease-lost");
  });

  it("drops the outputs of a failed try", () => {
    const { pool, id, agent, first } = started(1);
    pool.ok("finish", { ...first, status: "failed", exitCode: 1, outputs: { list: "of the first" } });
    expect(pool.model.storage.outputs(id)).toEqual({});
    succeed(pool, startNext(agent));
    expect(pool.model.storage.outputs(id)).toEqual({});
  });

  it("keeps its place in the queue before later jobs", () => {
    const pool = new TestPool();
    const { agent } = newPlannedBuild(pool, [graphJob("a", { retry: 1 }), graphJob("b"), graphJob("c")]);
    const first = startNext(agent);
    fail(pool, first);
    expect(claimNext(agent)?.jobId).toBe(first.jobId);
  });
});

describe("a job between failed tries", () => {
  it("does not end a matrix, start jobs that need it, or close its gate", () => {
    const pool = new TestPool();
    const matrix = (v: string) => ({ key: `test (${v})`, matrix: { v }, failFast: true, retry: 1 });
    const { buildId, agent } = newPlannedBuild(pool, [
      graphJob("test", matrix("1")),
      graphJob("test", matrix("2")),
      graphJob("after", { needs: ["test"] }),
      graphJob("deploy", { gate, retry: 1 }),
    ]);
    const [one, two] = ["1", "2"].map((v) => `${buildId}/test (${v})`) as [string, string];
    pool.ok("decideGate", { id: `${buildId}/deploy`, approved: true, role: "maintainer", name: "Ada", ...DECISION });
    const others = [pool.agent(), pool.agent()].map(startNext);
    const first = startNext(agent);
    expect([first, ...others].map(({ jobId: id }) => id).sort()).toEqual([`${buildId}/deploy`, one, two].sort());
    const of = (id: string) => [first, ...others].find((holder) => holder.jobId === id)!;
    const { seq, queuedAt, gate: approved } = pool.job(`${buildId}/deploy`);
    fail(pool, of(`${buildId}/deploy`));
    expect(pool.job(`${buildId}/deploy`)).toMatchObject({ status: "queued", seq, queuedAt, gate: approved });
    fail(pool, of(one));
    expect(pool.status(two)).toBe("running");
    expect(pool.status(`${buildId}/after`)).toBe("waiting");
    const again = [startNext(pool.agent()), startNext(pool.agent())].find(({ jobId: id }) => id === one)!;
    fail(pool, again);
    expect(pool.status(two)).toBe("canceling");
    expect(endOf(pool, `${buildId}/after`)).toBeNull();
  });

  it("frees its semaphores while it waits", () => {
    const pool = new TestPool();
    const concurrency = { group: "deploy", limit: 1, whenBusy: "wait" as const };
    const { agent } = newPlannedBuild(pool, [
      graphJob("a", { retry: 1, concurrency, requires: { labels: ["x"] } }),
      graphJob("b", { concurrency }),
    ]);
    const able = pool.agent({ labels: ["x"] });
    const first = startNext(able);
    expect(claimNext(agent)).toBeNull();
    fail(pool, first);
    expect(claimNext(agent)?.jobId).toMatch(/b$/);
    expect(claimNext(able)).toBeNull();
  });

  it.each(["the build", "the job"])("ends its wait by a cancel of %s", (what) => {
    const { pool, buildId, id, agent, first } = started(1);
    fail(pool, first);
    pool.ok("cancel", { buildId: what === "the job" ? id : buildId, actor: ACTOR });
    expect(endOf(pool, id)).toMatchObject({ status: "canceled", attempt: 1, retries: 1 });
    expect(pool.status(buildId)).toBe("canceled");
    expect(claimNext(agent)).toBeNull();
    fail(pool, first);
    expect(endOf(pool, id)).toMatchObject({ status: "canceled" });
  });

  it("is not failed by a cancel while it runs", () => {
    const { pool, id, first } = started(2);
    pool.ok("cancel", { buildId: id, actor: ACTOR });
    fail(pool, first);
    expect(endOf(pool, id)).toMatchObject({ status: "canceled", attempt: 1 });
  });

  it("has its tries as cleanup of a canceled build, within the cleanup time", () => {
    const pool = new TestPool();
    const { buildId, agent } = newPlannedBuild(pool, [graphJob("clean", { condition: "always()", retry: 2 })]);
    const first = startNext(agent);
    pool.ok("cancel", { buildId, actor: ACTOR });
    fail(pool, first);
    expect(pool.status(`${buildId}/clean`)).toBe("queued");
    pool.advance(301);
    expect(endOf(pool, `${buildId}/clean`)).toMatchObject({ status: "canceled" });
    expect(pool.status(buildId)).toBe("canceled");
  });

  it("survives an eviction of the pool", () => {
    const { pool, id, agent, first } = started(1);
    fail(pool, first);
    pool.model.reload(pool.now);
    pool.ok("compare", { found: { sequence: 0, complete: 0 } });
    fail(pool, first);
    const second = startNext(agent);
    pool.model.reload(pool.now);
    pool.ok("compare", { found: { sequence: 0, complete: 0 } });
    fail(pool, second);
    expect(endOf(pool, id)).toMatchObject({ status: "failed", attempt: 2, retries: 1 });
  });
});

const DECISION = { actor: ACTOR, comment: null };

describe("lost leases and failed tries", () => {
  const lose = (pool: TestPool, holder: Holder) =>
    pool.ok("release", { ...holder, reason: "stopped", interrupted: true });

  it("are counted separately, in any order", () => {
    const order = fc.array(fc.constantFrom("lost" as const, "failed" as const), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(order, fc.integer({ min: 0, max: 2 }), fc.integer({ min: 1, max: 3 }), (ends, retry, maxAttempts) => {
        const pool = new TestPool();
        const job = graphJob("test", retry === 0 ? {} : { retry });
        const { buildId, agent } = newPlannedBuild(pool, [job], { maxAttempts });
        const id = `${buildId}/test`;
        let [lost, failed, starts] = [0, 0, 0];
        for (const end of ends) {
          const holder = startNext(agent);
          starts++;
          if (end === "lost") lose(pool, holder);
          else fail(pool, holder);
          if (end === "lost") lost++;
          else failed++;
          const isOver = lost === maxAttempts || failed > retry;
          expect(endOf(pool, id) !== null).toBe(isOver);
          if (isOver) {
            const reason = lost === maxAttempts ? "agent-lost" : null;
            expect(endOf(pool, id)).toMatchObject({ status: "failed", reason, attempt: starts });
            return;
          }
          expect(pool.job(id)).toMatchObject({ attempt: starts });
          expect(pool.job(id).retries ?? 0).toBe(failed);
        }
      }),
      { numRuns: 150 },
    );
  });
});

describe("the explanation of a job's wait for its next try", () => {
  it("includes the tries that failed", () => {
    const { pool, id, agent, first } = started(2);
    fail(pool, first);
    expect(explainOf(pool, id)).toMatch(/^1 try of at most 3 failed\. /);
    fail(pool, startNext(agent));
    expect(explainOf(pool, id)).toMatch(/^2 tries of at most 3 failed\. /);
  });
});

const explainOf = (pool: TestPool, id: string): string | undefined =>
  explainJob(pool.model.state, pool.job(id), pool.model.context, () => pool.now).message;
