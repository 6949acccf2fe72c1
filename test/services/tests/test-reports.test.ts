import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import type { Build } from "../../../src/protocol/build.ts";
import type { Job } from "../../../src/protocol/jobs.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";
import type { TestReport } from "../../../src/protocol/test-report.ts";
import type { Variable } from "../../../src/protocol/variable.ts";
import { signIn } from "../../dashboard/shell/page-requests.ts";
import { type Answer, call, create, expectProblem, newAgent, newOrganization } from "../../support/api.ts";
import { sendArtifact } from "../../support/artifacts.ts";
import { type BuildSetup, newBuildSetup, pollOnce, readBuild, triggerBuild } from "../../support/build-setup.ts";
import { callDeployedWith, poolStub } from "../../support/deployment.ts";
import { COMMIT, callWithLease, planNextBuild, startNextJob } from "../../support/jobs.ts";
import { newPlannedBuild, newStartedBuild } from "../../support/new-builds.ts";
import { reportedTest, testId, testReport } from "../../support/tests.ts";

const FAILED = reportedTest(1);
const FLAKY = reportedTest(2, { outcome: "passed", isFlaky: true, tries: 2 });
const SLOW = reportedTest(3, { outcome: "passed", message: "", text: "", seconds: 9 });
const REPORT = testReport([FAILED, FLAKY, SLOW]);
const SUMMARY = { ...REPORT.counts, warnings: 0 };

const send = (agent: BuildSetup["agent"], job: Job, report: object) =>
  callWithLease(agent, job, "PUT", "tests", report);
const finish = async (agent: BuildSetup["agent"], job: Job, status = "failed") => {
  const answer = await callWithLease(agent, job, "POST", "finish", { status, exitCode: 0 });
  expect(answer, answer.text).toMatchObject({ status: 200 });
};

/** Starts a build of the commit, whose agent sends this report. @returns its job and id, and the report's answer */
const built = async (setup: BuildSetup, report: object, more: object = {}) => {
  await triggerBuild(setup.admin, setup.pipeline.id, { commitSha: COMMIT, ...more });
  const job = await startNextJob(setup.agent);
  const sent = await send(setup.agent, job, report);
  expect(sent, sent.text).toMatchObject({ status: 200 });
  return { job, id: job.build.id, failedBefore: sent.body.failedBefore as string[] };
};

const kept = async (prefix: string): Promise<string> => {
  const { objects } = await env.ARCHIVE.list({ prefix });
  const texts = objects.map(async ({ key }) => {
    const found = await env.ARCHIVE.get(key);
    return found ? new Response(found.body.pipeThrough(new DecompressionStream("gzip"))).text() : "";
  });
  return (await Promise.all(texts)).join("\n");
};
const keysOf = async (orgId: string): Promise<string[]> => {
  const { objects } = await env.ARCHIVE.list({ prefix: "tests/" });
  return objects.map(({ key }) => key).filter((key) => key.includes(`/${orgId}/`));
};

