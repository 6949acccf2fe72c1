import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { putRecord } from "../../../src/archive/records.ts";
import type { Build } from "../../../src/protocol/build.ts";
import { signIn } from "../../dashboard/shell/page-requests.ts";
import { type Answer, newOrganization } from "../../support/api.ts";
import { type BuildSetup, completeJob, newBuildSetup, pollOnce, triggerBuild } from "../../support/build-setup.ts";
import { callDeployedWith, poolStub } from "../../support/deployment.ts";
import { callWithLease, planNextBuild, startNextJob } from "../../support/jobs.ts";
import { type SummaryRow, writeSummary } from "../../support/summary-row.ts";

const call = callDeployedWith({});

const list = async (token: string, query: object = {}): Promise<Build[]> => {
  const { status, body, text } = await call<Build[]>(
    token,
    "GET",
    `/build?${new URLSearchParams(query as Record<string, string>)}`,
  );
  expect(status, text).toBe(200);
  return body;
};
const idsOf = async (token: string, query: object = {}) => (await list(token, query)).map(({ id }) => id);

/** Returns the path of the next page. */
const nextOf = (headers: Headers): string | undefined =>
  /^<https:\/\/millrace\.test(.+)>; rel="next"$/.exec(headers.get("Link") ?? "")?.[1];

const [SHA, OTHER_SHA] = ["a".repeat(7) + "1".repeat(33), "b".repeat(40)];
const DAY_MS = 86_400_000;

