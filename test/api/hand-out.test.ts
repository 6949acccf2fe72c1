import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import type { Build } from "../../src/protocol/build.ts";
import { call, created } from "../support/api.ts";
import { newBuildSetup, poll, trigger } from "../support/build-setup.ts";

describe("builds whose environment cannot be composed", () => {
  it("fail twenty at a poll, and the next poll goes on", async () => {
    const { orgId, admin, pipeline, agent } = await newBuildSetup();
    const secret = { key: "S", value: "some secret text", isSecret: true, scope: "organization", orgId };
    const { id } = await created(admin, "/secrets/variables", secret);
    await env.DB.prepare("UPDATE variable SET sealed = 'm1.s1.damaged' WHERE id = ?").bind(id).run();
    const builds: Build[] = [];
    for (let n = 0; n < 21; n++) builds.push(await trigger(admin, pipeline.id));
    const statuses = () =>
      Promise.all(builds.map(async (build) => (await call(admin, "GET", `/build/${build.id}`)).body.status));
    expect((await poll(agent)).status).toBe(204);
    expect((await statuses()).join()).toBe(`${"failed,".repeat(20)}queued`);
    expect((await poll(agent)).status).toBe(204);
    expect(new Set(await statuses())).toEqual(new Set(["failed"]));
  });
});