describe("a test report", () => {
  it("is shown while the build runs, after it ends, and in lists", async () => {
    const { admin, agent, job, id, orgId } = await newStartedBuild();
    expect((await readBuild(admin, id)).tests).toBeNull();
    const sent = await send(agent, job, REPORT);
    expect(sent, sent.text).toMatchObject({ status: 200, body: { failedBefore: [] } });
    expect((await readBuild(admin, id)).tests).toEqual(SUMMARY);
    await finish(agent, job);
    const [report] = (await call(admin, "GET", `/build/${id}/tests`)).body;
    expect(report).toEqual({
      ...{ jobId: id, jobKey: null, counts: REPORT.counts, warnings: [] },
      tests: REPORT.tests.map((test) => ({ ...test, failures: test === SLOW ? 0 : 1 })),
    });
    expect((await call(admin, "GET", `/job/${id}/tests`)).body).toEqual(report);
    await poolStub(orgId).flush();
    const [listed] = (await call<Build[]>(admin, "GET", "/build")).body;
    expect(listed?.tests).toEqual(SUMMARY);
  });

  it("belongs to its job, and the build has the sum", async () => {
    const jobs = "jobs:\n  a: { steps: [{ run: x }] }\n  b: { steps: [{ run: x }] }\n  c: { steps: [{ run: x }] }\n";
    const { admin, agent, buildId, ids } = await newPlannedBuild(jobs);
    for (const report of [REPORT, REPORT, null]) {
      const job = await startNextJob(agent);
      if (report) await send(agent, job, report);
      await finish(agent, job, "succeeded");
      if (job.job?.key !== "a") continue;
      const { tests, jobs: running } = await readBuild(admin, buildId);
      expect([tests, running?.map(({ tests }) => tests)]).toEqual([SUMMARY, [SUMMARY, null, null]]);
    }
    const build = await readBuild(admin, buildId);
    expect(build.tests).toMatchObject({ total: 26, failed: 2, flaky: 2, seconds: 25 });
    expect(build.jobs?.map(({ tests }) => tests)).toEqual([SUMMARY, SUMMARY, null]);
    const reports = (await call(admin, "GET", `/build/${buildId}/tests`)).body;
    expect(reports.map(({ jobKey }: { jobKey: string }) => jobKey)).toEqual(["a", "b"]);
    expect((await call(admin, "GET", `/job/${ids.b}/tests`)).body).toMatchObject({ jobId: ids.b, jobKey: "b" });
    expectProblem(await call(admin, "GET", `/job/${ids.c}/tests`), 404, "not-found");
    expectProblem(await call(admin, "GET", `/job/${buildId}/tests`), 404, "not-found");
  });

  it("counts in its last version, and a build without one writes no row and no object", async () => {
    const { admin, agent, job, id, orgId } = await newStartedBuild();
    await send(agent, job, REPORT);
    await send(agent, job, testReport([]));
    expect((await readBuild(admin, id)).tests).toMatchObject({ total: 10, failed: 0 });
    expect(await keysOf(orgId)).toHaveLength(1);
    await finish(agent, job, "succeeded");
    await triggerBuild(admin, job.build.pipelineId ?? "");
    await finish(agent, await startNextJob(agent), "succeeded");
    expect(await keysOf(orgId)).toHaveLength(1);
    const { results } = await env.DB.prepare("SELECT 1 FROM test_result WHERE org_id = ?").bind(orgId).all();
    expect(results).toEqual([]);
  });
});

describe("the page of a build with 12 jobs and reports", () => {
  it("reads ten reports in its tests part, three failed ones beside the failure, and none elsewhere", async () => {
    const jobs = Array.from({ length: 12 }, (_, n) => `  j${n}: { steps: [{ run: x }] }\n`).join("");
    const { admin, agent, buildId, ids } = await newPlannedBuild(`jobs:\n${jobs}`);
    const fine = testReport([SLOW]);
    const run = async (report: object, status = "succeeded") => {
      const job = await startNextJob(agent);
      await send(agent, job, report);
      if (job.job?.key === "j0") await sendArtifact(agent, job, "report", { "a.txt": "text" });
      await finish(agent, job, status);
    };
    let read = 0;
    const ARCHIVE = new Proxy(env.ARCHIVE, {
      get:
        (archive, name) =>
        (key: string, ...more: unknown[]) => {
          if (name === "get" && key.startsWith("tests/")) read += 1;
          return (archive[name as "get"] as (...all: unknown[]) => unknown).call(archive, key, ...more);
        },
    });
    const Cookie = (await signIn(admin)).split(";")[0]!;
    const opened = async (tab: string) => {
      read = 0;
      const path = `/app/builds/${buildId}?tab=${tab}`;
      const { status, text, headers } = await callDeployedWith({ ARCHIVE })("", "GET", path, undefined, { Cookie });
      expect(status).toBe(200);
      const rounds = Number(/rounds=(\d+)/.exec(headers.get("Server-Timing") ?? "")?.[1]);
      expect(rounds).toBeLessThanOrEqual(3);
      return { read, text };
    };
    for (let n = 0; n < 7; n++) await run(fine);
    expect([(await opened("artifacts")).read, (await opened("tests")).read]).toEqual([0, 7]);
    for (let n = 7; n < 12; n++) await run(REPORT, "failed");
    const { read: beside, text } = await opened("artifacts");
    expect([beside, text]).toEqual([3, expect.stringContaining("2 more failed")]);
    const whole = await opened("tests");
    expect([whole.read, whole.text]).toEqual([10, expect.stringContaining("5 failures")]);
    expect(whole.text).toContain("For 2 more jobs, see the reports on the job pages.");
    const all = await call(admin, "GET", `/build/${buildId}/tests`);
    expect([all.body.length, all.headers.get("Link")]).toEqual([12, null]);
    read = 0;
    const ofJob = await callDeployedWith({ ARCHIVE })("", "GET", `/app/jobs/${ids.j0}`, undefined, { Cookie });
    expect([ofJob.status, read]).toEqual([200, 0]);
  });
});