describe("build lists", () => {
  let setup: BuildSetup;
  let live: Build;
  let branch: SummaryRow;
  let tag: SummaryRow;

  beforeAll(async () => {
    setup = await newBuildSetup();
    const { orgId, admin, pipeline, agent } = setup;
    const at = Date.now() - DAY_MS;
    const agentId = agent.id;
    branch = await writeSummary(orgId, { queued_at: at, ref: "refs/heads/next", commit_sha: SHA, agent_id: agentId });
    tag = await writeSummary(orgId, {
      ...{ queued_at: at + 1000, ref: "refs/tags/v1", commit_sha: OTHER_SHA, event: "tag", trigger: "retry" },
      ...{ status: "failed", created_by: JSON.stringify({ kind: "token", id: orgId, name: "t" }) },
    });
    await triggerBuild(admin, pipeline.id, { branch: "next", commitSha: SHA });
    live = (await pollOnce(agent)).body.build;
  });

  it("support each filter, in D1 and in the pool", async () => {
    const { admin, agent, pipeline, repository } = setup;
    const all = [live.id, tag.id, branch.id];
    const since = new Date(tag.queued_at).toISOString();
    for (const [query, found] of [
      [{}, all],
      [{ commitSha: SHA }, [live.id, branch.id]],
      [{ commitSha: SHA.slice(0, 7).toUpperCase() }, [live.id, branch.id]],
      [{ commitSha: SHA.slice(0, 39) }, [live.id, branch.id]],
      [{ commitSha: `${SHA.slice(0, 7)}2` }, []],
      [{ event: "tag" }, [tag.id]],
      [{ event: "push" }, []],
      [{ ref: "refs/heads/next" }, [live.id, branch.id]],
      [{ ref: "next" }, []],
      [{ branch: "next" }, [live.id, branch.id]],
      [{ branch: "refs/tags/v1" }, [tag.id]],
      [{ branch: "next", ref: "refs/tags/v1" }, []],
      [{ refName: "v1" }, [tag.id]],
      [{ refName: "next" }, [live.id, branch.id]],
      [{ refName: "refs/tags/v1" }, [tag.id]],
      [{ refName: "v1", branch: "refs/tags/v1" }, [tag.id]],
      [{ refName: "v1", branch: "next" }, []],
      [{ refName: "v" }, []],
      [{ trigger: "retry" }, [tag.id]],
      [{ agentId: agent.id }, [live.id, branch.id]],
      [{ since }, [live.id, tag.id]],
      [{ until: since }, [branch.id]],
      [{ since, until: since }, []],
      [{ since: since.replace("Z", "+00:00"), status: "failed" }, [tag.id]],
      [{ status: "assigned" }, [live.id]],
      [{ status: "assigned", pipelineId: pipeline.id, repoId: repository.id, commitSha: SHA }, [live.id]],
      [{ status: "succeeded" }, [branch.id]],
      [{ status: "queued" }, []],
    ] as const) {
      expect(await idsOf(admin, query), JSON.stringify(query)).toEqual(found);
    }
    expect(await idsOf((await newOrganization()).admin, { commitSha: SHA })).toEqual([]);
  });

  it("find a name that a branch and a tag share, newest first, one round per page", async () => {
    const { orgId, admin } = await newOrganization();
    const at = Date.now() - DAY_MS;
    const written: string[] = [];
    for (const [n, ref] of ["heads", "tags", "tags", "heads", "heads"].entries())
      written.unshift((await writeSummary(orgId, { queued_at: at + n * 1000, ref: `refs/${ref}/v2` })).id);
    await writeSummary(orgId, { queued_at: at, ref: "refs/heads/other" });
    const seen: string[] = [];
    for (let path: string | undefined = "/build?refName=v2&limit=2"; path; ) {
      const { body, headers }: Answer<Build[]> = await call<Build[]>(admin, "GET", path);
      seen.push(...body.map(({ id }) => id));
      expect(headers.get("Server-Timing")).toContain("rounds=1 ");
      path = nextOf(headers);
    }
    expect(seen).toEqual(written);
  });

  it("name the filter that is wrong", async () => {
    for (const [name, value] of [
      ["commitSha", "abc123"],
      ["commitSha", "g".repeat(40)],
      ["event", "x"],
      ["trigger", "x"],
      ["agentId", "x"],
      ["since", "yesterday"],
      ["until", "2026-13-01T00:00:00Z"],
      ["cursor", btoa(`x${live.id}.ended`)],
      ["cursor", btoa(".ended")],
    ] as const) {
      const { status, body } = await call(setup.admin, "GET", `/build?${new URLSearchParams({ [name]: value })}`);
      expect([status, body.errors?.[0]?.pointer], `${name}=${value}`).toEqual([422, `/${name}`]);
    }
  });

  it("show the branch and the ref, but omit fields that only the build's page shows", async () => {
    const [first, second, third] = await list(setup.admin);
    const none = { environment: null, summary: null, jobs: null, jobCounts: null, failedLine: null, tests: null };
    const without = { ...none, steps: [], waitsFor: [] };
    expect(first).toMatchObject({ id: live.id, status: "assigned", event: "api", ref: "refs/heads/next", ...without });
    expect(second).toEqual({
      ...{ id: tag.id, number: 1, orgId: setup.orgId, repoId: tag.repo_id, pipelineId: null },
      ...{ branch: "refs/tags/v1", ref: "refs/tags/v1", commitSha: OTHER_SHA, status: "failed", event: "tag" },
      ...{ trigger: "retry", priority: 0, agentId: null, attempt: 1, exitCode: null, reason: null, message: null },
      ...{ tag: "v1", pull: null, base: null, subject: null, author: null, schedule: null, supersededBy: null },
      ...{ trust: "trusted", approval: null },
      ...{ leak: false, ...without, retryOf: null, createdBy: { kind: "token", id: setup.orgId, name: "t" } },
      queuedAt: new Date(tag.queued_at).toISOString(),
      startedAt: new Date(tag.queued_at).toISOString(),
      finishedAt: new Date(tag.queued_at + 1).toISOString(),
      webUrl: `https://millrace.test/app/builds/${tag.id}`,
    });
    expect(third).toMatchObject({ id: branch.id, branch: "next", ref: "refs/heads/next" });
  });

  it("do not query the pool for pages behind the oldest live build", async () => {
    const { admin } = setup;
    let asked = 0;
    const pools = new Proxy(env.AGENT_POOL, {
      get: (target, name) => {
        if (name !== "getByName") return Reflect.get(target, name);
        return (...of: Parameters<typeof target.getByName>) => {
          asked++;
          return target.getByName(...of);
        };
      },
    });
    const counted = callDeployedWith({ AGENT_POOL: pools });
    const seen: [string[], number][] = [];
    for (let path: string | undefined = "/build?limit=1"; path; ) {
      asked = 0;
      const { body, headers }: Answer<Build[]> = await counted<Build[]>(admin, "GET", path);
      seen.push([body.map(({ id }) => id), asked]);
      path = nextOf(headers);
    }
    expect(seen).toEqual([
      [[live.id], 1],
      [[tag.id], 1],
      [[branch.id], 0],
    ]);
  });
});

