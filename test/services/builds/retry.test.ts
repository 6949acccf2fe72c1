import { afterEach, expect, it, vi } from "vitest";
import type { Build } from "../../../src/protocol/build.ts";
import { call, expectProblem } from "../../support/api.ts";
import { type BuildSetup, finishNewJob, newBuildSetup, pollOnce } from "../../support/build-setup.ts";
import { callDeployedWith, poolStub } from "../../support/deployment.ts";

const DAY_MS = 86_400_000;
const TOKEN = "run-token-4711";

afterEach(() => {
  vi.useRealTimers();
});

/** Runs a build, and then lets time pass until its pool has forgotten it. */
const forgottenBuild = async (setup: BuildSetup, run: object, after: number): Promise<Build> => {
  const { build } = await finishNewJob(setup, run);
  const pool = poolStub(setup.orgId);
  await pool.flush();
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + after });
  await pool.sweep();
  expect(await pool.getBuild(build.id)).toMatchObject({ ok: false });
  return build;
};

const retry = ({ admin }: BuildSetup, { id }: Build) => callDeployedWith({})(admin, "POST", `/build/${id}/retry`);

it("a retry reads requirements and priority from the archive, where the run had no values of its own", async () => {
  const setup = await newBuildSetup();
  await call(setup.admin, "PUT", `/buildagent/${setup.agent.id}`, { labels: ["big"] });
  const build = await forgottenBuild(setup, { labels: ["big"], priority: 7, commitSha: "d".repeat(40) }, 2 * DAY_MS);
  const { status, body } = await retry(setup, build);
  expect(status).toBe(201);
  expect(body).toMatchObject({ retryOf: build.id, priority: 7, commitSha: "d".repeat(40), branch: build.branch });
  await call(setup.admin, "PUT", `/buildagent/${setup.agent.id}`, { labels: [] });
  expect((await pollOnce(setup.agent)).status).toBe(204);
});

it("a retry includes the run's values while the pool keeps them", async () => {
  const setup = await newBuildSetup();
  const build = await forgottenBuild(setup, { envVariables: { RUN: TOKEN } }, 2 * DAY_MS);
  expect((await retry(setup, build)).status).toBe(201);
  expect((await pollOnce(setup.agent)).body.env).toMatchObject({ RUN: TOKEN });
});

it.each([{ envVariables: { RUN: TOKEN } }, { envVariables: { RUN: TOKEN }, secretKeys: ["RUN"] }])(
  "a retry is a conflict once the run's values are gone, and creates no build without them: %j",
  async (run) => {
    const setup = await newBuildSetup();
    const build = await forgottenBuild(setup, run, 400 * DAY_MS);
    const refused = await retry(setup, build);
    expectProblem(refused, 409, "conflict");
    expect(refused.text).toContain("no longer kept: trigger a new build");
  },
);
