import { env } from "cloudflare:workers";
import { v7 as uuid } from "uuid";
import { beforeEach, describe, expect, it } from "vitest";
import { sha256Hex } from "../../../src/crypto/encoding.ts";
import type { BuildOrigin } from "../../../src/githosts/core/build-origin.ts";
import type { Job } from "../../../src/protocol/jobs.ts";
import type { Pipeline } from "../../../src/protocol/pipeline.ts";
import { call, expectProblem, newAgent, newPipeline } from "../../support/api.ts";
import { type BuildSetup, newBuildSetup, pollOnce, readBuild, triggerBuild } from "../../support/build-setup.ts";
import { DEFAULT_BUILD } from "../../support/default-build.ts";
import { poolStub } from "../../support/deployment.ts";
import { sendPlan } from "../../support/jobs.ts";

const STEPS = "steps: [{ run: make }]\n";
const FILE = `on: { push: { branches: [main, next] } }\nsupersede: none\n${STEPS}`;
const UNREAD = {
  ...{ source: "default", builds: "pushes to the default branch; pull requests", supersede: "refs" },
  ...{ commitSha: null, readAt: null, mistake: null },
};
const SHA = "0123456789012345678901234567890123456789";

let setup: BuildSetup;
beforeEach(async () => {
  setup = await newBuildSetup();
});

/** Triggers a build and starts its job. */
const begun = async (more: object = {}, start = true): Promise<Job> => {
  await triggerBuild(setup.admin, setup.pipeline.id, more);
  const { body: job } = await pollOnce(setup.agent);
  if (start) await report(job, "start");
  return job;
};

const report = ({ build, lease }: Job, verb: string, body?: object) =>
  call(setup.agent.token, "POST", `/build/${build.id}/${verb}`, body, { "X-Lease": String(lease) });
const finish = (job: Job) => report(job, "finish", { status: "succeeded", exitCode: 0 });
const send = ({ build, lease }: Job, text: string, token = setup.agent.token) =>
  call(token, "PUT", `/build/${build.id}/file`, text, { "X-Lease": String(lease) });
const pipelineNow = async () => (await call<Pipeline>(setup.admin, "GET", `/pipeline/${setup.pipeline.id}`)).body;
const update = (body: object) => call(setup.admin, "PUT", `/pipeline/${setup.pipeline.id}`, body);

/** Creates a build from a git host. @returns its job */
const arrived = async (origin: Partial<BuildOrigin>, more: object = {}): Promise<Job> => {
  const { orgId, repository, pipeline } = setup;
  const whole: BuildOrigin = {
    ...{ event: "push", before: null, pull: null, commit: null, schedule: null, paths: null, purpose: "build" },
    ...origin,
  };
  const ids = { id: uuid(), orgId, repoId: repository.id, pipelineId: pipeline.id };
  const made = await poolStub(orgId).enqueue({ ...DEFAULT_BUILD, ...ids, branch: "main", origin: whole, ...more });
  expect(made).toMatchObject({ ok: true });
  return (await pollOnce(setup.agent)).body;
};