describe("a build that its pool has forgotten", () => {
  it("is read from D1 and the archive, or from D1 alone where the archive lacks it", async () => {
    const { orgId, admin } = await newOrganization();
    const row = await writeSummary(orgId, { queued_at: Date.now() - 2 * DAY_MS, leak: 1 });
    const { body: lean } = await call<Build>(admin, "GET", `/build/${row.id}`);
    expect(lean).toMatchObject({ id: row.id, leak: true, environment: null, steps: [], summary: null });
    const kept = { environment: [], steps: [], summary: "# Well", requires: { labels: ["ios"] } };
    await putRecord(env.ARCHIVE, { ...lean, ...kept, leak: false });
    const { requires, ...shown } = kept;
    expect((await call(admin, "GET", `/build/${row.id}`)).body).toEqual({ ...lean, ...shown });
  });

  it("loads its page's archive records one at a time, and its job summaries separately", async () => {
    const { orgId, admin, agent, pipeline } = await newBuildSetup();
    const run = async (status: string) => {
      const { buildId, ids } = await planNextBuild(agent, "jobs: { a: { steps: [{ run: x }] } }\n");
      const job = await startNextJob(agent);
      expect((await callWithLease(agent, job, "POST", "progress", { summary: "# Well" })).status).toBeLessThan(300);
      await callWithLease(agent, job, "POST", "finish", { status, exitCode: 0 });
      return { buildId, jobId: ids.a };
    };
    for (const status of ["succeeded", "failed"]) {
      await triggerBuild(admin, pipeline.id);
      await run(status);
    }
    const [failed] = await list(admin);
    await call(admin, "POST", `/build/${failed!.id}/retry`);
    const { buildId, jobId } = await run("failed");
    await poolStub(orgId).flush();
    let [underWay, most] = [0, 0];
    const ARCHIVE = new Proxy(env.ARCHIVE, {
      get: (archive) => async (key: string) => {
        if (!key.startsWith("record/")) return archive.get(key);
        most = Math.max(most, ++underWay);
        // R2 takes longer here than a round to D1 and a call to the pool.
        await scheduler.wait(100);
        const found = await archive.get(key);
        underWay -= 1;
        return found;
      },
    });
    try {
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 2 * DAY_MS });
      await poolStub(orgId).sweep();
      expect((await call(admin, "GET", `/job/${jobId}`)).body).toMatchObject({ id: jobId, summary: "# Well" });
      const Cookie = (await signIn(admin)).split(";")[0]!;
      const page = await callDeployedWith({ ARCHIVE })("", "GET", `/app/builds/${buildId}`, undefined, { Cookie });
      expect([page.status, most]).toEqual([200, 1]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("answers 503 instead of half a build while the archive is unavailable", async () => {
    const { orgId, admin } = await newOrganization();
    const { id } = await writeSummary(orgId);
    const broken = new Proxy(env.ARCHIVE, {
      get: () => async () => {
        throw new Error("get: We encountered an internal error. Please try again. (10001)");
      },
    });
    const { status, headers } = await callDeployedWith({ ARCHIVE: broken })(admin, "GET", `/build/${id}`);
    expect([status, headers.get("Retry-After")]).toEqual([503, "5"]);
    expect(await list(admin)).toHaveLength(1);
  });

  it("has the pool's newer state in the list where D1 is behind", async () => {
    const setup = await newBuildSetup();
    const { orgId, admin, pipeline, agent } = setup;
    await triggerBuild(admin, pipeline.id);
    const { body: job } = await pollOnce(agent);
    await completeJob(agent, job);
    await env.DB.prepare("DELETE FROM build_summary WHERE id = ?").bind(job.build.id).run();
    const { id, repo_id } = await writeSummary(orgId, {
      ...{ id: job.build.id, queued_at: Date.parse(job.build.queuedAt), status: "queued" },
      ...{ started_at: null, finished_at: null, pool_version: 1 },
    });
    expect(repo_id).not.toBe(job.build.repoId);
    expect(await list(admin)).toMatchObject([{ id, repoId: job.build.repoId, status: "succeeded" }]);
  });
});
