import { env } from "cloudflare:workers";
import { beforeEach, expect, it } from "vitest";
import { eraseBuild } from "../../../src/db/projection.ts";
import { databaseWithHook } from "../../support/deployment.ts";
import { type EndedBuildRow, writeEndedBuild } from "../../support/ended-builds.ts";
import { count, DAY_MS, NOW, upkeep } from "./support.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** The minute of an hour in which upkeep counts whole histories. */
const ON_THE_HOUR = Date.UTC(2026, 10, 22, 6);

/** Writes a build that took a minute. @returns its id */
const ended = ({ pipelineId = "ci", ...build }: Partial<EndedBuildRow> & { at: number }) =>
  writeEndedBuild(env.DB, { orgId: "acme", repoId: "app", pipelineId, ref: "refs/heads/trunk", waitedMs: 0, ...build });

const pipeline = (id: string) =>
  env.DB.prepare(
    `INSERT INTO pipeline (id, org_id, repo_id, name, config_path, requires, timeout_seconds, max_attempts, is_active, created_at, updated_at)
     VALUES (?1, 'acme', 'app', ?1, '.millrace.yml', '{}', 60, 1, 1, '', '')`,
  )
    .bind(id)
    .run();

interface Stored {
  pipeline_id: string;
  newest: string;
  is_red: number;
  builds: { id: string; isFlaky: boolean }[];
  days: Record<string, { succeeded: number; failed: number; flaky: number }>;
  counted_at: number;
}

const histories = async (): Promise<Stored[]> => {
  const { results } = await env.DB.prepare("SELECT * FROM pipeline_history ORDER BY pipeline_id").all<
    Omit<Stored, "builds" | "days"> & { builds: string; days: string }
  >();
  return results.map((row) => ({ ...row, builds: JSON.parse(row.builds), days: JSON.parse(row.days) }));
};

const only = async (): Promise<Stored> => (await histories())[0]!;

beforeEach(async () => {
  await env.DB.batch(
    ["pipeline_history", "build_summary", "pipeline", "repository", "upkeep_failure"].map((table) =>
      env.DB.prepare(`DELETE FROM ${table}`),
    ),
  );
  await env.DB.prepare(
    `INSERT INTO repository (id, org_id, git_host_repo_id, full_name, clone_url, clone_host, default_branch, is_active, created_at, updated_at)
     VALUES ('app', 'acme', 1, 'acme/app', 'https://git.example/a.git', 'git.example', 'trunk', 1, '', '')`,
  ).run();
  await pipeline("ci");
});

it("a history counts only builds of the default branch or a tag, in the minute after their end", async () => {
  const at = NOW - 2 * MINUTE_MS;
  const main = await ended({ at, flaky: 2 });
  const tag = await ended({ at: at + 1, ref: "refs/tags/v2.4", status: "failed" });
  await ended({ at, ref: "refs/heads/feature" });
  await ended({ at, pull: 7 });
  await ended({ at, pipelineId: "gone" });
  expect(await upkeep()).toMatchObject({ histories: 1, failed: 0 });
  const { builds, days, is_red, newest } = await only();
  expect(builds.map(({ id, isFlaky }) => [id, isFlaky])).toEqual([
    [tag, false],
    [main, true],
  ]);
  expect(days).toMatchObject({ "2026-11-22": { succeeded: 1, failed: 1, canceled: 0, flaky: 1 } });
  expect([is_red, newest, await count("pipeline_history")]).toEqual([0, tag, 1]);
});

it("a history is red by the default branch's newest commit, not by tags, untrusted builds or retries", async () => {
  const red = async () => {
    await upkeep();
    return (await only()).is_red;
  };
  const at = NOW - 2 * MINUTE_MS;
  const old = await ended({ at, commit: "a" });
  await ended({ at: at + 1, commit: "b", status: "failed" });
  expect(await red()).toBe(1);
  await ended({ at: at + 2, commit: "a", ref: "refs/tags/v1.9", event: "tag" });
  await ended({ at: at + 3, commit: "a", retryOf: old });
  await ended({ at: at + 4, commit: "c", createdBy: { kind: "host", id: "1", name: "x", trust: "untrusted" } });
  expect(await red()).toBe(1);
  await ended({ at: at + 5, commit: "d" });
  expect(await red()).toBe(0);
  await ended({ at: at + 6, commit: "a", ref: "refs/tags/v2.0", event: "tag", status: "failed" });
  await ended({ at: at + 7, commit: "a", retryOf: old, status: "failed" });
  expect(await red()).toBe(0);
});

it("a history stays the same when counted again or twice at once, unless a build came in between", async () => {
  for (let n = 0; n < 40; n++) await ended({ at: NOW - n * HOUR_MS - 2 * MINUTE_MS });
  await Promise.all([upkeep(), upkeep()]);
  const before = await histories();
  expect(before[0]?.builds.length).toBe(30);
  await Promise.all([upkeep({}, NOW + MINUTE_MS), upkeep({}, NOW + MINUTE_MS)]);
  expect(await histories()).toEqual(before);
  await ended({ at: NOW - 3 * MINUTE_MS, status: "failed" });
  await upkeep({}, NOW + MINUTE_MS);
  expect(await histories()).not.toEqual(before);
});

