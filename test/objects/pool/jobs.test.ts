import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { getRecord } from "../../../src/archive/records.ts";
import type { HostReport } from "../../../src/githosts/core/host-report.ts";
import { AgentPool } from "../../../src/objects/pool/agent-pool.ts";
import type { GraphJob } from "../../../src/pipeline/graph/graph.ts";
import type { NewBuild, PlanOfBuild } from "../../../src/queue/commands/commands.ts";
import { graphJob, graphOf } from "../../queue/jobs/test-build.ts";
import { HOST } from "../../support/arrivals.ts";
import { fakeObjects } from "../../support/objects-by-name.ts";
import { actor, newBuild, type Pool, poolOf, registered, value } from "./support.ts";

const SHA = "a".repeat(40);
const FEATURES = ["environment" as const, "jobs" as const];
type Speaker = Awaited<ReturnType<typeof registered>>;

const graph = (jobs: GraphJob[]) =>
  graphOf(
    jobs.map((job) => ({ ...job, id: crypto.randomUUID() })),
    { hash: "text", commitSha: SHA },
  );

const take = async (pool: Pool, speaker: Speaker) => {
  const grant = value(await pool.claim({ ...speaker, bootId: "b1", features: FEATURES }))!;
  const holder = { ...speaker, jobId: grant.jobId, fence: grant.fence };
  value(await pool.start(holder));
  return { grant, holder };
};

/** Creates a pool with a build whose agent has planned these jobs. */
const planned = async (orgId: string, jobs: GraphJob[], over: Partial<NewBuild> = {}) => {
  const pool = poolOf(orgId);
  const build = newBuild(orgId, over);
  value(await pool.enqueue(build));
  const speaker = await registered(pool, orgId);
  const { holder } = await take(pool, speaker);
  const made = graph(jobs);
  value(await pool.plan({ ...holder, graph: made, text: "jobs: {}", base: null }));
  const idOf = (key: string) => made.jobs.find((job) => job.key === key)!.id;
  return { pool, buildId: build.id, speaker, graph: made, idOf };
};

const rowsOf = (pool: Pool, query: string) =>
  runInDurableObject(pool, (_, { storage }) => storage.sql.exec(query).toArray());

