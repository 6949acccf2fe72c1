import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { gitHostName } from "../../../src/domain/durable-objects.ts";
import type { GitHostObject } from "../../../src/objects/host/git-host.ts";
import { call, create, expectProblem, newPipeline, newToken } from "../../support/api.ts";
import { type BuildSetup, newBuildSetup, triggerBuild } from "../../support/build-setup.ts";
import { callDeployedWith, poolStub } from "../../support/deployment.ts";
import { attachRepository, deliver, eventHeaders, newConnection, readDeliveryNotes } from "../../support/hooks.ts";
import { newPush, SHA } from "../../support/host-events.ts";
import { fakeObjects } from "../../support/objects-by-name.ts";
import { failures, upkeep } from "../upkeep/support.ts";

const MINUTE = 60_000;
const NOON = Date.UTC(2026, 10, 22, 12);

// Keeps every test away from midnight.
beforeAll(() => void vi.useFakeTimers({ toFake: ["Date"], now: NOON }));
afterAll(() => void vi.useRealTimers());

const limit = async ({ orgId }: BuildSetup, buildsPerDay: number | null) =>
  call(env.OPERATOR_TOKEN ?? "", "PATCH", `/organization/${orgId}`, { limits: { buildsPerDay } });

const limited = async (buildsPerDay: number | null): Promise<BuildSetup> => {
  const setup = await newBuildSetup();
  await limit(setup, buildsPerDay);
  return setup;
};

/** Triggers, cancels and deletes a build, like a script in a loop. @returns the trigger's status */
const loopOnce = async (token: string, { pipeline }: BuildSetup): Promise<number> => {
  const { status, body } = await call(token, "POST", "/build", { pipelineId: pipeline.id });
  if (status !== 201) return status;
  await call(token, "POST", `/build/${body.id}/cancel`);
  await call(token, "DELETE", `/build/${body.id}`);
  return status;
};

/** Evicts the object, so that it restarts from its storage. */
const evict = async ({ orgId }: BuildSetup) => {
  await poolStub(orgId).flush();
  await evictDurableObject(poolStub(orgId));
};

const madeBy = (statuses: number[]) => statuses.filter((status) => status === 201).length;

describe("an organization's builds per day", () => {
  it("stay within a limit that ten tokens in a loop cannot pass by canceling and deleting", async () => {
    const attack = async (setup: BuildSetup) => {
      const tokens = await Promise.all(Array.from({ length: 10 }, () => newToken(setup.admin, "maintainer")));
      const round = async () => Promise.all(tokens.map((token) => loopOnce(token, setup)));
      const first = await round();
      await evict(setup);
      return [madeBy(first), madeBy(await round())];
    };
    expect(await attack(await limited(13))).toEqual([10, 3]);
    expect(await attack(await limited(null))).toEqual([10, 10]);
  });

  it("are rejected above the limit, with the limit, the count and the time of the reset", async () => {
    const setup = await limited(1);
    const { id } = await triggerBuild(setup.admin, setup.pipeline.id);
    await call(setup.admin, "POST", `/build/${id}/cancel`);
    const refused = [
      await call(setup.admin, "POST", "/build", { pipelineId: setup.pipeline.id }),
      await call(setup.admin, "POST", `/repository/${setup.repository.id}/build`, {}),
      await call(setup.admin, "POST", `/build/${id}/retry`),
    ];
    for (const answer of refused) {
      expectProblem(answer, 429, "limit-reached");
      expect(answer.headers.get("Retry-After")).toBe(String(12 * 3600));
      expect(answer.body.detail).toBe(
        "Builds of this organization today: 1 of 1. Wait until 00:00 UTC, or ask the operator of this service to raise buildsPerDay.",
      );
    }
  });

  it("continue once the operator raises the limit, even if the pool learns of it only when it wakes", async () => {
    const setup = await limited(0);
    const status = async () => (await call(setup.admin, "POST", "/build", { pipelineId: setup.pipeline.id })).status;
    expect(await status()).toBe(429);
    await limit(setup, 1);
    expect([await status(), await status()]).toEqual([201, 429]);
    const lost = { limitsChanged: () => Promise.reject(new Error("Network connection lost.")) };
    const AGENT_POOL = fakeObjects<Env["AGENT_POOL"]>(() => lost);
    const body = { limits: { buildsPerDay: 2 } };
    const raised = await callDeployedWith({ AGENT_POOL })(
      env.OPERATOR_TOKEN ?? "",
      "PATCH",
      `/organization/${setup.orgId}`,
      body,
    );
    expect([raised.status, await status()]).toEqual([200, 429]);
    await evict(setup);
    expect([await status(), await status()]).toEqual([201, 429]);
  });
});

describe("the daily limit of builds", () => {
  it("shows in a delivery how many builds are missing, and sets the commit's status to error", async () => {
    const setup = await limited(2);
    const { admin, orgId, repository } = setup;
    for (const name of ["second", "third"]) await newPipeline(admin, repository.id, { name });
    const hook = await newConnection(orgId, "gitea");
    const isTold = "UPDATE connection SET auth = 'token', sealed = 'none' WHERE id = ?";
    await env.DB.prepare(isTold).bind(hook.connectionId).run();
    await attachRepository(repository.id, hook);
    const push = newPush(SHA("d"));
    const taken = await deliver(hook, eventHeaders("gitea", "push"), push);
    expect(taken.body.builds).toHaveLength(2);
    const why = "Builds of this organization today: 2 of 2.";
    expect(taken.body.ignored).toContain(`1 not created: ${why}`);
    expect((await readDeliveryNotes(hook))[0]?.ignored).toContain(why);
    const host = (env.GIT_HOST as DurableObjectNamespace<GitHostObject>).getByName(
      gitHostName(orgId, hook.connectionId),
    );
    const views = await host.statuses(repository.gitHostRepoId, SHA("d"));
    expect(views.find(({ context }) => context === "millrace")).toMatchObject({ state: "error" });
    const none = await deliver(hook, eventHeaders("gitea", "push"), newPush(SHA("e"), { before: SHA("d") }));
    expect([none.body.builds, none.body.ignored?.startsWith(why)]).toEqual([[], true]);
  });

  it("makes a schedule wait with a reason, and triggers its build on the next day", async () => {
    const setup = await limited(0);
    const { admin, pipeline } = setup;
    const { id } = await create(admin, "/schedule", { pipelineId: pipeline.id, name: "often", cron: "*/5 * * * *" });
    vi.setSystemTime(NOON + 6 * MINUTE);
    await upkeep({}, Date.now());
    expect(await failures()).toMatchObject([{ kind: "schedule", subject: setup.orgId }]);
    const { body } = await call(admin, "GET", `/schedule/${id}`);
    expect(body).toMatchObject({ lastBuildId: null, problem: expect.stringContaining("today: 0 of 0.") });
    await limit(setup, 1);
    vi.setSystemTime(NOON + 12 * 60 * MINUTE);
    expect(await upkeep({}, Date.now())).toMatchObject({ scheduled: 1 });
    const { body: after } = await call(admin, "GET", `/schedule/${id}`);
    expect(after).toMatchObject({ lastBuildId: expect.any(String), problem: null });
  });
});
