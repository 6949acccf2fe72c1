import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import type { BuildRecord } from "../../src/archive/records.ts";
import { putRecord } from "../../src/archive/records.ts";
import { projectBuild } from "../../src/db/projection.ts";
import type { Build } from "../../src/protocol/build.ts";
import type { JobOfBuild } from "../../src/protocol/build-job.ts";
import { call, newOrganization } from "../support/api.ts";

const QUEUED = "2026-11-20T09:00:00.123Z";
const STARTED = "2026-11-20T09:00:01.007Z";
const FINISHED = "2026-11-20T09:01:59.999Z";
const SHA = "3f2a9c61d05b7e84f1c0a2b3948576d1e0f9a8b7";
const PULL = { number: 12, base: "main", branch: "fork", title: "Mend the wheel", author: "mona" };
const CREATOR = { kind: "connection", id: "01900000-0000-7000-8000-0000000000c1", name: "github" };
const COUNTS = { total: 2, waiting: 0, running: 0, succeeded: 1, failed: 1, stopped: 0 };
const TESTS = { total: 9, failed: 1, skipped: 0, flaky: 1, seconds: 1.5, warnings: 0 };
const STEP = { id: null, name: "test", status: "failed", exitCode: 1, startedAt: STARTED, finishedAt: FINISHED };

const JOBS = ["succeeded", "failed"].map((status) => ({ id: status, status }) as JobOfBuild);

const APPROVAL: Build["approval"] = {
  ...{ message: "Commit 3f2a9c6 comes from outside.", by: "member", groups: [], since: QUEUED, until: FINISHED },
  decision: { approved: true, at: STARTED, by: "ana", comment: null },
};

const newId = () => crypto.randomUUID();

/** The record of an ended build, with the fields and in the order of releases 0.10.0 to 0.13.0. */
const recordOf = (orgId: string, id: string): BuildRecord => ({
  ...{ id, number: 7, orgId, repoId: "01900000-0000-7000-8000-0000000000b1", pipelineId: null, branch: "fork" },
  ...{ ref: "refs/heads/fork", tag: null, commitSha: SHA, status: "failed", event: "pull", trigger: "retry" },
  ...{ trust: "untrusted", priority: -3, agentId: "01900000-0000-7000-8000-0000000000a1", attempt: 2, exitCode: 1 },
  ...{ reason: "timeout", message: "It ran for too long.", failedLine: null, jobCounts: null, leak: true },
  environment: [{ key: "STAGE", scope: "run", isSecret: false, version: null }],
  steps: [{ ...STEP, status: "failed", logOffset: 0 }],
  ...{ summary: "# Red", retryOf: "01900000-0000-7000-8000-0000000000d1", createdBy: CREATOR, pull: PULL },
  ...{ base: "b".repeat(40), subject: "Mend the wheel", author: "mona", schedule: "nightly" },
  ...{
    supersededBy: "01900000-0000-7000-8000-0000000000d2",
    jobs: JOBS,
    approval: APPROVAL,
    waitsFor: [],
    tests: TESTS,
  },
  ...{ queuedAt: QUEUED, startedAt: STARTED, finishedAt: FINISHED },
  ...{ requires: { labels: ["ios"] }, hasRunValues: false },
});

/** The row that those releases wrote for it, in the order of the table's columns. */
const rowOf = (orgId: string, id: string) => ({
  ...{ org_id: orgId, id, number: 7, repo_id: "01900000-0000-7000-8000-0000000000b1", pipeline_id: null },
  ...{ ref: "refs/heads/fork", commit_sha: SHA, event: "pull", trigger: "retry", pull_number: 12, author: "mona" },
  ...{ subject: "Mend the wheel", priority: -3, retry_of: "01900000-0000-7000-8000-0000000000d1" },
  created_by: '{"kind":"connection","id":"01900000-0000-7000-8000-0000000000c1","name":"github","trust":"untrusted"}',
  ...{ status: "failed", attempt: 2, agent_id: "01900000-0000-7000-8000-0000000000a1", exit_code: 1 },
  ...{ reason: "timeout", message: "It ran for too long.", failed_line: "Error: *** is wrong" },
  tests: '{"total":9,"failed":1,"skipped":0,"flaky":1,"seconds":1.5,"warnings":0}',
  jobs: '{"total":2,"waiting":0,"running":0,"succeeded":1,"failed":1,"stopped":0}',
  ...{ leak: 1, queued_at: Date.parse(QUEUED), started_at: Date.parse(STARTED), finished_at: Date.parse(FINISHED) },
  pool_version: 5,
});

