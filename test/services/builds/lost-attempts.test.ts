import { exports } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import type { Build } from "../../../src/protocol/build.ts";
import { call } from "../../support/api.ts";
import { type BuildSetup, newBuildSetup, pollOnce, readBuild, triggerBuild } from "../../support/build-setup.ts";

const ORIGIN = "https://millrace.test";

/** Claims and starts the waiting build, and writes one line to its log. */
const begin = async ({ agent }: BuildSetup, line: string) => {
  const { body: job } = await pollOnce(agent);
  const headers = { "X-Lease": String(job.lease) };
  const path = `/build/${job.build.id}`;
  await call(agent.token, "POST", `${path}/start`, undefined, headers);
  const request = new Request(`${ORIGIN}${path}/log?offset=0`, {
    method: "PUT",
    headers: { ...headers, Authorization: `Bearer ${agent.token}`, "Content-Type": "application/octet-stream" },
    body: line,
  });
  expect((await exports.default.fetch(request)).status).toBe(200);
  return {
    job,
    giveBack: (body: object) => call<Build>(agent.token, "POST", `${path}/release`, body, headers),
    finish: () => call<Build>(agent.token, "POST", `${path}/finish`, { status: "succeeded", exitCode: 0 }, headers),
  };
};

const page = async (token: string, id: string): Promise<string> => {
  const form = { method: "POST", headers: { Origin: ORIGIN }, body: new URLSearchParams({ token }) };
  const entered = await exports.default.fetch(
    new Request(`${ORIGIN}/app/sign-in`, { ...form, redirect: "manual" as const }),
  );
  const headers = { Cookie: entered.headers.get("Set-Cookie")?.split(";")[0] ?? "" };
  return (await exports.default.fetch(new Request(`${ORIGIN}/app/builds/${id}`, { headers }))).text();
};

describe("an attempt that ended without a result", () => {
  it("is followed by another at once, which gets the reason, and the page links to the lost one's log", async () => {
    const works = await newBuildSetup();
    const { admin, pipeline } = works;
    const { id } = await triggerBuild(admin, pipeline.id);
    const first = await begin(works, "the first attempt\n");
    expect(await page(admin, id)).not.toContain("lost-attempts");
    const stopped = await first.giveBack({ reason: "the agent was stopped", interrupted: true, laterField: {} });
    const message = "Attempt 1 was lost. Its agent was stopped.";
    expect(stopped).toMatchObject({ status: 200, body: { status: "queued", attempt: 1, message } });
    expect(await page(admin, id)).toContain(`href="/app/builds/${id}/log?attempt=1"`);
    const second = await begin(works, "the second attempt\n");
    expect(second.job.build).toMatchObject({ id, attempt: 1, message });
    await second.finish();
    expect(await readBuild(admin, id)).toMatchObject({ status: "succeeded", attempt: 2, message: null });
    const log = async (query: string) => (await call(admin, "GET", `/build/${id}/log${query}`)).text;
    expect(await log("?attempt=1")).toBe("the first attempt\n");
    expect(await log("?attempt=2")).toBe("the second attempt\n");
    expect(await log("")).toBe("the second attempt\n");
    const html = await page(admin, id);
    expect(html).toContain(`href="/app/builds/${id}/log?attempt=1"`);
    expect(html).not.toContain("log?attempt=2");
  });

  it("ends the build when it was the last one", async () => {
    const works = await newBuildSetup();
    const { id } = await triggerBuild(works.admin, works.pipeline.id);
    for (const attempt of [1, 2]) {
      const { giveBack } = await begin(works, `attempt ${attempt}\n`);
      await giveBack({ reason: "the agent was stopped", interrupted: true });
    }
    const build = await readBuild(works.admin, id);
    expect(build).toMatchObject({ status: "failed", reason: "agent-lost", message: "Its agent was stopped." });
  });

  it("is reported with a boolean only: other values are rejected and change nothing", async () => {
    const works = await newBuildSetup();
    const { id } = await triggerBuild(works.admin, works.pipeline.id);
    const { giveBack } = await begin(works, "x\n");
    expect((await giveBack({ reason: "x", interrupted: "yes" })).status).toBe(422);
    expect(await readBuild(works.admin, id)).toMatchObject({ status: "running", attempt: 1 });
  });
});