describe("the tests of a build with six jobs and reports of almost a mebibyte", () => {
  it("come in pages that end after four, and no report is read twice", async () => {
    const jobs = Array.from({ length: 6 }, (_, n) => `  j${n}: { steps: [{ run: x }] }\n`).join("");
    const { admin, agent, buildId } = await newPlannedBuild(`jobs:\n${jobs}`);
    const text = "x".repeat(LIMITS.testTextCharacters);
    const large = testReport(Array.from({ length: 63 }, (_, n) => reportedTest(n, { text })));
    for (let n = 0; n < 6; n++) {
      const job = await startNextJob(agent);
      expect((await send(agent, job, large)).status).toBe(200);
      await finish(agent, job, "succeeded");
    }
    let read = 0;
    const ARCHIVE = new Proxy(env.ARCHIVE, {
      get: (archive) => (key: string) => {
        read += 1;
        return archive.get(key);
      },
    });
    const get = callDeployedWith({ ARCHIVE });
    const pagesOf = async (query: string) => {
      const pages: { keys: string[]; read: number }[] = [];
      for (let next: string | undefined = `/build/${buildId}/tests${query}`; next; ) {
        read = 0;
        const { body, headers, text }: Answer<TestReport[]> = await get<TestReport[]>(admin, "GET", next);
        expect(text.length).toBeLessThan(5 * 1024 * 1024);
        pages.push({ keys: body.map(({ jobKey }) => jobKey ?? ""), read });
        next = /https:\/\/[^/]+(.*)>; rel="next"/.exec(headers.get("Link") ?? "")?.[1];
      }
      return pages;
    };
    expect(await pagesOf("")).toEqual([
      { keys: ["j0", "j1", "j2", "j3"], read: 4 },
      { keys: ["j4", "j5"], read: 2 },
    ]);
    expect((await pagesOf("?limit=3")).map(({ keys }) => keys.length)).toEqual([3, 3]);
    // Before it had pages, this address ignored unknown parameters. It still does.
    expect((await get(admin, "GET", `/build/${buildId}/tests?limit=1&page=1`)).body).toHaveLength(1);
    expectProblem(await get(admin, "GET", `/build/${buildId}/tests?cursor=x`), 422, "invalid");
    const Cookie = (await signIn(admin)).split(";")[0]!;
    read = 0;
    const page = await get("", "GET", `/app/builds/${buildId}?tab=tests`, undefined, { Cookie });
    expect(page.text).toContain("For 2 more jobs, see the reports on the job pages.");
    expect(read).toBe(4);
  });
});

