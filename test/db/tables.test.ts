import { env } from "cloudflare:test";
import { describe, expect, it } from "vitest";

/** Tables that are stored in the order of their keys. Drizzle cannot express this, so the migrations declare it. */
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

describe("the tables", () => {
  it("have no rowid if each row is found by its key", async () => {
    const tables = await all("SELECT name FROM sqlite_master WHERE sql LIKE '%WITHOUT ROWID%' ORDER BY name");
    expect(tables.map(({ name }) => name)).toEqual(WITHOUT_ROWID);
  });
});

describe("lists", () => {
  it.each([
    ["build_summary", "repo_id = 'r'"],
    ["build_summary", "commit_sha = 'c'"],
    ["audit_log", "subject = 's'"],
    ["audit_log", "action = 'a' AND action NOT IN ('build.create', 'build.deliver')"],
  ])("%s with %s read an index instead of sorting", async (table, filter) => {
    const query = `EXPLAIN QUERY PLAN SELECT * FROM ${table} WHERE org_id = 'o' AND ${filter} AND id < 'z' ORDER BY id DESC LIMIT 51`;
    const plan = (await all(query)).map(({ detail }) => String(detail));
    expect(plan).toHaveLength(1);
    expect(plan[0]).toMatch(/^SEARCH/);
  });
});
