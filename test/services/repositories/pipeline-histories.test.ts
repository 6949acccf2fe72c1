import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import type { PipelineHistory } from "../../../src/protocol/pipeline-history.ts";
import { keepUp } from "../../../src/services/upkeep/upkeep.ts";
import { call, create, newOrganization, newPipeline, newRepository } from "../../support/api.ts";
import { writeEndedBuild } from "../../support/ended-builds.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const PIPELINES = 200;

const upkeep = () => keepUp(env, new Date(), { buildDays: 90, auditDays: 400 });

/** Returns the rounds to D1 and the rows read, from the answer's header. */
const costOf = (headers: Headers): number[] =>
  (/rounds=(\d+) read=(\d+)/.exec(headers.get("Server-Timing") ?? "") ?? []).slice(1).map(Number);

describe("pipeline histories", () => {
  let admin: string;
  let orgId: string;
  let repoId: string;
  let busy: string;

  beforeAll(async () => {
    ({ orgId, admin } = await newOrganization());
    repoId = (await newRepository(admin)).id;
    busy = (await newPipeline(admin, repoId, { name: "busy" })).id;
    const now = Date.now();
    const ended = (pipelineId: string, minutesAgo: number, more: object = {}) =>
      writeEndedBuild(env.DB, { orgId, repoId, pipelineId, at: now - minutesAgo * MINUTE_MS, ...more });
    for (let n = 0; n < 40; n++) await ended(busy, 3 + n, { tookMs: 60_000, waitedMs: 10_000, subject: `change ${n}` });
    for (let n = 0; n < 10; n++) await ended(busy, 8 * 24 * 60 + n, { tookMs: 30_000 });
    await ended(busy, 2, { status: "failed", tookMs: 0, flaky: 1, author: "Ada" });
    await upkeep();
  });

  it("contain the last thirty builds and two weeks of each pipeline", async () => {
    const { body } = await call<PipelineHistory[]>(admin, "GET", "/pipeline/history");
    expect(body).toMatchObject([
      {
        ...{ pipelineId: busy, name: "busy", repoId, isRed: true },
        week: { succeeded: 40, failed: 1, canceled: 0, flaky: 0 },
        weekBefore: { succeeded: 10, failed: 0, waitedSeconds: { p50: expect.closeTo(5, 0) } },
      },
    ]);
    const [{ builds, week, weekBefore }] = body as [PipelineHistory];
    expect(builds.length).toBe(30);
    expect(builds[0]).toMatchObject({ status: "failed", isFlaky: true, author: "Ada", branch: "main", tag: null });
    expect(builds[1]).toMatchObject({ status: "succeeded", subject: "change 0" });
    expect(Math.abs(week.tookSeconds!.p50 - 60)).toBeLessThan(3);
    expect(Math.abs(week.waitedSeconds!.p90 - 10)).toBeLessThan(0.5);
    expect(Math.abs(weekBefore.tookSeconds!.p90 - 30)).toBeLessThan(1.5);
    const one = await call<PipelineHistory>(admin, "GET", `/pipeline/${busy}/history`);
    expect(one.body).toEqual(body[0]);
  });

  it("name the first failure of the default branch, not the newest, a retry or a tag", async () => {
    const { id } = await newPipeline(admin, repoId, { name: "broken" });
    const at = Date.now() - 3 * MINUTE_MS;
    const ended = (more: object) => writeEndedBuild(env.DB, { orgId, repoId, pipelineId: id, at, ...more });
    await ended({ commit: "a" });
    const first = await ended({ commit: "b", status: "failed", author: "Grace" });
    await ended({ commit: "c", status: "failed", author: "Edsger" });
    const last = await ended({ commit: "d", status: "failed", author: "Barbara" });
    await ended({ commit: "d", status: "failed", author: "Barbara", retryOf: last });
    await ended({ commit: "a", ref: "refs/tags/v1.9", event: "tag" });
    await upkeep();
    const { body } = await call<PipelineHistory>(admin, "GET", `/pipeline/${id}/history`);
    expect(body).toMatchObject({ isRed: true, builds: [{ tag: "v1.9", status: "succeeded" }, {}, {}, {}, {}, {}] });
    const failingSince = { buildId: first, builds: 3, commits: 3, isCertain: true, hasPassed: false };
    expect(body.failingSince).toEqual(failingSince);
    await call(admin, "DELETE", `/pipeline/${id}`);
  });

  it("are empty for a pipeline without builds, which the list omits", async () => {
    const { id } = await newPipeline(admin, repoId, { name: "idle" });
    const { body } = await call<PipelineHistory>(admin, "GET", `/pipeline/${id}/history`);
    expect(body).toMatchObject({
      pipelineId: id,
      isRed: false,
      failingSince: null,
      builds: [],
      week: { succeeded: 0, tookSeconds: null },
    });
    const list = await call<PipelineHistory[]>(admin, "GET", "/pipeline/history");
    expect(list.body.map(({ pipelineId }) => pipelineId)).toEqual([busy]);
  });

  it("are visible only to their organization", async () => {
    const other = await newOrganization();
    expect((await call(other.admin, "GET", "/pipeline/history")).body).toEqual([]);
    expect((await call(other.admin, "GET", `/pipeline/${busy}/history`)).status).toBe(404);
  });

  it("are deleted with their pipeline and its repository", async () => {
    const { id: left } = await newRepository(admin, 77);
    for (const way of ["pipeline", "repository"]) {
      const { id } = await newPipeline(admin, left, { name: way });
      await writeEndedBuild(env.DB, { orgId, repoId: left, pipelineId: id, at: Date.now() - 2 * MINUTE_MS });
      await upkeep();
      const stored = env.DB.prepare("SELECT count(*) AS count FROM pipeline_history WHERE pipeline_id = ?").bind(id);
      expect(await stored.first("count")).toBe(1);
      await call(admin, "DELETE", way === "pipeline" ? `/pipeline/${id}` : `/repository/${left}`);
      expect(await stored.first("count")).toBe(0);
    }
  });

  it("come in pages, newest first, with one round and few rows for each", async () => {
    for (let n = 0; n < PIPELINES; n++) {
      const { id } = await create(admin, "/pipeline", { repoId, name: `p${n}` });
      for (let day = 0; day < 2; day++) {
        await writeEndedBuild(env.DB, {
          orgId,
          repoId,
          pipelineId: id,
          at: Date.now() - 2 * MINUTE_MS - day * DAY_MS + n,
        });
      }
    }
    // One run counts a limited number of pipelines, and the next run continues.
    await upkeep();
    await upkeep();
    const seen: string[] = [];
    for (let cursor = ""; ; ) {
      const { body, headers, text } = await call<PipelineHistory[]>(
        admin,
        "GET",
        `/pipeline/history?limit=50${cursor && `&cursor=${cursor}`}`,
      );
      const [rounds, rows = 0] = costOf(headers);
      console.log(`${body.length} histories: ${rounds} round, ${rows} rows, ${text.length} bytes`);
      expect(rounds).toBe(1);
      expect(rows).toBeLessThanOrEqual(4 * 51 + 2);
      seen.push(...body.map(({ name }) => name));
      cursor = /cursor=([^&>]+)/.exec(headers.get("Link") ?? "")?.[1] ?? "";
      if (!cursor) break;
    }
    expect(seen).toEqual([...Array.from({ length: PIPELINES }, (_, n) => `p${PIPELINES - 1 - n}`), "busy"]);
  }, 120_000);
});
