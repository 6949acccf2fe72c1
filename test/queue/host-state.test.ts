import { describe, expect, it } from "vitest";
import { toldState } from "../../src/githosts/core/host-report.ts";
import { BuildReason } from "../../src/protocol/build.ts";
import { ENDED, STATUSES } from "../../src/protocol/build-states.ts";
import { LIMITS } from "../../src/protocol/limits.ts";
import type { BuildFacts, JobFacts } from "../../src/queue/state/facts.ts";
import { isHostDue, toHostReport } from "../../src/queue/state/host-state.ts";
import { confined } from "../../src/queue/state/trust.ts";
import { HOST, namedSha } from "../support/arrivals.ts";
import { TestPool } from "./test-pool.ts";

const pool = new TestPool();
const id = pool.build({ host: HOST, commitSha: namedSha("a") });
const { builds, jobs } = pool.model.storage.rows;

const told = (over: Partial<BuildFacts>, of = [jobs.get(id)!]): string => {
  const report = toHostReport({ ...builds.get(id)!, ...over }, of)!;
  return `${report.state}: ${report.description}`;
};

const ran = (seconds: number) => ({ startedAt: 1_000, finishedAt: 1_000 + seconds * 1_000 });

describe("the report on a build to its git host", () => {
  it.each<[over: Partial<BuildFacts>, expected: string]>([
    [{ status: "queued" }, "pending: Waits for an agent"],
    [{ status: "assigned" }, "pending: Runs"],
    [{ status: "canceling" }, "pending: Runs"],
    [{ status: "succeeded", ...ran(192) }, "success: Succeeded in 3 min 12 s"],
    [{ status: "succeeded", ...ran(3_725) }, "success: Succeeded in 1 h 2 min"],
    [{ status: "failed", ...ran(9) }, "failure: Failed after 9 s"],
    [{ status: "failed", reason: "timeout" }, "failure: Failed: it took too long"],
    [{ status: "failed", reason: "agent-lost" }, "error: Its agent was lost"],
    [{ status: "failed", reason: "environment" }, "error: Its environment could not be read"],
    [{ status: "failed", reason: "agent-error" }, "error: Its agent had an error"],
    [{ status: "canceled", reason: "canceled" }, "error: Canceled"],
    [{ status: "canceled", reason: "superseded" }, "error: Canceled: a newer commit took its place"],
    [{ status: "canceled", reason: "skipped" }, "success: Skipped: no matching file has changed"],
  ])("for %j is %s", (over, expected) => {
    expect(told(over)).toBe(expected);
  });

  it.each<[requires: BuildFacts["requires"], expected: string]>([
    [{ labels: ["ios"] }, "with label ios"],
    [{ ios: true, labels: ["big", "fast"] }, "with ios, labels big, fast"],
    [{ platform: "macos", ios: true }, "on macos with ios"],
  ])("names the requirements that a build waits for: %j", (requires, expected) => {
    const first = { ...jobs.get(id)!, requires };
    expect(told({ status: "queued" }, [first])).toBe(`pending: Waits for an agent ${expected}`);
  });

  it("names the untrusted label that a stranger's jobs wait for, as other agents do not take them", () => {
    const planned = { status: "queued", requires: { ios: true }, trust: "untrusted" } as const;
    const first = confined(jobs.get(id)!, planned);
    expect(told(planned, [first])).toBe("pending: Waits for an agent with label untrusted");
    expect(told(planned, [])).toBe("pending: Waits for an agent with ios, label untrusted");
  });

  it("has its repository, commit, number and version, and no text from a build or an agent", () => {
    const build = { ...builds.get(id)!, status: "failed", message: "<b>outside</b>", branch: "outside" } as const;
    expect(toHostReport(build, [jobs.get(id)!])).toEqual({
      ...{ ...HOST, buildId: id, number: 1, version: build.version, sha: namedSha("a") },
      ...{ state: "failure", description: "Failed", ref: "outside" },
    });
  });

  it.each([
    ["main", "main"],
    ["refs/tags/v1.2", "v1.2"],
    ["refs/merge-requests/7/head", "refs/merge-requests/7/head"],
  ])("for the branch %s has the ref %s", (branch, ref) => {
    expect(toHostReport({ ...builds.get(id)!, branch }, [jobs.get(id)!])).toMatchObject({ ref });
  });

  it("has the test results of the lease with the result only", () => {
    const result = { status: "failed", exitCode: 1, reason: null } as const;
    const counts = { total: 1204, failed: 3, skipped: 0, flaky: 1, seconds: 9 };
    const tests = { counts, warnings: 0, hasNews: true, fence: 7, day: "2026-11-23" };
    const said = (job: Partial<JobFacts>) =>
      toHostReport({ ...builds.get(id)!, status: "failed" }, [{ ...jobs.get(id)!, tests, fence: 7, result, ...job }])
        ?.description;
    expect(said({})).toBe("Failed: 3 of 1,204 tests failed, 1 flaky");
    expect(said({ fence: 8 })).toBe("Failed");
    expect(said({ result: null })).toBe("Failed");
  });

  it("has the sum of all jobs' test results if the build has several jobs", () => {
    const result = { status: "failed", exitCode: 1, reason: null } as const;
    const jobOf = (fence: number, failed: number): JobFacts => {
      const counts = { total: 10, failed, skipped: 0, flaky: 0, seconds: 1 };
      const tests = { counts, warnings: 0, hasNews: true, fence: 7, day: "2026-11-23" };
      return { ...jobs.get(id)!, tests, fence, result };
    };
    const build = { ...builds.get(id)!, status: "failed" } as const;
    const told = toHostReport(build, [jobOf(7, 1), jobOf(7, 2), jobOf(8, 4)]);
    expect(told?.description).toBe("Failed: 3 of 20 tests failed");
    expect(toHostReport(build, [])?.description).toBe("Failed");
  });

  it("has at most 140 characters, for any end", () => {
    const labels = Array.from({ length: LIMITS.labels }, (_, n) => `${n}`.padEnd(LIMITS.labelCharacters, "x"));
    for (const status of STATUSES)
      for (const reason of BuildReason.options) {
        const { description } = toHostReport({ ...builds.get(id)!, status, reason, requires: { labels } }, [])!;
        expect(description.length).toBeLessThanOrEqual(140);
      }
  });

  it("is empty if the commit is unknown or the build has no host", () => {
    expect(toHostReport({ ...builds.get(id)!, commitSha: null }, [jobs.get(id)!])).toBeNull();
    expect(toHostReport({ ...builds.get(id)!, host: null }, [jobs.get(id)!])).toBeNull();
  });

  it("is also due when the build starts and when it waits for approval, if the host shows phases", () => {
    const build = { ...builds.get(id)!, toldHost: "queued" } as const;
    const waitsAt = { jobs: ["deploy"], hostStatus: "pending" as const };
    const asking: BuildFacts = { ...build, status: "running", waitsAt };
    expect(isHostDue({ ...build, status: "queued" })).toBe(false);
    expect(isHostDue({ ...build, status: "running" })).toBe(true);
    expect(isHostDue({ ...build, status: "running", toldHost: "running" })).toBe(false);
    expect(isHostDue({ ...asking, toldHost: "running" })).toBe(true);
    expect(isHostDue({ ...asking, toldHost: "asking" })).toBe(false);
    expect(isHostDue({ ...asking, toldHost: "pending" })).toBe(false);
    expect(isHostDue({ ...build, status: "succeeded", toldHost: "running" })).toBe(true);
  });

  it("is due at the start and at the end, not between", () => {
    const build = { ...builds.get(id)!, toldHost: "pending" } as const;
    expect(isHostDue(builds.get(id)!)).toBe(true);
    const due = STATUSES.filter((status) => isHostDue({ ...build, status }));
    expect(due).toEqual(ENDED);
  });
});

it.each([true, false])(
  "the end of a build is reported after a success that covered a pending approval (phases %s)",
  (hearsPhases) => {
    const asking = toldState({ state: "success", phase: "asking" }, hearsPhases);
    const ended = { ...builds.get(id)!, status: "succeeded" as const };
    expect(isHostDue({ ...ended, toldHost: asking })).toBe(true);
    expect(isHostDue({ ...ended, toldHost: toldState({ state: "success" }, hearsPhases) })).toBe(false);
  },
);
