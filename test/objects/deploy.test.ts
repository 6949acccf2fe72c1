import { runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it } from "vitest";
import { gitHostName, poolName } from "../../src/domain/durable-objects.ts";
import type { AgentPool } from "../../src/objects/pool/agent-pool.ts";
import { VERSION } from "../../src/protocol/version.ts";
import { failures, upkeep } from "../services/upkeep/support.ts";
import { call, expectProblem, newOrganization, newPipeline, newRepository } from "../support/api.ts";
import { newBuildSetup, pollOnce, triggerBuild } from "../support/build-setup.ts";
import { callDeployedWith, poolStub } from "../support/deployment.ts";
import { attachRepository, deliver, eventHeaders, newConnection, readDeliveryNotes } from "../support/hooks.ts";
import { newPush, SHA } from "../support/host-events.ts";
import { bareStub, earlierObjects, KINDS, methodsOf } from "../support/objects-by-name.ts";
import { passTime, setClockRight } from "./host/support.ts";

afterEach(setClockRight);

const expectAway = (answer: Parameters<typeof expectProblem>[0]) => {
  expectProblem(answer, 503, "unavailable");
  expect(Number(answer.headers.get("Retry-After"))).toBeGreaterThan(0);
};

describe("while objects run an earlier release", () => {
  it("a request that needs a pool gets 503 without effect, and its repeat succeeds", async () => {
    const { admin, agent, pipeline } = await newBuildSetup();
    const { called, objects } = earlierObjects("AGENT_POOL");
    const early = callDeployedWith(objects);
    expectAway(await early(admin, "POST", "/build", { pipelineId: pipeline.id }));
    const { id } = await triggerBuild(admin, pipeline.id);
    const path = `/buildagent/${agent.id}/poll?wait=0`;
    expectAway(await early(agent.token, "GET", path));
    const { body: job } = await pollOnce(agent);
    expect(job.build.id).toBe(id);
    const lease = { "X-Lease": String(job.lease) };
    for (const [step, body] of [
      ["start", undefined],
      ["finish", { status: "succeeded", exitCode: 0 }],
    ] as const) {
      expectAway(await early(agent.token, "POST", `/build/${id}/${step}`, body, lease));
      expect((await call(agent.token, "POST", `/build/${id}/${step}`, body, lease)).status).toBe(200);
    }
    expect((await call(admin, "GET", "/build")).body).toMatchObject([{ id, status: "succeeded", attempt: 1 }]);
    expect(called).toEqual([]);
  });

  it("a claim whose log cannot be opened is taken back without using an attempt", async () => {
    const { admin, agent, pipeline } = await newBuildSetup();
    const { id } = await triggerBuild(admin, pipeline.id);
    const { objects } = earlierObjects("BUILD_LOG");
    expectAway(await callDeployedWith(objects)(agent.token, "GET", `/buildagent/${agent.id}/poll?wait=0`));
    expect((await call(admin, "GET", `/build/${id}`)).body).toMatchObject({ status: "queued", attempt: 0 });
  });

  it.each([["AGENT_POOL"], ["GIT_HOST"], ["AGENT_POOL", "GIT_HOST"]] as const)(
    "a delivery creates its build and is listed: %s %s",
    async (...kinds) => {
      const { admin, orgId } = await newOrganization();
      const { id: repoId } = await newRepository(admin, 1);
      await newPipeline(admin, repoId);
      const hook = await newConnection(orgId, "github");
      await attachRepository(repoId, hook);
      const objects = Object.assign({}, ...kinds.map((kind) => earlierObjects(kind).objects));
      const sent = await deliver(hook, eventHeaders("github", "push", "d"), newPush(SHA("a")), objects);
      expect(sent.status).toBe(202);
      passTime(10 * 60_000);
      await runDurableObjectAlarm(env.GIT_HOST.getByName(gitHostName(orgId, hook.connectionId)));
      const { body: builds } = await call(admin, "GET", "/build");
      expect(builds).toMatchObject([{ commitSha: SHA("a") }]);
      await expect
        .poll(() => readDeliveryNotes(hook))
        .toMatchObject([{ id: "d", builds: [builds[0].id], ignored: null }]);
    },
  );

  it("upkeep counts no failure, and resumes later", async () => {
    const { orgId, admin, pipeline } = await newBuildSetup();
    await triggerBuild(admin, pipeline.id);
    await poolStub(orgId).flush();
    await env.DB.exec("DELETE FROM upkeep_failure");
    const { objects } = earlierObjects("AGENT_POOL");
    const at = Date.now();
    expect(await upkeep(objects, at)).toMatchObject({ pools: 0 });
    expect(await failures()).toEqual([]);
    const numbers = await call(env.OPERATOR_TOKEN ?? "", "GET", "/operator/metrics");
    expect(numbers.body.pools).toMatchObject({ swept: 0, failed: 0 });
    expect((await upkeep({}, at + 60_000)).pools).toBeGreaterThan(0);
  });
});

describe("an object", () => {
  it.each(KINDS)("lets no earlier release call its methods by name: %s", async (kind) => {
    const stub = bareStub(kind, "of-now/of-now") as unknown as Record<string, () => Promise<unknown>>;
    const methods = methodsOf(kind);
    expect(methods.length).toBeGreaterThan(5);
    for (const method of methods) {
      const called = async () => await stub[method]!();
      await expect(called(), method).rejects.toThrow("does not implement the method");
    }
  });

  it("lets every release read the state of an ended build for its git host", async () => {
    const pool = bareStub("AGENT_POOL", "of-now") as unknown as DurableObjectStub<AgentPool>;
    expect(await pool.summaryOf("none")).toBeNull();
  });

  it("rejects a call from another release before doing anything", async () => {
    const { orgId, admin, agent, pipeline } = await newBuildSetup();
    await triggerBuild(admin, pipeline.id);
    const stub = bareStub("AGENT_POOL", poolName(orgId)) as unknown as DurableObjectStub<AgentPool>;
    const listed = async (release: string) => await stub.call(release, "listAgents", []);
    for (const other of ["0.12.0", "99.0.0"])
      await expect(listed(other)).rejects.toThrow("does not implement the method");
    expect(await listed(VERSION)).toMatchObject([{ id: agent.id }]);
  });
});
