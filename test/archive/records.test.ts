import { env } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import { dayOf, lastDayPast, logKey } from "../../src/archive/keys.ts";
import type { BuildRecord } from "../../src/archive/records.ts";
import { deleteRecord, getRecord, putRecord } from "../../src/archive/records.ts";

const build: BuildRecord & { finishedAt: string } = {
  id: "01934c6e-0000-7000-8000-000000000001",
  number: 7,
  orgId: "acme",
  repoId: "01934c6e-0000-7000-8000-000000000002",
  pipelineId: null,
  branch: "main",
  commitSha: null,
  status: "succeeded",
  ref: "refs/heads/main",
  event: "api",
  trigger: "api",
  trust: "trusted",
  approval: null,
  priority: 0,
  agentId: null,
  attempt: 1,
  exitCode: 0,
  reason: null,
  message: null,
  leak: false,
  environment: [],
  steps: [],
  summary: "All well",
  retryOf: null,
  createdBy: null,
  tag: null,
  pull: null,
  base: null,
  subject: null,
  author: null,
  schedule: null,
  supersededBy: null,
  jobs: null,
  waitsFor: [],
  jobCounts: null,
  failedLine: null,
  tests: null,
  queuedAt: "2026-11-22T23:50:00.000Z",
  startedAt: "2026-11-22T23:51:00.000Z",
  finishedAt: "2026-11-22T23:59:59.999Z",
  requires: { labels: ["ios"] },
};

describe("an ended build's record", () => {
  it("can be read back in full until it is deleted", async () => {
    await putRecord(env.ARCHIVE, build);
    await putRecord(env.ARCHIVE, { ...build, leak: true });
    expect(await getRecord(env.ARCHIVE, build)).toEqual({ ...build, leak: true });
    expect(await getRecord(env.ARCHIVE, { ...build, orgId: "other" })).toBeNull();
    await deleteRecord(env.ARCHIVE, build);
    expect(await getRecord(env.ARCHIVE, build)).toBeNull();
  });

  it("is stored under the day on which the build ended", async () => {
    await putRecord(env.ARCHIVE, build);
    const { objects } = await env.ARCHIVE.list({ prefix: "record/2026-11-22/" });
    expect(objects.map(({ key }) => key)).toEqual([`record/2026-11-22/${build.orgId}/${build.id}.json`]);
  });
});

describe("days", () => {
  it("begin at midnight UTC, and are kept whole", () => {
    const midnight = Date.parse("2026-11-22T00:00:00Z");
    expect([dayOf(midnight - 1), dayOf(midnight)]).toEqual(["2026-11-21", "2026-11-22"]);
    expect(lastDayPast(midnight, 90)).toBe(dayOf(midnight - 91 * 86_400_000));
    expect(logKey("2026-11-22", "acme", "job", 2)).toBe("log/2026-11-22/acme/job/2");
  });
});