it("a history counts a build's day again if the build ended days after its creation", async () => {
  await ended({ at: NOW - 3 * DAY_MS });
  await upkeep({}, NOW - 3 * DAY_MS + 2 * MINUTE_MS);
  await ended({ at: NOW - 3 * DAY_MS + 1, tookMs: 3 * DAY_MS - MINUTE_MS, status: "failed" });
  await upkeep();
  expect((await only()).days).toMatchObject({ "2026-11-19": { succeeded: 1, failed: 1 } });
});

it("a history finds builds that reached D1 late or were never counted, within a day", async () => {
  await ended({ at: NOW - 2 * MINUTE_MS });
  await upkeep();
  await ended({ at: NOW - 2 * DAY_MS });
  await pipeline("never");
  await ended({ at: NOW - 40 * DAY_MS, pipelineId: "never" });
  await pipeline("idle");
  const next = ON_THE_HOUR + DAY_MS;
  expect(await upkeep({}, next)).toMatchObject({ recounted: 2 });
  expect(
    (await histories()).map(({ pipeline_id, builds, days }) => [pipeline_id, builds.length, Object.keys(days)]),
  ).toEqual([
    ["ci", 2, ["2026-11-20", "2026-11-22"]],
    ["never", 1, []],
  ]);
  expect(await upkeep({}, next + HOUR_MS)).toMatchObject({ recounted: 0 });
});

it("a history drops old days and builds, and is skipped while its pipeline is idle", async () => {
  await ended({ at: NOW - 2 * MINUTE_MS });
  await upkeep();
  await upkeep({}, ON_THE_HOUR + 15 * DAY_MS);
  expect(await only()).toMatchObject({ days: {}, builds: [{}] });
  const quiet = await histories();
  expect(await upkeep({}, ON_THE_HOUR + 30 * DAY_MS)).toMatchObject({ recounted: 0, histories: 0 });
  expect(await histories()).toEqual(quiet);
  await upkeep({}, ON_THE_HOUR + 120 * DAY_MS);
  expect(await only()).toMatchObject({ days: {}, builds: [], newest: "", is_red: 0 });
});

it("a history forgets a deleted build's bar at once, and counts its day again within the hour", async () => {
  const kept = await ended({ at: NOW - 3 * MINUTE_MS });
  const deleted = await ended({ at: NOW - 2 * MINUTE_MS, status: "failed" });
  await upkeep();
  for (const _ of [1, 2]) await env.DB.batch(eraseBuild(env.DB, "acme", deleted, []));
  expect((await only()).builds.map(({ id }) => id)).toEqual([kept]);
  await upkeep({}, NOW + HOUR_MS);
  expect(await only()).toMatchObject({ newest: kept, is_red: 0, days: { "2026-11-22": { succeeded: 1, failed: 0 } } });
});

it("a history is not written for a pipeline that was deleted during the count", async () => {
  await ended({ at: NOW - 2 * MINUTE_MS });
  await upkeep();
  await env.DB.batch([env.DB.prepare("DELETE FROM pipeline_history"), env.DB.prepare("DELETE FROM pipeline")]);
  await upkeep();
  expect(await count("pipeline_history")).toBe(0);
});

it("a history that does not parse is counted again", async () => {
  await ended({ at: NOW - 2 * MINUTE_MS });
  await upkeep();
  const before = await histories();
  await env.DB.exec("UPDATE pipeline_history SET days = '{', builds = '['");
  await upkeep();
  expect(await histories()).toEqual(before);
});

it("the count reaches all of 310 pipelines with news, within D1's statements for a run", async () => {
  const pulls = Array.from({ length: 309 }, (_, n) => `p${n}`);
  for (const id of [...pulls, "z"]) await pipeline(id);
  let statements = 0;
  const DB = databaseWithHook(async (more) => {
    statements += more;
  });
  const most: number[] = [];
  for (let minute = 0; minute < 6; minute++) {
    const now = NOW + minute * MINUTE_MS;
    // Builds of z's default branch end in the first and third minute; the others have only pull requests.
    if (minute < 3) for (const pipelineId of pulls) await ended({ at: now - 2 * MINUTE_MS, pipelineId, pull: 7 });
    if (minute === 0 || minute === 2) await ended({ at: now - 2 * MINUTE_MS, pipelineId: "z" });
    statements = 0;
    await upkeep({ DB }, now);
    most.push(statements);
  }
  expect((await histories()).find(({ pipeline_id }) => pipeline_id === "z")?.builds).toHaveLength(2);
  expect(Math.max(...most)).toBeLessThan(700);
});