describe("the default branch's file", () => {
  it("decides the pipeline's triggers once it is read", async () => {
    expect((await pipelineNow()).triggers).toEqual(UNREAD);
    const job = await begun();
    expect(job.file).toEqual({ hash: null, decides: true });
    await report(job, "progress", { commitSha: SHA });
    expect((await send(job, FILE)).status).toBe(204);
    expect((await pipelineNow()).triggers).toEqual({
      ...{ source: "file", builds: "pushes to main, next", supersede: "none", commitSha: SHA, mistake: null },
      readAt: expect.any(String),
    });
    await finish(job);
    const next = await begun();
    expect(next.file).toEqual({ hash: await sha256Hex(FILE), decides: true });
  });

  it("keeps its last valid version if a newer one has mistakes, and shows the first of them", async () => {
    const first = await begun();
    await send(first, FILE);
    await finish(first);
    const { triggers } = await pipelineNow();
    const second = await begun();
    const wrong = `on: { pusk: true }\n${STEPS}`;
    expect((await send(second, wrong)).status).toBe(204);
    expect((await pipelineNow()).triggers).toEqual({
      ...triggers,
      mistake: "1:7: `pusk` is not a key of `on`. Did you mean `push`?",
    });
    await finish(second);
    const third = await begun();
    expect(third.file?.hash).toBe(await sha256Hex(wrong));
    await send(third, FILE);
    expect((await pipelineNow()).triggers).toMatchObject({ builds: "pushes to main, next", mistake: null });
  });

  it("is forgotten once it is deleted", async () => {
    const first = await begun();
    await send(first, FILE);
    await finish(first);
    const second = await begun();
    await send(second, "");
    expect((await pipelineNow()).triggers).toEqual({ ...UNREAD, readAt: expect.any(String) });
    await finish(second);
    expect((await begun()).file?.hash).toBe(await sha256Hex(""));
  });

  it("defines the pipeline's schedules", async () => {
    const named = (...names: string[]) =>
      `schedule: [${names.map((name) => `{ name: ${name}, cron: 0 0 * * * }`).join(", ")}]\n${STEPS}`;
    const stored = async () => {
      const found = await env.DB.prepare("SELECT name FROM schedule WHERE pipeline_id = ? ORDER BY name")
        .bind(setup.pipeline.id)
        .all<{ name: string }>();
      return found.results.map(({ name }) => name);
    };
    const first = await begun();
    await send(first, named("a", "b"));
    expect(await stored()).toEqual(["a", "b"]);
    await finish(first);
    const second = await begun();
    await send(second, `schedule: []\non: { pusk: true }\n${STEPS}`);
    expect(await stored()).toEqual(["a", "b"]);
    await finish(second);
    await send(await begun(), named("b", "c"));
    expect(await stored()).toEqual(["b", "c"]);
    await update({ definition: named("d") });
    expect(await stored()).toEqual(["d"]);
    await update({ definition: null });
    expect(await stored()).toEqual([]);
  });

  it("is in the audit with the agent and the build", async () => {
    const job = await begun();
    await send(job, FILE);
    const { body } = await call(setup.admin, "GET", "/audit?action=pipeline.read-file");
    expect(body).toMatchObject([
      {
        ...{ actor: `agent:${setup.agent.id}`, subject: setup.pipeline.id },
        detail: { buildId: job.build.id, number: 1, source: "file", builds: "pushes to main, next", mistake: null },
      },
    ]);
  });

  it("changes nothing if the audit cannot be written", async () => {
    const job = await begun();
    const fault = "BEGIN SELECT RAISE(ABORT, 'the audit cannot be written'); END";
    await env.DB.prepare(`CREATE TRIGGER fault BEFORE INSERT ON audit_log ${fault}`).run();
    try {
      expectProblem(await send(job, FILE), 503, "unavailable");
    } finally {
      await env.DB.exec("DROP TRIGGER fault");
    }
    expect((await pipelineNow()).triggers).toEqual(UNREAD);
  });

  it("changes nothing and leaves no audit row when repeated, or sent by an older build", async () => {
    const other = await newAgent(setup.admin, { name: "slow" });
    await triggerBuild(setup.admin, setup.pipeline.id);
    const { body: slow } = await pollOnce(other);
    await call(other.token, "POST", `/build/${slow.build.id}/start`, undefined, { "X-Lease": String(slow.lease) });
    const fast = await begun();
    for (const again of [1, 2]) expect((await send(fast, FILE)).status, `${again}`).toBe(204);
    expectProblem(await send(fast, STEPS), 409, "conflict");
    expectProblem(await send(slow, STEPS, other.token), 409, "conflict");
    expect((await pipelineNow()).triggers.builds).toBe("pushes to main, next");
    expect((await call(setup.admin, "GET", "/audit?action=pipeline.read-file")).body).toHaveLength(1);
  });
});

