import { firstIdAt } from "../../src/domain/id-range.ts";

export interface EndedBuildRow {
  orgId: string;
  repoId: string;
  pipelineId: string;
  /** When it was created, in milliseconds since 1970. */
  at: number;
  number?: number;
  status?: string;
  ref?: string;
  pull?: number;
  flaky?: number;
  waitedMs?: number;
  tookMs?: number;
  subject?: string;
  author?: string;
  createdBy?: unknown;
  event?: string;
  commit?: string;
  retryOf?: string;
}

let last = 0;

/** Writes the row of an ended build, as its pool does. @returns its id */
export const writeEndedBuild = async (db: D1Database, build: EndedBuildRow): Promise<string> => {
  const { at, waitedMs = 5000, tookMs = 60_000 } = build;
  last += 1;
  const id = firstIdAt(at).slice(0, -12) + String(last).padStart(12, "0");
  const values = [
    ...[build.orgId, id, build.number ?? last, build.repoId, build.pipelineId, build.ref ?? "refs/heads/main"],
    ...[build.event ?? "push", "api", 0, build.status ?? "succeeded", 1, 0],
    ...[at, at + waitedMs, at + waitedMs + tookMs, 1],
    ...[build.pull ?? null, build.flaky === undefined ? null : JSON.stringify({ total: 9, flaky: build.flaky })],
    ...[build.subject ?? null, build.author ?? null, build.createdBy ? JSON.stringify(build.createdBy) : null],
    ...[build.commit ?? null, build.retryOf ?? null],
  ];
  await db
    .prepare(
      `INSERT INTO build_summary (org_id, id, number, repo_id, pipeline_id, ref, event, trigger, priority, status,
        attempt, leak, queued_at, started_at, finished_at, pool_version, pull_number, tests, subject, author, created_by,
        commit_sha, retry_of)
      VALUES (${values.map(() => "?").join(", ")})`,
    )
    .bind(...values)
    .run();
  return id;
};