describe("sending a test report", () => {
  it("requires the job's lease", async () => {
    const { admin, agent, job, id, orgId } = await newStartedBuild();
    const other = await newAgent(admin);
    expectProblem(await send(agent, { ...job, lease: job.lease + 1 }, REPORT), 409, "lease-lost");
    expectProblem(await send({ ...agent, token: other.token }, job, REPORT), 409, "lease-lost");
    const stranger = await newAgent((await newOrganization()).admin);
    expectProblem(await send({ ...agent, token: stranger.token }, job, REPORT), 404, "not-found");
    await finish(agent, job, "succeeded");
    expectProblem(await send(agent, job, REPORT), 409, "lease-lost");
    expect((await readBuild(admin, id)).tests).toBeNull();
    expect(await keysOf(orgId)).toEqual([]);
  });

  it.each([
    ["more failures than tests", { counts: { ...REPORT.counts, failed: 99 } }],
    ["fewer failures than it lists", { counts: { ...REPORT.counts, failed: 0 } }],
    ["fewer flaky tests than it lists", { counts: { ...REPORT.counts, flaky: 0 } }],
    ["fewer tests than it lists", { counts: { ...REPORT.counts, total: 2, failed: 1, flaky: 1 } }],
    ["a flaky test that failed", { tests: [{ ...FLAKY, outcome: "failed" }] }],
    ["a number below zero", { counts: { ...REPORT.counts, total: -1 } }],
    ["100,001 tests", { counts: { ...REPORT.counts, total: 100_001 } }],
    ["501 tests", testReport(Array.from({ length: 501 }, (_, number) => reportedTest(number)))],
    ["the same id twice", testReport([FAILED, FAILED])],
    ["an invalid id", testReport([{ ...FAILED, id: "../../../etc" }])],
    ["a name that is too long", testReport([{ ...FAILED, name: "x".repeat(501) }])],
    ["a text that is too long", testReport([{ ...FAILED, text: "x".repeat(16_385) }])],
    ["too many warnings", { warnings: Array(51).fill({ file: null, message: "x" }) }],
    ["a list in place of text", testReport([{ ...FAILED, text: ["x"] as unknown as string }])],
  ])("fails with %s, and loses nothing", async (_, more) => {
    const { admin, agent, job, id, orgId } = await newStartedBuild();
    await send(agent, job, testReport([]));
    expectProblem(await send(agent, job, { ...REPORT, ...more }), 422, "invalid");
    expect((await readBuild(admin, id)).tests).toMatchObject({ total: 10 });
    expect(await keysOf(orgId)).toHaveLength(1);
  });

  it("never reveals a secret in a text, and drops invalid characters", async () => {
    const setup = await newBuildSetup();
    const { admin, agent, orgId } = setup;
    const secret = `secret-${crypto.randomUUID()}`;
    const scope = { scope: "organization", orgId };
    await create<Variable>(admin, "/secrets/variables", { key: "KEY", value: secret, isSecret: true, ...scope });
    const dirty = `<b>\u001b[31m${secret}\u0000\u202e</b>`;
    const all = { suite: dirty, className: dirty, name: dirty, file: dirty, message: dirty, text: dirty };
    const warnings = [{ file: secret, message: secret }];
    await triggerBuild(admin, setup.pipeline.id);
    const { body: job } = await pollOnce(agent);
    const { id } = job.build;
    await callWithLease(agent, job, "POST", "start");
    const sent = await send(agent, job, testReport([reportedTest(1, all)], 10, { warnings }));
    expect(sent, sent.text).toMatchObject({ status: 200 });
    await finish(agent, job);
    const clean = "<b>\ufffd[31m***\ufffd\ufffd</b>";
    const shown = (await call(admin, "GET", `/build/${id}/tests`)).body[0];
    expect(shown.tests[0]).toMatchObject({ suite: clean, className: clean, name: clean, file: clean, text: clean });
    expect(shown.warnings).toEqual([{ file: "***", message: "***" }]);
    const rows = await env.DB.prepare("SELECT * FROM test_result WHERE org_id = ?").bind(orgId).all();
    expect(rows.results).toHaveLength(1);
    const everything = `${JSON.stringify(rows.results)} ${await kept("tests/")}`;
    expect(everything).toContain("***");
    expect(everything).not.toContain(secret);
  });
});