describe("a file that cannot set the triggers", () => {
  const isRefused = async (job: Job) => {
    expect(job.file).toBeUndefined();
    await report(job, "start");
    expectProblem(await send(job, FILE), 409, "conflict");
    expect((await pipelineNow()).triggers).toEqual(UNREAD);
  };

  it("comes from another branch", async () => isRefused(await begun({ branch: "feature" }, false)));
  it("comes from a tag with the branch's name", async () =>
    isRefused(await begun({ branch: "refs/tags/main" }, false)));
  it("comes from a pull request from a branch", async () =>
    isRefused(await begun({ branch: "refs/pull/7/head" }, false)));

  it("comes from a commit in the request, which may be an old one of the branch", async () => {
    const job = await begun({ commitSha: SHA }, false);
    expect(job.build).toMatchObject({ branch: "main", commitSha: SHA });
    expect(job.file).toBeUndefined();
    await report(job, "start");
    await finish(job);
    expect((await arrived({}, { commitSha: SHA })).file).toEqual({ hash: null, decides: true });
  });

  it("comes from a retry, which builds an old commit", async () => {
    const job = await begun();
    await report(job, "finish", { status: "failed", exitCode: 1 });
    await call(setup.admin, "POST", `/build/${job.build.id}/retry`);
    await isRefused((await pollOnce(setup.agent)).body);
  });

  it("comes from a pipeline with a definition", async () => {
    await update({ definition: STEPS });
    const job = await begun();
    expect(job.file).toBeUndefined();
    expectProblem(await send(job, FILE), 409, "conflict");
    expect((await pipelineNow()).triggers).toMatchObject({ source: "file", builds: UNREAD.builds });
  });

  it("comes from an agent without the lease, or before the start", async () => {
    const job = await begun({}, false);
    expectProblem(await send(job, FILE), 409, "conflict");
    await report(job, "start");
    expectProblem(await send({ ...job, lease: job.lease + 1 }, FILE), 409, "lease-lost");
    const other = await newAgent(setup.admin, { name: "other" });
    expectProblem(await send(job, FILE, other.token), 409, "lease-lost");
    expectProblem(await send(job, FILE, setup.admin), 403, "forbidden");
    await finish(job);
    expectProblem(await send(job, FILE), 409, "lease-lost");
    expect((await pipelineNow()).triggers).toEqual(UNREAD);
  });

  it("is too large, or not text", async () => {
    const job = await begun();
    expectProblem(await send(job, `#${"x".repeat(262_144)}`), 413, "too-large");
    const bytes = call(setup.agent.token, "PUT", `/build/${job.build.id}/file`, new Uint8Array([0xc3, 0x28]), {
      "X-Lease": String(job.lease),
    });
    expectProblem(await bytes, 400, "malformed-body");
  });

  it.each(["\0", "a: &a [*a]", "[".repeat(10_000), "on: !!js/function x", "\ufeff", "on: { __proto__: 1 }"])(
    "cannot be read: %j",
    async (text) => {
      expect((await send(await begun(), text)).status).toBe(204);
      expect((await pipelineNow()).triggers).toMatchObject({ source: "default", mistake: expect.any(String) });
    },
  );
});

describe("a pipeline's own `on` and `supersede`", () => {
  it("override the file, which is still read", async () => {
    const on = { tag: { names: ["v*"] }, "merge-group": true };
    expect((await update({ on, supersede: "all" })).body).toMatchObject({
      ...{ on, supersede: "all" },
      triggers: { source: "record", builds: "tags v*; merge groups", supersede: "all" },
    });
    const job = await begun();
    expect(job.file).toEqual({ hash: null, decides: false });
    await send(job, FILE);
    expect((await pipelineNow()).triggers).toMatchObject({ source: "record", builds: "tags v*; merge groups" });
    expect((await update({ on: null })).body.triggers).toMatchObject({ source: "file", supersede: "all" });
    expect((await update({ supersede: "file" })).body.triggers).toMatchObject({ supersede: "none" });
  });

  it("may be sent back unchanged, even if a file was read in the meantime", async () => {
    const read = await pipelineNow();
    await send(await begun(), FILE);
    expect(await update(read)).toMatchObject({ status: 200, body: { triggers: { source: "file" } } });
  });

  it("apply to a new pipeline too, with a definition that takes effect at once", async () => {
    const made = await newPipeline(setup.admin, setup.repository.id, { name: "inline", definition: FILE });
    expect(made).toMatchObject({ on: null, supersede: "file", triggers: { source: "file", supersede: "none" } });
    const own = await newPipeline(setup.admin, setup.repository.id, { name: "own", on: {}, supersede: "none" });
    expect(own.triggers).toMatchObject({ source: "record", builds: expect.stringContaining("nothing") });
  });

  it.each<[object, string]>([
    [{ push: "main" }, "/on/push"],
    [{ push: null }, "/on/push"],
    [{ pushes: true }, "/on"],
    [{ push: { branches: ["v[9-0]"] } }, "/on/push/branches/0"],
    [{ push: { branches: [] } }, "/on/push/branches"],
    [{ push: { paths: ["a", "/b"] } }, "/on/push/paths/1"],
    [{ tag: { names: ["!a"] } }, "/on/tag/names/0"],
    [{ pull: { labels: [""] } }, "/on/pull/labels/0"],
    [{ pull: { base: Array(101).fill("a") } }, "/on/pull/base"],
    [{ "merge-group": false }, "/on/merge-group"],
  ])("are rejected where no file could have them: %j", async (on, pointer) => {
    const answer = await update({ on });
    expectProblem(answer, 422, "invalid");
    expect(answer.body.errors[0].pointer).toMatch(new RegExp(`^${pointer}`));
  });
});

