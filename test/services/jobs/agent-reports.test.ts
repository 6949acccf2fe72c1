import { describe, expect, it } from "vitest";
import type { Build, Step } from "../../../src/protocol/build.ts";
import type { Variable } from "../../../src/protocol/variable.ts";
import { call, create } from "../../support/api.ts";
import { newBuildSetup, pollOnce, readBuild, triggerBuild } from "../../support/build-setup.ts";
import { poolStub } from "../../support/deployment.ts";

const step = (over: Partial<Step>): Step => ({
  ...{ id: null, name: "step", status: "succeeded", exitCode: 0, startedAt: null, finishedAt: null, logOffset: null },
  ...over,
});

/** Creates a started build, and functions for its agent's reports. */
const begun = async () => {
  const works = await newBuildSetup();
  const secret = `secret-${crypto.randomUUID()}`;
  const scope = { scope: "organization", orgId: works.orgId };
  await create<Variable>(works.admin, "/secrets/variables", { key: "KEY", value: secret, isSecret: true, ...scope });
  const { id } = await triggerBuild(works.admin, works.pipeline.id);
  const headers = { "X-Lease": String((await pollOnce(works.agent)).body.lease) };
  await call(works.agent.token, "POST", `/build/${id}/start`, undefined, headers);
  const tell = (body: object) => call(works.agent.token, "POST", `/build/${id}/progress`, body, headers);
  const finish = (body: object) => call<Build>(works.agent.token, "POST", `/build/${id}/finish`, body, headers);
  const closeLog = () => poolStub(works.orgId).flush();
  return { secret, tell, finish, closeLog, read: (): Promise<Build> => readBuild(works.admin, id) };
};

describe("an agent's report of its steps", () => {
  it("is masked in names and ids", async () => {
    const { secret, tell, read } = await begun();
    expect((await tell({ steps: [step({ id: secret, name: `run ${secret}` }), step({})] })).status).toBe(204);
    expect((await read()).steps).toMatchObject([
      { id: "***", name: "run ***" },
      { id: null, name: "step" },
    ]);
  });

  it("has the tries of a retried step, and accepts only valid numbers", async () => {
    const { tell, read } = await begun();
    expect((await tell({ steps: [step({ tries: 2 }), step({})] })).status).toBe(204);
    const [first, second] = (await read()).steps;
    expect(first).toMatchObject({ tries: 2 });
    expect(second).not.toHaveProperty("tries");
    for (const tries of [0, -1, 1.5, 1e300, "2", [2]])
      expect((await tell({ steps: [{ ...step({}), tries }] })).status).toBe(422);
  });

  it("is truncated where it is long, after masking", async () => {
    const { secret, tell, read } = await begun();
    const name = `${"x".repeat(190)}${secret}`;
    await tell({ steps: [step({ id: "y".repeat(100_000), name }), step({ name: `${"z".repeat(199)}\u{1f600}` })] });
    expect((await read()).steps).toMatchObject([
      { id: "y".repeat(200), name: `${"x".repeat(190)}***` },
      { name: `${"z".repeat(199)}\ufffd` },
    ]);
  });

  it("never creates a record that is too large for a row", async () => {
    const { tell, read } = await begun();
    const steps = Array.from({ length: 500 }, () => step({ id: "\u4e00".repeat(300), name: "\u4e00".repeat(300) }));
    expect((await tell({ steps })).status).toBe(204);
    expect((await tell({ summary: "\u4e00".repeat(65_536) })).status).toBe(204);
    const record = await read();
    expect(record.steps).toHaveLength(500);
    expect(new TextEncoder().encode(JSON.stringify(record)).length).toBeLessThan(1_500_000);
    expect((await tell({ steps: Array(1000).fill(step({})) })).status).toBe(204);
    expect((await read()).steps).toHaveLength(500);
  });
});

describe("a report with unchanged names", () => {
  const now = new Date().toISOString();
  const names = async (read: () => Promise<Build>) => (await read()).steps.map(({ name }) => name);

  it("is stored, and a changed name in it is masked", async () => {
    const { secret, tell, read } = await begun();
    await tell({ steps: [step({ id: "a", name: "one" }), step({ name: "two", status: "pending" })] });
    const ended = step({ id: "a", name: "one", finishedAt: now });
    await tell({ steps: [ended, step({ name: "two", status: "running" })] });
    expect((await read()).steps).toMatchObject([{ finishedAt: now }, { name: "two", status: "running" }]);
    await tell({ steps: [ended, step({ name: `two ${secret}` })] });
    expect(await names(read)).toEqual(["one", "two ***"]);
    await tell({ steps: [{ ...ended, id: secret }, step({ name: "two ***" })] });
    expect((await read()).steps).toMatchObject([{ id: "***" }, { id: null, name: "two ***" }]);
  });

  it("is masked again when new values to mask were added", async () => {
    const { tell, read } = await begun();
    const steps = [step({ name: "run late-value", finishedAt: now })];
    await tell({ steps });
    await tell({ masks: ["late-value"] });
    await tell({ steps });
    expect(await names(read)).toEqual(["run ***"]);
    await tell({ steps });
    expect(await names(read)).toEqual(["run ***"]);
  });

  it("is masked again in the next attempt, which has other secrets", async () => {
    const works = await newBuildSetup();
    const { id } = await triggerBuild(works.admin, works.pipeline.id);
    const steps = [step({ name: "run next-value", finishedAt: now })];
    const attempt = async () => {
      const headers = { "X-Lease": String((await pollOnce(works.agent)).body.lease) };
      const tell = (verb: string, body?: object) =>
        call(works.agent.token, "POST", `/build/${id}/${verb}`, body, headers);
      await tell("start");
      expect((await tell("progress", { steps })).status).toBe(204);
      return tell;
    };
    const first = await attempt();
    expect(await names(() => readBuild(works.admin, id))).toEqual(["run next-value"]);
    expect((await first("release", { reason: "stopped", interrupted: true })).status).toBe(200);
    const secret = { key: "KEY", value: "next-value", isSecret: true, scope: "organization", orgId: works.orgId };
    await create<Variable>(works.admin, "/secrets/variables", secret);
    const second = await attempt();
    expect(await names(() => readBuild(works.admin, id))).toEqual(["run ***"]);
    expect((await first("progress", { steps })).status).toBe(409);
    expect((await second("progress", { steps })).status).toBe(204);
    expect(await names(() => readBuild(works.admin, id))).toEqual(["run ***"]);
  });
});

describe("a result with a message", () => {
  it("can be repeated, but not with another message", async () => {
    const { secret, finish, closeLog, read } = await begun();
    const result = { status: "failed", exitCode: 1, message: `it printed ${secret}` };
    expect(await finish(result)).toMatchObject({ status: 200, body: { message: "it printed ***" } });
    await closeLog();
    expect((await finish({ ...result, status: "succeeded" })).status).toBe(409);
    expect(await finish(result)).toMatchObject({ status: 200, body: { status: "failed", message: "it printed ***" } });
    expect((await read()).message).toBe("it printed ***");
  });
});
