import { describe, expect, it } from "vitest";
import { call, create, expectProblem, newAgent } from "../../support/api.ts";
import { newBuildSetup, pollOnce, readBuild, triggerBuild } from "../../support/build-setup.ts";

describe("POST /build/{id}/release with elsewhere", () => {
  it("returns a build that one agent cannot fetch to another agent, once, and reveals no secret", async () => {
    const { admin, orgId, pipeline, agent } = await newBuildSetup();
    const secret = { key: "K", value: "a secret value", isSecret: true, scope: "organization", orgId };
    await create(admin, "/secrets/variables", secret);
    const { id } = await triggerBuild(admin, pipeline.id);
    const tell = (token: string, lease: number, verb: string, body?: object) =>
      call(token, "POST", `/build/${id}/${verb}`, body, { "X-Lease": String(lease) });
    const begin = async (by: { id: string; token: string }) => {
      const { body: job } = await pollOnce(by);
      await tell(by.token, job.lease, "start");
      return job;
    };
    const elsewhere = { reason: "git fetch failed: a secret value", elsewhere: true };
    const first = await begin(agent);
    expect(first.mayGoElsewhere).toBe(true);
    const alone = await tell(agent.token, first.lease, "release", elsewhere);
    expectProblem(alone, 409, "conflict");
    expect((await readBuild(admin, id)).status).toBe("running");

    const other = await newAgent(admin);
    const given = await tell(agent.token, first.lease, "release", { ...elsewhere, ofALaterVersion: true });
    expect([given.status, given.body.status, given.body.message]).toEqual([200, "queued", "git fetch failed: ***"]);
    expect((await pollOnce(agent)).status).toBe(204);
    const { agents } = (await call(admin, "GET", `/build/${id}/explain`)).body;
    expect(agents.find((one: { agentId: string }) => one.agentId === agent.id).codes).toEqual(["gave-it-back"]);

    const second = await begin(other);
    expect([second.build.id, second.build.attempt, second.mayGoElsewhere]).toEqual([id, 0, false]);
    expectProblem(await tell(other.token, second.lease, "release", elsewhere), 409, "conflict");
    const end = { status: "failed", exitCode: null, reason: "checkout-failed" };
    expect((await tell(other.token, second.lease, "finish", end)).body).toMatchObject({ ...end, attempt: 1 });
  });
});