describe("a git host's build", () => {
  it("gets the last successful commit of its branch", async () => {
    const [green, red, elsewhere] = ["a", "b", "c"].map((digit) => digit.repeat(40)) as [string, string, string];
    const ended = async (commitSha: string, branch: string, status: string) => {
      const job = await arrived({}, { commitSha, branch });
      await report(job, "start");
      await report(job, "finish", { status, exitCode: 0 });
      await poolStub(setup.orgId).flush();
      return job;
    };
    expect((await ended(green, "main", "succeeded")).base).toBeUndefined();
    await ended(elsewhere, "next", "succeeded");
    await ended(red, "main", "failed");
    const pushed = await arrived({}, { commitSha: "d".repeat(40) });
    expect(pushed.base).toEqual({ sha: green });
    await report(pushed, "start");
    await report(pushed, "finish", { status: "failed", exitCode: 1 });
    expect((await arrived({}, { commitSha: green })).base).toBeUndefined();
  });

  it("gets its base branch for a pull request, and nothing for a request", async () => {
    const pull = { number: 7, base: "main", branch: "feature", title: "t", author: "a" };
    const asked = await arrived({ event: "pull", pull, paths: ["docs/**"] }, { branch: "feature" });
    expect(asked).toMatchObject({ base: { branch: "main" }, paths: ["docs/**"], build: { event: "pull", pull } });
    await report(asked, "start");
    await finish(asked);
    const requested = await begun({ branch: "feature" });
    for (const field of ["base", "paths", "purpose", "file"]) expect(requested).not.toHaveProperty(field);
  });

  it.each<[string, Partial<BuildOrigin>, string, string | null]>([
    ["that compares paths", { paths: ["docs/**"] }, "canceled", "skipped"],
    ["that only reads the file", { purpose: "read-file" }, "canceled", "skipped"],
    ["without either", {}, "failed", "skipped"],
  ])("%s ends as skipped by its agent: %j", async (_, origin, status, reason) => {
    const job = await arrived(origin);
    await report(job, "start");
    const body = { status: "canceled", reason: "skipped", message: "Skipped: nothing changed" };
    for (const again of [1, 2]) expect((await report(job, "finish", body)).status, `${again}`).toBe(200);
    expect(await readBuild(setup.admin, job.build.id)).toMatchObject({ status, reason, message: body.message });
  });

  it.each<[string, string, object | undefined, number]>([
    ["is planned where the file wants the push", "on: { push: {} }\n", undefined, 200],
    ["is not planned where the file does not want it", "on: { pull: {} }\n", undefined, 409],
    ["is not planned where the pipeline's own `on` decides", "on: { push: {} }\n", { on: { tag: {} } }, 409],
  ])("that only reads the file %s", async (_, on, change, status) => {
    if (change) await update(change);
    const job = await arrived({ purpose: "read-file" }, { commitSha: SHA });
    await report(job, "start");
    const jobs = `${on}jobs: { a: { steps: [{ run: make }] } }\n`;
    const answer = await sendPlan(setup.agent, job, jobs, { commitSha: SHA });
    expect(answer, answer.text).toMatchObject({ status });
  });

  it("shows the commit that it was compared with", async () => {
    const job = await arrived({});
    await report(job, "start");
    await report(job, "progress", { base: SHA });
    expect((await readBuild(setup.admin, job.build.id)).base).toBe(SHA);
    expectProblem(await report(job, "progress", { base: "main" }), 422, "invalid");
  });
});
