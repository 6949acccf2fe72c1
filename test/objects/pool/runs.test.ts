import { runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import { MOST_RUNS } from "../../../src/protocol/agent.ts";
import { finishNewJob, newBuildSetup, triggerBuild } from "../../support/build-setup.ts";
import { callWithLease, finishNextJob, planNextBuild, startNextJob } from "../../support/jobs.ts";
import { type Pool, poolOf } from "./support.ts";

const TWO_HOURS_MS = 2 * 60 * 60 * 1000;
const FILE = `
jobs:
  lint:
    steps: [{ run: "true" }]
  test:
    needs: [lint]
    steps: [{ run: "true" }]
`;

/** Changes the pool's rows, as if it had written them that way. */
const rewrite = (pool: Pool, query: string, ...bindings: unknown[]) =>
  runInDurableObject(pool, (_, state) => void state.storage.sql.exec(query, ...bindings));

const stage = async () => {
  const setup = await newBuildSetup();
  return { ...setup, pool: poolOf(setup.orgId), run: async () => (await finishNewJob(setup)).build };
};

describe("the runs of agents", () => {
  it("are their builds with current jobs, even before D1 has the ends", async () => {
    const { pool, admin, pipeline, agent, run } = await stage();
    const told = await run();
    await pool.flush();
    const untold = await run();
    const { id } = await triggerBuild(admin, pipeline.id);
    await startNextJob(agent);
    const [now, ...ended] = await pool.runs([agent.id]);
    const shared = { agentId: agent.id, jobId: null, pipelineId: pipeline.id };
    expect(now).toMatchObject({ ...shared, buildId: id, status: "running", finishedAt: null });
    expect(now?.startedAt).toBeGreaterThan(0);
    expect(ended.map(({ buildId }) => buildId).sort()).toEqual([told.id, untold.id].sort());
    for (const one of ended) {
      expect(one).toMatchObject({ ...shared, status: "succeeded" });
      expect(one.finishedAt).toBeGreaterThanOrEqual(one.startedAt);
    }
    expect(ended.map(({ number }) => number).sort()).toEqual([told.number, untold.number]);
    expect(await pool.runs([crypto.randomUUID()])).toEqual([]);
    expect(await pool.runs([])).toEqual([]);
  });

  it("are single jobs of a build with several jobs, during the build and afterwards, and not the build", async () => {
    const { pool, admin, pipeline, agent } = await stage();
    await triggerBuild(admin, pipeline.id);
    const { root, buildId, ids } = await planNextBuild(agent, FILE);
    await finishNextJob(agent);
    const runs = async () =>
      Object.fromEntries(
        (await pool.runs([agent.id])).map(({ jobId, jobKey, status }) => [jobId, `${jobKey} ${status}`]),
      );
    expect(await runs()).toEqual({ [ids.lint as string]: "lint succeeded" });
    const job = await startNextJob(agent);
    expect((await pool.runs([agent.id]))[0]).toMatchObject({ jobId: ids.test, jobKey: "test", status: "running" });
    await callWithLease(agent, job, "POST", "finish", { status: "failed", exitCode: 1 });
    const both = { [ids.lint as string]: "lint succeeded", [ids.test as string]: "test failed" };
    expect(await runs()).toEqual(both);
    await pool.flush();
    expect(await runs()).toEqual(both);
    const one = { buildId, agentId: agent.id, pipelineId: pipeline.id, number: root.build.number };
    expect(await pool.runs([agent.id])).toMatchObject([one, one]);
  });

  it("ended within the last hour, and a damaged row hides no other", async () => {
    const { pool, agent, run } = await stage();
    const [old, damaged, good] = [await run(), await run(), await run()];
    await pool.flush();
    const at = Date.now() - TWO_HOURS_MS;
    await rewrite(pool, "UPDATE build SET ended_at = ? WHERE id = ?", at, old.id);
    await rewrite(pool, "UPDATE build SET facts = '{' WHERE id = ?", damaged.id);
    expect((await pool.runs([agent.id])).map(({ buildId }) => buildId)).toEqual([good.id]);
  });

  it("fit on a page, the newest of 20,000", async () => {
    const { pool, agent, run } = await stage();
    const { id } = await run();
    await pool.flush();
    await rewrite(
      pool,
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
      INSERT INTO build (seq, id, ended_at, facts) SELECT seq + i, id || i, ended_at, json_set(facts, '$.number', i) FROM n, build WHERE id = ?`,
      id,
    );
    const before = performance.now();
    const runs = await pool.runs([agent.id]);
    console.log(`${runs.length} of 20,000 runs in ${(performance.now() - before).toFixed()} ms`);
    expect(runs).toHaveLength(MOST_RUNS);
    expect(Math.min(...runs.map(({ number }) => number))).toBeGreaterThan(10_000);
  });
});
