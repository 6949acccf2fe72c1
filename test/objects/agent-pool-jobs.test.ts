import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { getRecord, jobIn } from "../../src/archive/records.ts";
import type { GraphJob } from "../../src/domain/jobs/graph.ts";
import type { PlanOfBuild } from "../../src/domain/pool/commands.ts";
import { graphJob, graphOf } from "../domain/jobs/test-build.ts";
import { actor, newBuild, type Pool, poolOf, registered, value } from "./agent-pool-support.ts";

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
  const holder = { ...speaker, buildId: grant.buildId, fence: grant.fence };
  value(await pool.start(holder));
  return { grant, holder };
};

/** A pool with a build whose agent has planned these jobs. */
const planned = async (orgId: string, jobs: GraphJob[]) => {
  const pool = poolOf(orgId);
  const build = newBuild(orgId);
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

describe("a build of several jobs", () => {
  it("goes from its plan to the archive, D1 and its jobs' records, through evictions", async () => {
    const { pool, buildId, speaker, graph, idOf } = await planned("jobs-life", [
      graphJob("build"),
      graphJob("test", { needs: ["build"] }),
      graphJob("never", { condition: "false" }),
    ]);
    await evictDurableObject(pool);
    const first = await take(pool, speaker);
    expect(first.grant).toMatchObject({
      ...{ buildId: idOf("build"), inputs: "sealed", build: { id: buildId, status: "running", jobs: null } },
      job: { buildId, text: "jobs: {}", hash: "text", attempt: 1, needs: {}, decision: null, job: { key: "build" } },
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
    value(await pool.finish({ ...second.holder, status: "failed", exitCode: 3, message: "no" }));
    const ended = value(await pool.getBuild(buildId));
    expect(ended).toMatchObject({ status: "failed", exitCode: 3, commitSha: SHA, waitsFor: [] });
    expect(value(await pool.getJob(idOf("build")))).toMatchObject({ buildId, steps, outputs: { list: "[1]" } });
    await pool.flush();
    const record = (await getRecord(env.ARCHIVE, { orgId: "jobs-life", id: buildId, finishedAt: ended.finishedAt! }))!;
    expect(jobIn(record, idOf("build"))).toEqual(value(await pool.getJob(idOf("build"))));
    expect(record.plan as PlanOfBuild).toEqual(value(await pool.planOf(buildId)));
    expect((record.plan as PlanOfBuild).graph).toEqual(graph);
    const row = env.DB.prepare("SELECT status, jobs FROM build_summary WHERE id = ?").bind(buildId);
    expect(await row.first()).toEqual({ status: "failed", jobs: '{"total":3,"ended":3,"failed":1}' });
    const { results } = await env.DB.prepare("SELECT id FROM job WHERE build_id = ? ORDER BY id").bind(buildId).all();
    expect(results.map(({ id }) => id)).toEqual(graph.jobs.map(({ id }) => id).sort());
  });

  it("leaves nothing where it is deleted", async () => {
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

  it("fails where what was stored of its plan is damaged, and counts a job as failed whose row is", async () => {
    const { pool, buildId } = await planned("jobs-plan", [graphJob("a")]);
    await rowsOf(pool, "UPDATE plan SET facts = '{}'");
    await evictDurableObject(pool);
    expect(value(await pool.getBuild(buildId))).toMatchObject({ status: "failed", reason: "agent-error" });
    const other = await planned("jobs-row", [graphJob("a"), graphJob("b", { condition: "always()", needs: ["a"] })]);
    await rowsOf(other.pool, `UPDATE build_job SET facts = '{' WHERE id = '${other.idOf("a")}'`);
    await evictDurableObject(other.pool);
    const { holder } = await take(other.pool, other.speaker);
    expect(holder.buildId).toBe(other.idOf("b"));
    value(await other.pool.finish({ ...holder, status: "succeeded", exitCode: 0 }));
    expect(value(await other.pool.getBuild(other.buildId))).toMatchObject({ status: "failed", reason: "agent-error" });
    expect(await other.pool.deadLetters(0, 10)).toMatchObject([{ what: `a row of build_job: ${other.idOf("a")}` }]);
  });
});
