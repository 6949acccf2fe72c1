import { beforeAll, describe, expect, it } from "vitest";
import type { Build } from "../../../src/protocol/build.ts";
import { Job } from "../../../src/protocol/jobs.ts";
import { call, create, newAgent, newOrganization, newRepository } from "../../support/api.ts";
import { pollOnce } from "../../support/build-setup.ts";

describe("a build", () => {
  let admin: string;
  let repoId: string;
  const tokens: Record<string, { id: string; token: string }> = {};

  const triggered = (token: string, headers: Record<string, string> = {}) =>
    call<Build>(token, "POST", "/build", { repoId, branch: "main" }, headers);
  const by = (name: string) => ({ kind: "token", id: tokens[name]?.id, name });

  beforeAll(async () => {
    ({ admin } = await newOrganization());
    repoId = (await newRepository(admin)).id;
    for (const name of ["release bot", "another"]) {
      tokens[name] = await create(admin, "/token", { name, kind: "api", role: "member" });
    }
  });

  it("keeps its creator's name from then, wherever the build is read", async () => {
    const { token, id } = tokens["release bot"]!;
    const { body: build } = await triggered(token);
    expect(build.createdBy).toEqual(by("release bot"));
    await call(admin, "DELETE", `/token/${id}`);
    expect((await call(admin, "GET", `/build/${build.id}`)).body.createdBy).toEqual(by("release bot"));
    const agent = await newAgent(admin);
    const { body: job } = await pollOnce(agent);
    expect(job.build.createdBy).toEqual(by("release bot"));
    const { createdBy: _, webUrl: __, ...before } = job.build;
    expect(Job.safeParse({ ...job, build: before }).success).toBe(true);
    const { body: canceled } = await call(admin, "POST", `/build/${build.id}/cancel`);
    expect(canceled.createdBy).toEqual(by("release bot"));
    await call(admin, "DELETE", `/buildagent/${agent.id}`);
    const { body: retried } = await call(tokens.another!.token, "POST", `/build/${build.id}/retry`);
    expect(retried).toMatchObject({ retryOf: build.id, createdBy: by("another") });
  });

  it("keeps its first creator when the request is repeated with its idempotency key", async () => {
    const { token } = tokens.another!;
    const headers = { "Idempotency-Key": "once" };
    const [first, again] = [await triggered(token, headers), await triggered(token, headers)];
    expect(again.body).toMatchObject({ id: first.body.id, createdBy: by("another") });
  });

  it("includes its page's address on the requested host", async () => {
    const { body: build } = await triggered(admin);
    const webUrl = `https://millrace.test/app/builds/${build.id}`;
    expect([build.webUrl, (await call(admin, "GET", `/build/${build.id}`)).body.webUrl]).toEqual([webUrl, webUrl]);
    const [listed] = (await call<Build[]>(admin, "GET", "/build?limit=1")).body;
    expect(listed?.webUrl).toBe(`https://millrace.test/app/builds/${listed?.id}`);
  });
});