describe("a test that fails in some builds of a commit", () => {
  const PASSED = testReport([], 12);

  it("is flaky once it has passed in another build", async () => {
    const setup = await newBuildSetup();
    const { admin, agent, repository } = setup;
    const flaky = async () => (await call(admin, "GET", `/repository/${repository.id}/flaky`)).body;
    const first = await built(setup, testReport([FAILED]));
    expect(first.failedBefore).toEqual([]);
    await finish(agent, first.job);
    expect(await flaky()).toEqual([]);
    const second = await built(setup, PASSED);
    expect(second.failedBefore).toEqual([FAILED.id]);
    await send(agent, second.job, { ...PASSED, passed: [FAILED.id, testId(99)] });
    expect(await flaky()).toEqual([]);
    await finish(agent, second.job, "succeeded");
    expect(await flaky()).toMatchObject([{ id: FAILED.id, name: "adds 1", times: 1, lastBuildId: first.id }]);
    const history = await call(admin, "GET", `/repository/${repository.id}/test/${FAILED.id}`);
    expect(history.body).toMatchObject({ id: FAILED.id, failures: [{ buildId: first.id, kind: "flaky" }] });
    expectProblem(await call(admin, "GET", `/repository/${repository.id}/test/${testId(99)}`), 404, "not-found");
  });

  it("is not flaky where it passed on another commit, in another repository, or under a lost lease", async () => {
    const setup = await newBuildSetup();
    const { admin, agent, repository } = setup;
    const first = await built(setup, testReport([FAILED]));
    await finish(agent, first.job);
    const other = await built(setup, PASSED, { commitSha: "d".repeat(40) });
    expect(other.failedBefore).toEqual([]);
    await send(agent, other.job, { ...PASSED, passed: [FAILED.id] });
    await finish(agent, other.job, "succeeded");
    const lost = await built(setup, PASSED);
    await send(agent, lost.job, { ...PASSED, passed: [FAILED.id] });
    await callWithLease(agent, lost.job, "POST", "release", { reason: "stopped", interrupted: true });
    expect((await call(admin, "GET", `/repository/${repository.id}/flaky`)).body).toEqual([]);
    expect((await readBuild(admin, lost.id)).tests).toBeNull();
    const stranger = await newBuildSetup();
    expect((await built(stranger, PASSED)).failedBefore).toEqual([]);
    expectProblem(await call(stranger.admin, "GET", `/repository/${repository.id}/flaky`), 404, "not-found");
    expectProblem(
      await call(stranger.admin, "GET", `/repository/${repository.id}/test/${FAILED.id}`),
      404,
      "not-found",
    );
    expectProblem(await call(stranger.admin, "GET", `/build/${first.id}/tests`), 404, "not-found");
  });

  it("leaves the list after five builds of the default branch", async () => {
    const setup = await newBuildSetup();
    const { admin, agent, repository, orgId } = setup;
    const flaky = async () => (await call(admin, "GET", `/repository/${repository.id}/flaky`)).body.length;
    await finish(agent, (await built(setup, testReport([FLAKY]))).job, "succeeded");
    const seen: number[] = [await flaky()];
    for (let build = 0; build < 5; build++) {
      await finish(agent, (await built(setup, PASSED)).job, "succeeded");
      await poolStub(orgId).flush();
      seen.push(await flaky());
    }
    expect(seen).toEqual([1, 1, 1, 1, 1, 0]);
  });

  it("is not recorded where more than half of all tests failed", async () => {
    const setup = await newBuildSetup();
    const { job, id } = await built(setup, testReport([FAILED, reportedTest(4)], 1));
    await finish(setup.agent, job);
    const rows = await env.DB.prepare("SELECT 1 FROM test_result WHERE build_id = ?").bind(id).all();
    expect(rows.results).toEqual([]);
  });
});

describe("failed tests in the jobs of one build", () => {
  it("are recorded up to 500, however many jobs there are", async () => {
    const { admin, agent, buildId, ids } = await newPlannedBuild(
      "jobs:\n  a: { steps: [{ run: x }] }\n  b: { steps: [{ run: x }] }\n",
    );
    for (const first of [0, 300]) {
      const job = await startNextJob(agent);
      const tests = Array.from({ length: 299 }, (_, n) => reportedTest(first + n));
      const flaky = reportedTest(first + 299, { outcome: "passed", isFlaky: true, tries: 2 });
      await send(agent, job, testReport([...tests, flaky], 1000));
      await finish(agent, job);
    }
    const query =
      "SELECT job_id, count(*) AS rows, sum(kind = 'flaky') AS flaky FROM test_result WHERE build_id = ? GROUP BY job_id";
    const { results } = await env.DB.prepare(query).bind(buildId).all<{ job_id: string }>();
    expect(new Map(results.map(({ job_id, ...row }) => [job_id, row]))).toEqual(
      new Map([
        [ids.a, { rows: 300, flaky: 1 }],
        [ids.b, { rows: 200, flaky: 1 }],
      ]),
    );
    expect((await readBuild(admin, buildId)).tests).toMatchObject({ failed: 598, flaky: 2 });
  });
});

describe("deleting a build with test reports", () => {
  it("deletes the reports of all its jobs, and the recorded failures", async () => {
    const setup = await newBuildSetup();
    const { admin, agent, orgId } = setup;
    const { job, id } = await built(setup, testReport([FAILED]));
    await finish(agent, job);
    await triggerBuild(admin, setup.pipeline.id);
    const several = await planNextBuild(agent, "jobs: { a: { steps: [{ run: x }] } }");
    const one = await startNextJob(agent);
    await send(agent, one, testReport([FAILED]));
    await finish(agent, one);
    await poolStub(orgId).flush();
    const rows = async () =>
      (await env.DB.prepare("SELECT 1 FROM test_result WHERE org_id = ?").bind(orgId).all()).results.length;
    expect([await rows(), (await keysOf(orgId)).length]).toEqual([2, 2]);
    for (const buildId of [id, several.buildId]) {
      const deleted = await call(admin, "DELETE", `/build/${buildId}`);
      expect(deleted, deleted.text).toMatchObject({ status: 204 });
    }
    await poolStub(orgId).flush();
    expect([await rows(), (await keysOf(orgId)).length]).toEqual([0, 0]);
  });
});