describe("a build with several jobs", () => {
  it("goes from its plan to the archive, D1 and its jobs' records, through evictions", async () => {
    const { pool, buildId, speaker, graph, idOf } = await planned("jobs-life", [
      graphJob("build"),
      graphJob("test", { needs: ["build"] }),
      graphJob("never", { condition: "false" }),
    ]);
    await evictDurableObject(pool);
    const first = await take(pool, speaker);
    expect(first.grant).toMatchObject({
      ...{ jobId: idOf("build"), inputs: "sealed", build: { id: buildId, status: "running", jobs: null } },
      job: { text: "jobs: {}", hash: "text", attempt: 1, needs: {}, decision: null, job: { key: "build" } },
    });
    await evictDurableObject(pool);
    const steps = [
      {
        id: null,
        name: "make",
        status: "succeeded" as const,
        exitCode: 0,
        startedAt: null,
        finishedAt: null,
        logOffset: 0,
      },
    ];
    value(await pool.progress({ ...first.holder, steps }));
    value(await pool.finish({ ...first.holder, status: "succeeded", exitCode: 0, outputs: { list: "[1]" } }));
    await evictDurableObject(pool);
    const live = value(await pool.getBuild(buildId));
    expect(live.jobs?.map(({ key, status, depth }) => [key, status, depth])).toEqual([
      ["build", "succeeded", 0],
      ["test", "queued", 1],
      ["never", "skipped", 0],
    ]);
    const second = await take(pool, speaker);
    expect(second.grant.job?.needs).toMatchObject({ build: { result: "success", outputs: { list: "[1]" } } });
    const counts = { total: 2, failed: 1, skipped: 0, flaky: 0, seconds: 1 };
    const tests = { counts, warnings: 0, hasNews: true, day: "2026-01-02" };
    value(await pool.progress({ ...second.holder, steps, tests }));
    value(await pool.finish({ ...second.holder, status: "failed", exitCode: 3, message: "no" }));
    const ended = value(await pool.getBuild(buildId));
    expect(ended).toMatchObject({ status: "failed", exitCode: 3, commitSha: SHA, waitsFor: [] });
    expect(value(await pool.getJob(idOf("build")))).toMatchObject({ buildId, steps, outputs: { list: "[1]" } });
    // The build's page gets in one call what separate calls return.
    const { tests: testReports } = value(await pool.testsOf(buildId));
    expect(testReports[idOf("test")]).toMatchObject({ counts });
    expect(value(await pool.getRecord(buildId))).toEqual({
      ...ended,
      jobs: ended.jobs!.map((job) => (job.key === "test" ? { ...job, steps } : job)),
      artifacts: value(await pool.artifactsOf(buildId)).artifacts,
      testReports,
    });
    await pool.flush();
    const record = (await getRecord(env.ARCHIVE, { orgId: "jobs-life", id: buildId, finishedAt: ended.finishedAt! }))!;
    expect(record.jobs).toContainEqual(value(await pool.getJob(idOf("build"))));
    expect(record.plan as PlanOfBuild).toEqual(value(await pool.planOf(buildId)));
    expect((record.plan as PlanOfBuild).graph).toEqual(graph);
    const row = env.DB.prepare("SELECT status, jobs FROM build_summary WHERE id = ?").bind(buildId);
    expect(await row.first()).toEqual({
      status: "failed",
      jobs: JSON.stringify({ total: 3, waiting: 0, running: 0, succeeded: 1, failed: 1, stopped: 1 }),
    });
    const { results } = await env.DB.prepare("SELECT id FROM job WHERE build_id = ? ORDER BY id").bind(buildId).all();
    expect(results.map(({ id }) => id)).toEqual(graph.jobs.map(({ id }) => id).sort());
  });

  it("is alone in memory while the archive stores its record, at most 10 in an attempt", async () => {
    const orgId = "jobs-ends";
    const speaker = await registered(poolOf(orgId), orgId);
    let isAway = true;
    let underWay = 0;
    /** For each attempt: how many records were under way whenever another one arrived. */
    const attempts: number[][] = [];
    const put = async (key: string, text: string) => {
      if (isAway) throw new Error("away");
      attempts.at(-1)!.push(underWay);
      underWay += 1;
      await env.ARCHIVE.put(key, text);
      underWay -= 1;
    };
    const ARCHIVE = { put, get: (key: string) => env.ARCHIVE.get(key) } as unknown as R2Bucket;
    const ids: string[] = [];
    await runInDurableObject(poolOf(orgId), async (_object, state) => {
      const object = new AgentPool(state, { ...env, ARCHIVE });
      await state.blockConcurrencyWhile(async () => {});
      for (let made = 0; made < 12; made++) {
        ids.push(value(await object.enqueue(newBuild(orgId))).id);
        const { holder } = await take(object as unknown as Pool, speaker);
        const plan = graph([graphJob("never", { condition: "false" })]);
        value(await object.plan({ ...holder, graph: plan, text: "jobs: {}", base: null }));
      }
      isAway = false;
      while ((await object.metrics()).outbox.builds > 0) {
        attempts.push([]);
        await object.flush();
      }
    });
    expect(attempts).toEqual([Array(10).fill(0), [0, 0]]);
    const query = "SELECT count(*) AS count FROM build_summary WHERE org_id = ? AND jobs IS NOT NULL";
    expect(await env.DB.prepare(query).bind(orgId).first()).toEqual({ count: 12 });
  });

  it("is reported to its git host with the test results of all its jobs", async () => {
    const orgId = "jobs-host";
    const { pool, speaker } = await planned(orgId, [graphJob("a"), graphJob("b")], { host: HOST });
    const said: HostReport[] = [];
    const report = async (reports: HostReport[]) => {
      said.push(...reports);
      return { hearsPhases: false };
    };
    const GIT_HOST = fakeObjects<Env["GIT_HOST"]>(() => ({ report }));
    const held: Awaited<ReturnType<typeof take>>["holder"][] = [];
    for (const failed of [1, 2]) {
      const other = held.length > 0 ? await registered(pool, orgId) : speaker;
      const { holder } = await take(pool, other);
      const counts = { total: 10, failed, skipped: 0, flaky: 0, seconds: 1 };
      const tests = { counts, warnings: 0, hasNews: true, day: "2026-11-23" };
      value(await pool.progress({ ...holder, steps: [], tests }));
      held.push(holder);
    }
    await runInDurableObject(pool, async (_object, state) => {
      const object = new AgentPool(state, { ...env, GIT_HOST });
      await state.blockConcurrencyWhile(async () => {});
      for (const holder of held) value(await object.finish({ ...holder, status: "failed", exitCode: 1 }));
      await object.flush();
    });
    expect(said.at(-1)).toMatchObject({
      state: "failure",
      description: expect.stringMatching(/: 3 of 20 tests failed$/),
    });
  });

  it("leaves nothing behind when it is deleted", async () => {
    const { pool, buildId, speaker } = await planned("jobs-gone", [graphJob("a")]);
    const { holder } = await take(pool, speaker);
    value(await pool.finish({ ...holder, status: "succeeded", exitCode: 0, outputs: { a: "b" } }));
    await pool.flush();
    const { repoId, number, finishedAt } = value(await pool.getBuild(buildId));
    const seen = { repoId, number, finishedAt: Date.parse(finishedAt!) };
    value(await pool.deleteBuild({ buildId, deleted: "build", seen, actor }));
    await pool.flush();
    for (const table of ["build", "plan", "build_job", "output", "report"])
      expect(await rowsOf(pool, `SELECT * FROM ${table}`)).toEqual([]);
    const left = await env.DB.prepare("SELECT id FROM job WHERE build_id = ?").bind(buildId).all();
    expect(left.results).toEqual([]);
  });

  it("fails if its stored plan is damaged, and counts a job with a damaged row as failed", async () => {
    const { pool, buildId } = await planned("jobs-plan", [graphJob("a")]);
    await rowsOf(pool, "UPDATE plan SET facts = '{'");
    await evictDurableObject(pool);
    expect(value(await pool.getBuild(buildId))).toMatchObject({ status: "failed", reason: "agent-error" });
    expect(await pool.deadLetters(0, 10)).toMatchObject([
      { what: `a row of plan: ${buildId}`, reason: "it is not JSON" },
    ]);
    const other = await planned("jobs-row", [graphJob("a"), graphJob("b", { condition: "always()", needs: ["a"] })]);
    await rowsOf(other.pool, `UPDATE build_job SET facts = '{' WHERE id = '${other.idOf("a")}'`);
    await evictDurableObject(other.pool);
    const { holder } = await take(other.pool, other.speaker);
    expect(holder.jobId).toBe(other.idOf("b"));
    value(await other.pool.finish({ ...holder, status: "succeeded", exitCode: 0 }));
    expect(value(await other.pool.getBuild(other.buildId))).toMatchObject({ status: "failed", reason: "agent-error" });
    expect(await other.pool.deadLetters(0, 10)).toMatchObject([{ what: `a row of build_job: ${other.idOf("a")}` }]);
  });
});

