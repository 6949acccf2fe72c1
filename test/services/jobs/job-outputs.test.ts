import { describe, expect, it } from "vitest";
import { call, create, expectProblem } from "../../support/api.ts";
import { newBuildSetup, triggerBuild } from "../../support/build-setup.ts";
import { callWithLease, finishNextJob, planNextBuild, pollForJobs, startNextJob } from "../../support/jobs.ts";

const FILE = `jobs:
  make: { outputs: { a: "x" }, steps: [{ run: make }] }
  use: { needs: [make], if: always(), steps: [{ run: make }] }
`;

const planned = async () => {
  const setup = await newBuildSetup();
  const { admin, agent, pipeline, orgId } = setup;
  const secret = { key: "SECRET", value: "a very secret text", isSecret: true, scope: "organization", orgId };
  await create(admin, "/secrets/variables", secret);
  await triggerBuild(admin, pipeline.id);
  return { ...setup, ...(await planNextBuild(agent, FILE)) };
};

const succeeded = (outputs: object) => ({ status: "succeeded", exitCode: 0, outputs });

describe("a job's outputs", () => {
  it.each([
    ["plain", { a: "1", empty: "" }],
    ["with lines and special characters", { a: 'one\ntwo "3" ${{ x }} $(reboot)\u0000' }],
    ["with half a character, which is replaced", { a: "\ud83d" }],
    ["of 64 KiB", { a: "x".repeat(64 * 1024 - 1) }],
  ])("%s reach the jobs that need it", async (_, outputs) => {
    const { agent } = await planned();
    await finishNextJob(agent, succeeded(outputs));
    const { job } = await startNextJob(agent);
    const wellFormed = Object.fromEntries(Object.entries(outputs).map(([name, text]) => [name, text.toWellFormed()]));
    expect(job?.needs.make).toMatchObject({ result: "success", outputs: wellFormed });
  });

  it.each([
    [
      "a secret in its value",
      { ok: "1", a: "it is a very secret text" },
      "The output a contains a secret: pass secrets as variables.",
    ],
    [
      "a secret in its name",
      { "a very secret text": "1" },
      "The output *** contains a secret: pass secrets as variables.",
    ],
    [
      "an encoded secret",
      { a: btoa("a very secret text") },
      "The output a contains a secret: pass secrets as variables.",
    ],
    [
      "more names than fit",
      Object.fromEntries(Array.from({ length: 60_000 }, (_, index) => [`n${index}`, ""])),
      "The outputs exceed 64 KiB. The last one is n59999.",
    ],
    ["more than 64 KiB", { b: "1", a: "x".repeat(64 * 1024) }, "The outputs exceed 64 KiB. The last one is a."],
  ])("fail it with %s, and are not stored", async (_, outputs, message) => {
    const { admin, agent, ids } = await planned();
    const job = await startNextJob(agent);
    const answer = await callWithLease(agent, job, "POST", "finish", succeeded(outputs));
    expect(answer, answer.text).toMatchObject({ status: 200 });
    const ended = await call(admin, "GET", `/job/${ids.make}`);
    expect(ended.body).toMatchObject({ status: "failed", reason: "output-refused", message, outputs: {} });
    expect(ended.text).not.toContain("very secret");
    expect((await startNextJob(agent)).job?.needs.make).toMatchObject({ result: "failure", outputs: {} });
  });

  it("are empty if the job failed", async () => {
    const { admin, agent, ids } = await planned();
    await finishNextJob(agent, { status: "failed", exitCode: 1, outputs: { a: "1" } });
    expect((await call(admin, "GET", `/job/${ids.make}`)).body).toMatchObject({ status: "failed", outputs: {} });
  });

  it("change nothing under an expired lease or with an invalid name", async () => {
    const { agent } = await planned();
    const job = await startNextJob(agent);
    expectProblem(
      await callWithLease(agent, { ...job, lease: job.lease - 1 }, "POST", "finish", succeeded({ a: "1" })),
      409,
      "lease-lost",
    );
    const named = await callWithLease(
      agent,
      job,
      "POST",
      "finish",
      '{"status":"succeeded","outputs":{"__proto__":"1"}}',
    );
    expectProblem(named, 422, "invalid");
    await callWithLease(agent, job, "POST", "finish", succeeded({ a: "1" }));
    expectProblem(await callWithLease(agent, job, "POST", "finish", { status: "failed" }), 409, "conflict");
    expect((await callWithLease(agent, job, "POST", "finish", succeeded({ a: "2" }))).status).toBe(200);
    expect((await pollForJobs(agent)).body.job?.needs.make?.outputs).toEqual({ a: "1" });
  });
});
