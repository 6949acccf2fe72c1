import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { putRecord } from "../../src/archive/records.ts";
import type { Build } from "../../src/protocol/build.ts";
import type { JobOfBuild } from "../../src/protocol/build-job.ts";
import { call, newOrganization, newRepository, newToken } from "../support/api.ts";
import { writeSummary } from "../support/summary-row.ts";
import { idleJob, jobRecord } from "./job-records.ts";
import { personWith } from "./page-requests.ts";

const dropped = (job: string) =>
  ({ status: "dropped", depth: 1, cause: { kind: "need-failed", job, text: null } }) as const;

/** An ended build of these jobs, and the markup of its page for a token of this role. */
const stage = async (jobs: JobOfBuild[], more: Record<string, string | number | null> = { status: "failed" }) => {
  const { orgId, admin } = await newOrganization();
  const { id: repoId } = await newRepository(admin);
  const { id } = await writeSummary(orgId, { repo_id: repoId, ...more });
  const { body } = await call<Build>(admin, "GET", `/build/${id}`);
  await putRecord(env.ARCHIVE, { ...body, jobs });
  const page = async (role: "viewer" | "member") =>
    (await personWith(await newToken(admin, role))).open(`/builds/${id}`);
  return { id, page };
};

describe("the page of a build of several jobs that has ended", () => {
  const jobs = [
    jobRecord("lint"),
    jobRecord("test", { status: "failed", exitCode: 3 }),
    idleJob("deploy", { needs: ["test"], ...dropped("test") }),
  ];

  it("shows its jobs in place of steps and log, names the one that failed, and links to each", async () => {
    const { id, page } = await stage(jobs, { status: "failed", exit_code: 3 });
    const { text } = await page("viewer");
    expect(text).toContain("1 failed, 1 dropped, 1 succeeded");
    for (const job of jobs) expect(text).toContain(`href="/app/jobs/${job.id}"`);
    expect(text).toMatch(new RegExp(`exit 3</span>.*in <a href="/app/jobs/${jobs[1]?.id}">test</a>`));
    expect(text).not.toContain('id="log"');
    expect(text).toContain(`<a href="/app/builds/${id}/log">Log of the planning</a>`);
  });

  it("offers to retry what failed, with how much that is, to those who may", async () => {
    const { page } = await stage(jobs);
    expect((await page("member")).text).toContain("Retry failed (2 of 3)");
    expect((await page("viewer")).text).not.toContain("Retry failed");
    const green = await stage([jobRecord("lint")], { status: "succeeded" });
    expect((await green.page("member")).text).not.toContain("Retry failed");
  });
});