const rowsOf = async (orgId: string) =>
  (await env.DB.prepare("SELECT * FROM build_summary WHERE org_id = ?").bind(orgId).all()).results;

const insert = async (row: Record<string, unknown>) => {
  const columns = Object.keys(row);
  const query = `INSERT INTO build_summary (${columns}) VALUES (${columns.map(() => "?")})`;
  await env.DB.prepare(query)
    .bind(...Object.values(row))
    .run();
};

describe("a build's row", () => {
  const orgId = `golden-${newId()}`;
  const id = newId();
  const ended = { ...recordOf(orgId, id), jobs: [], jobCounts: COUNTS, failedLine: "Error: *** is wrong" };
  const write = async (change: Partial<BuildRecord>, version: number) => {
    const [statement] = projectBuild(env.DB, { ...ended, ...change }, version);
    const { meta } = await statement!.run();
    return [meta.rows_read, meta.rows_written];
  };

  it("writes all columns once, and later only changed fields of newer versions", async () => {
    const begun = { status: "queued", finishedAt: null, startedAt: null, commitSha: null, leak: false } as const;
    expect(await write(begun, 3)).toEqual([0, 4]);
    expect(await rowsOf(orgId)).toMatchObject([{ status: "queued", jobs: null, leak: 0, pool_version: 3 }]);
    expect(await write({}, 5)).toEqual([0, 3]);
    expect(Object.entries((await rowsOf(orgId))[0]!).sort()).toEqual(Object.entries(rowOf(orgId, id)).sort());
    expect(await write({ status: "succeeded" }, 4)).toEqual([0, 0]);
    expect(await rowsOf(orgId)).toEqual([rowOf(orgId, id)]);
    const fixed = { number: 8, repoId: "r", pipelineId: "p", priority: 9, retryOf: null, createdBy: null };
    await write({ ...fixed, queuedAt: FINISHED, subject: null, author: null, trigger: "api", branch: "x" }, 6);
    expect(await rowsOf(orgId)).toEqual([{ ...rowOf(orgId, id), pool_version: 6 }]);
  });
});

/** The fields in the order of answers: of a single build, and of a list of ended builds. */
const SHOWN =
  `id number orgId repoId pipelineId branch ref commitSha status event trigger trust priority agentId attempt
  exitCode reason message leak environment steps summary retryOf createdBy tag pull base subject author schedule
  supersededBy jobs approval waitsFor jobCounts failedLine tests webUrl queuedAt startedAt finishedAt`.split(/\s+/);
const LISTED =
  `orgId id number repoId pipelineId ref commitSha event trigger author subject priority retryOf status attempt
  agentId exitCode reason message failedLine leak queuedAt startedAt finishedAt createdBy trust approval branch tag pull
  base schedule supersededBy jobs jobCounts waitsFor tests environment steps summary webUrl`.split(/\s+/);

describe("a build that an earlier release stored", () => {
  it("is returned byte for byte, in full or without the fields that lists omit", async () => {
    const { orgId, admin } = await newOrganization();
    const id = newId();
    const record = recordOf(orgId, id);
    await insert(rowOf(orgId, id));
    await putRecord(env.ARCHIVE, record);
    const webUrl = `https://millrace.test/app/builds/${id}`;
    const shown = { ...record, failedLine: "Error: *** is wrong", jobCounts: COUNTS, webUrl };
    const pull = { number: 12, base: null, branch: "fork", title: null, author: null };
    const unlisted = {
      jobs: null,
      approval: null,
      base: null,
      schedule: null,
      supersededBy: null,
      environment: null,
      summary: null,
    };
    expect((await call(admin, "GET", `/build/${id}`)).text).toBe(inOrder(SHOWN, shown));
    expect((await call(admin, "GET", "/build")).text).toBe(
      `[${inOrder(LISTED, { ...shown, ...unlisted, pull, steps: [] })}]`,
    );
  });
});

const inOrder = (fields: string[], build: object): string =>
  JSON.stringify(Object.fromEntries(fields.map((field) => [field, build[field as keyof typeof build]])));
