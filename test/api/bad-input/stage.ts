import { vi } from "vitest";
import type { Job } from "../../../src/protocol/jobs.ts";
import { call, create, newAgent } from "../../support/api.ts";
import { type BuildSetup, newBuildSetup, pollOnce, triggerBuild } from "../../support/build-setup.ts";

/** Every bad request contains it, and no answer may. */
export const CANARY = "cANARYx7q";
export const UUID = "0198c5d2-0000-7000-8000-000000000000";

/** Two organizations, each with a build that its agent runs. */
export let own: BuildSetup & { job: Job; other: { id: string; token: string }; token: string; groupId: string };
export let foreign: BuildSetup & { job: Job; groupId: string };

const furnish = async () => {
  const works = await newBuildSetup();
  await triggerBuild(works.admin, works.pipeline.id);
  const { body: job } = await pollOnce(works.agent);
  const headers = { "X-Lease": String(job.lease) };
  await call(works.agent.token, "POST", `/build/${job.build.id}/start`, undefined, headers);
  await call(works.agent.token, "PUT", `/build/${job.build.id}/log?offset=0`, "first\n", headers);
  const { id: groupId } = await create(works.admin, "/secrets/groups", { name: "group" });
  const secret = { key: "SEALED", value: "sealed once", isSecret: true, scope: "organization", orgId: works.orgId };
  await create(works.admin, "/secrets/variables", secret);
  const unwritten = async () => (await call(works.admin, "GET", "/buildagent/metrics")).body.outbox.builds;
  await vi.waitUntil(async () => (await unwritten()) === 0, { timeout: 20_000, interval: 100 });
  return { ...works, job, groupId };
};

export const furnishBoth = async (): Promise<void> => {
  foreign = await furnish();
  const mine = await furnish();
  const { token } = await create(mine.admin, "/token", { name: "r", kind: "registration", labels: ["granted"] });
  own = { ...mine, other: await newAgent(mine.admin), token };
};