/** Returns how many rows the pool changes during `work`, without index rows. */
const rowsWritten = async (pool: Pool, work: () => Promise<unknown>): Promise<number> => {
  const count = async () => Number((await rowsOf(pool, "SELECT total_changes() AS count"))[0]?.count);
  const before = await count();
  await work();
  return (await count()) - before;
};

const runOne = async (pool: Pool, speaker: Speaker): Promise<void> => {
  const { holder } = await take(pool, speaker);
  value(await pool.deliver({ ...holder, environment: null }));
  value(await pool.progress({ ...holder, commitSha: SHA, summary: "done" }));
  value(await pool.finish({ ...holder, status: "succeeded", exitCode: 0 }));
  await pool.flush();
};

describe("a job of a build with several jobs", () => {
  it("costs no more rows than a build with one job", async () => {
    const { pool, speaker, buildId } = await planned("jobs-rows", [
      graphJob("a"),
      graphJob("b", { needs: ["a"] }),
      graphJob("c", { needs: ["b"] }),
    ]);
    const own = poolOf("jobs-rows-one");
    const other = await registered(own, "jobs-rows-one");
    const one = await rowsWritten(own, async () => {
      value(await own.enqueue(newBuild("jobs-rows-one")));
      await runOne(own, other);
    });
    await runOne(pool, speaker);
    const several = await rowsWritten(pool, () => runOne(pool, speaker));
    expect(several).toBeLessThanOrEqual(one);
    await runOne(pool, speaker);
    expect(value(await pool.getBuild(buildId)).status).toBe("succeeded");
  });
});
