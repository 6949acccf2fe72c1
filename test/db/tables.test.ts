import { env } from "cloudflare:test";
import { v7 as uuid } from "uuid";
import { describe, expect, it } from "vitest";

/** Tables that are stored in the order of their keys. The mapper has no word for it: the migrations say it by hand. */
const WITHOUT_ROWID = [
  "audit_log",
  "build_summary",
  "former_organization",
  "job",
  "listed_push",
  "pipeline_history",
  "pool",
  "upkeep_failure",
  "variable_day",
];

const all = async (query: string, ...values: unknown[]) =>
  (
    await env.DB.prepare(query)
      .bind(...values)
      .all<Record<string, unknown>>()
  ).results;

/** Writes a build as the release before does. */
const writeEarlier = async (orgId: string, change: Record<string, unknown> = {}) => {
  const record = {
    id: uuid(),
    orgId,
    number: 3,
    repoId: "repo",
    pipelineId: "pipeline",
    branch: "main",
    commitSha: "c".repeat(40),
    status: "failed",
    trigger: "retry",
    priority: -2,
    agentId: "agent",
    attempt: 2,
    exitCode: 1,
    reason: "timeout",
    message: "It ran for too long.",
    leak: true,
    environment: [{ key: "KEY", scope: "run", isSecret: true, version: null }],
    retryOf: "other",
    createdBy: { kind: "token", id: "t", name: "ci" },
    queuedAt: "2026-11-22T05:00:00.123Z",
    startedAt: "2026-11-22T05:00:01.007Z",
    finishedAt: "2026-11-22T05:00:59.999Z",
    ...change,
  };
  await env.DB.prepare("INSERT OR REPLACE INTO build VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
    .bind(
      ...[record.id, orgId, record.repoId, record.pipelineId, record.branch, record.status],
      ...[5, JSON.stringify(record), record.finishedAt],
    )
    .run();
  return record;
};

describe("the tables", () => {
  it("have no rowid where each row is found by its key", async () => {
    const tables = await all("SELECT name FROM sqlite_master WHERE sql LIKE '%WITHOUT ROWID%' ORDER BY name");
    expect(tables.map(({ name }) => name)).toEqual(WITHOUT_ROWID);
  });
});

describe("a build of the release before", () => {
  it("is listed with the columns of this release", async () => {
    const orgId = `earlier-${crypto.randomUUID()}`;
    const { id } = await writeEarlier(orgId);
    const [row] = await all("SELECT * FROM build_list WHERE org_id = ?", orgId);
    expect(row).toEqual({
      org_id: orgId,
      id,
      number: 3,
      repo_id: "repo",
      pipeline_id: "pipeline",
      ref: "refs/heads/main",
      commit_sha: "c".repeat(40),
      event: "api",
      trigger: "retry",
      pull_number: null,
      author: null,
      subject: null,
      priority: -2,
      retry_of: "other",
      created_by: '{"kind":"token","id":"t","name":"ci"}',
      status: "failed",
      attempt: 2,
      agent_id: "agent",
      exit_code: 1,
      reason: "timeout",
      message: "It ran for too long.",
      failed_line: null,
      tests: null,
      jobs: null,
      leak: 1,
      queued_at: Date.parse("2026-11-22T05:00:00.123Z"),
      started_at: Date.parse("2026-11-22T05:00:01.007Z"),
      finished_at: Date.parse("2026-11-22T05:00:59.999Z"),
      pool_version: 5,
    });
  });

  it("keeps its row when it is moved, and is listed once wherever it is", async () => {
    const orgId = `moved-${crypto.randomUUID()}`;
    const list = () => all("SELECT * FROM build_list WHERE org_id = ?", orgId);
    const { id } = await writeEarlier(orgId, { branch: "refs/tags/v1", finishedAt: null, startedAt: null });
    const before = await list();
    expect(before).toMatchObject([{ ref: "refs/tags/v1", finished_at: null }]);
    await env.DB.batch([
      env.DB.prepare("INSERT INTO build_summary SELECT * FROM earlier_build WHERE id = ?").bind(id),
      env.DB.prepare("DELETE FROM build WHERE id = ?").bind(id),
    ]);
    expect(await list()).toEqual(before);
    await writeEarlier(orgId, { id, status: "succeeded" });
    expect(await list()).toMatchObject([{ id, status: "succeeded" }]);
    await env.DB.prepare("UPDATE build SET status = 'failed' WHERE id = ?").bind(id).run();
    expect(await list()).toMatchObject([{ id, status: "failed" }]);
  });
});

describe("lists of both releases", () => {
  it.each([
    ["build_list", "repo_id = 'r'"],
    ["build_list", "commit_sha = 'c'"],
    ["audit_list", "subject = 's'"],
    ["audit_list", "action = 'a' AND action NOT IN ('build.create', 'build.deliver')"],
  ])("%s with %s merge two indexes instead of sorting", async (view, filter) => {
    const query = `EXPLAIN QUERY PLAN SELECT * FROM ${view} WHERE org_id = 'o' AND ${filter} AND id < 'z' ORDER BY id DESC LIMIT 51`;
    const plan = (await all(query)).map(({ detail }) => String(detail));
    expect(plan.filter((detail) => /SCAN|TEMP B-TREE/.test(detail))).toEqual([]);
    expect(plan.filter((detail) => detail.startsWith("SEARCH"))).toHaveLength(2);
  });
});
