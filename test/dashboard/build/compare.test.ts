import { describe, expect, it } from "vitest";
import type { Step } from "../../../src/protocol/build.ts";
import type { Variable } from "../../../src/protocol/variable.ts";
import { call, create, newOrganization } from "../../support/api.ts";
import { newBuildSetup, triggerBuild } from "../../support/build-setup.ts";
import { poolStub } from "../../support/deployment.ts";
import { HOSTILE } from "../../support/hostile-texts.ts";
import { callWithLease, startNextJob } from "../../support/jobs.ts";
import { type Person, personWith } from "../shell/page-requests.ts";

const NOW = Date.now();
const at = (seconds: number): string => new Date(NOW + seconds * 1000).toISOString();

type Setup = Awaited<ReturnType<typeof newBuildSetup>>;

/** Runs a build with two steps; the second prints this log. @returns its id */
const run = async (
  { admin, agent, pipeline, orgId }: Setup,
  status: "succeeded" | "failed",
  log: string,
  took: number,
) => {
  const { id } = await triggerBuild(admin, pipeline.id);
  const job = await startNextJob(agent);
  const commit = { commitSha: "c".repeat(40) };
  expect((await callWithLease(agent, job, "POST", "environment", commit)).status).toBe(200);
  const before = "installing\n";
  expect((await callWithLease(agent, job, "PUT", "log?offset=0&final=true", before + log)).status).toBeLessThan(300);
  const step = (more: Partial<Step>): Step => ({
    ...{
      id: null,
      name: "install",
      status: "succeeded",
      exitCode: 0,
      startedAt: at(0),
      finishedAt: at(2),
      logOffset: 0,
    },
    ...more,
  });
  const second = {
    name: "test",
    status,
    exitCode: status === "failed" ? 1 : 0,
    startedAt: at(2),
    finishedAt: at(2 + took),
  };
  const steps = [step({}), step({ ...second, logOffset: before.length })];
  expect((await callWithLease(agent, job, "POST", "progress", { steps })).status).toBe(204);
  expect((await callWithLease(agent, job, "POST", "finish", { status, exitCode: second.exitCode })).status).toBe(200);
  await poolStub(orgId).flush();
  return id;
};

const textOf = (html: string): string => html.replaceAll(/<[^>]+>/g, " ").replaceAll(/\s+/g, " ");

describe("the comparison with the last green build", () => {
  it("shows changed keys, durations and log lines, but no values and no changed numbers or times", async () => {
    const setup = await newBuildSetup();
    const { admin, orgId } = setup;
    const scope = { scope: "organization", orgId };
    const secret = await create<Variable>(admin, "/secrets/variables", {
      key: "TOKEN",
      value: "hunter2-a",
      isSecret: true,
      ...scope,
    });
    const green = await run(setup, "succeeded", "12:00:01 ran 1,204 tests\nall is well\n", 4);
    await call(admin, "PUT", `/secrets/variables/${secret.id}`, { value: "hunter2-b" }, { "If-Match": '"v1"' });
    await create<Variable>(admin, "/secrets/variables", {
      key: "ADDED",
      value: "plain-value",
      isSecret: false,
      ...scope,
    });
    await run(setup, "failed", "this one is no green\n", 1);
    const failed = await run(
      setup,
      "failed",
      `13:00:09 ran 1,205 tests\n${HOSTILE[0]}\n10%\r\u001b[31mexpected a to be b\u001b[0m\r\u001b[0m\n`,
      9,
    );
    const person = await personWith(admin);
    const { status, text } = await person.open(`/builds/${failed}/compare`);
    expect(status).toBe(200);
    const words = textOf(text);
    expect(words).toContain("What changed since #1");
    expect(text).toContain(`href="/app/builds/${green}"`);
    expect(words).toContain("only in this build: expected a to be b");
    expect(words).toContain("only in the last green build: all is well");
    expect(words).toContain("&lt;script&gt;window.__ran=1");
    expect(words).not.toContain("only in this build: 13:00:09");
    expect(words).not.toMatch(/hunter2|plain-value/);
    expect(words).toMatch(/ADDED added/);
    expect(words).toMatch(/TOKEN version 2, was 1/);
    expect(words).toMatch(/test 4s 9s \+5s/);
    expect(words).not.toContain("installing");
    for (const part of [HOSTILE[0], " style=", "javascript:"]) expect(text).not.toContain(part);
  });

  it("says when no earlier build succeeded, and works for an active build", async () => {
    const setup = await newBuildSetup();
    const person = await personWith(setup.admin);
    const failed = await run(setup, "failed", "no\n", 1);
    expect(textOf((await person.open(`/builds/${failed}/compare`)).text)).toContain("No earlier build succeeded");
    await run(setup, "succeeded", "yes\n", 1);
    const { id } = await triggerBuild(setup.admin, setup.pipeline.id);
    const { status, text } = await person.open(`/builds/${id}/compare`);
    expect([status, textOf(text).includes("What changed since #2")]).toEqual([200, true]);
  });

  it("is hidden from other organizations", async () => {
    const setup = await newBuildSetup();
    const failed = await run(setup, "failed", "no\n", 1);
    const stranger: Person = await personWith((await newOrganization()).admin);
    expect((await stranger.open(`/builds/${failed}/compare`)).status).toBe(404);
    expect((await stranger.open("/builds/x/compare")).status).toBe(404);
  });
});
