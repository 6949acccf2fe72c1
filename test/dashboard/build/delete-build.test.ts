import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { dayOf } from "../../../src/archive/keys.ts";
import { putLog } from "../../../src/archive/logs.ts";
import { call, newToken } from "../../support/api.ts";
import { type BuildSetup, newBuildSetup, pollOnce, triggerBuild } from "../../support/build-setup.ts";
import { ORIGIN, requestPage, sendForm, signIn } from "../shell/page-requests.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

const WORDS = "words of the log";

/** Creates an ended build with a log. */
const endedBuild = async ({ admin, pipeline, agent }: BuildSetup) => {
  await triggerBuild(admin, pipeline.id);
  const { body: job } = await pollOnce(agent);
  const headers = { "X-Lease": String(job.lease) };
  const path = `/build/${job.build.id}`;
  await call(agent.token, "POST", `${path}/start`, undefined, headers);
  await call(agent.token, "PUT", `${path}/log?offset=0&final=true`, WORDS, headers);
  await call(agent.token, "POST", `${path}/finish`, { status: "succeeded", exitCode: 0 }, headers);
  return job.build;
};

const personOf = async (token: string) => {
  const cookie = (await signIn(token)).split(";")[0] ?? "";
  return {
    read: async (path: string) => (await requestPage(path, { cookie })).text(),
    send: (path: string) => sendForm(path, cookie, { Origin: ORIGIN }),
  };
};

describe("the build page", () => {
  it("lets a maintainer delete the log, then the build, after a confirmation", async () => {
    const setup = await newBuildSetup();
    const { id, number } = await endedBuild(setup);
    const { read, send } = await personOf(await newToken(setup.admin, "maintainer"));
    const page = `/builds/${id}`;
    expect(await read(page)).toContain(WORDS);
    expect(await read(page)).toContain(`href="/app${page}/log/delete"`);
    expect(await read(`${page}/log/delete`)).toContain(`the log of #${number} in ${setup.repository.fullName}`);
    const logGone = await send(`${page}/log/delete`);
    expect([logGone.status, logGone.headers.get("Location")]).toEqual([303, `/app${page}?done=removed`]);
    const without = await read(page);
    expect(without).toContain("The log of this build was deleted.");
    expect(without).not.toContain(WORDS);
    expect(without).not.toContain("/log/delete");
    const gone = await send(`${page}/delete`);
    expect([gone.status, gone.headers.get("Location")]).toEqual([303, "/app/builds?done=removed"]);
    expect((await call(setup.admin, "GET", `/build/${id}`)).status).toBe(404);
    expect(await read("/builds?done=removed")).toContain("Removed.");
  });

  it("offers deletion only to maintainers, and only after the build has ended", async () => {
    const setup = await newBuildSetup();
    const { id } = await endedBuild(setup);
    const member = await personOf(await newToken(setup.admin, "member"));
    expect(await member.read(`/builds/${id}`)).not.toContain("Delete");
    const live = await triggerBuild(setup.admin, setup.pipeline.id);
    const admin = await personOf(setup.admin);
    expect(await admin.read(`/builds/${live.id}`)).not.toContain("Delete");
    for (const path of [`/builds/${live.id}/delete`, `/builds/${live.id}/log/delete`]) {
      const refused = await admin.send(path);
      expect([refused.status, await refused.text()]).toEqual([422, expect.stringContaining("cancel it first")]);
    }
  });

  it("shows no part of a deleted log that is still in the archive", async () => {
    const setup = await newBuildSetup();
    const { id } = await endedBuild(setup);
    const { read } = await personOf(setup.admin);
    expect(await read(`/builds/${id}`)).toContain(WORDS);
    const owner = { day: dayOf(Date.now()), orgId: setup.orgId, jobId: id };
    await putLog(env.ARCHIVE, owner, { attempt: 1, size: 5, text: new Blob(["words"]).stream(), times: [] });
    vi.spyOn(env.ARCHIVE, "list").mockRejectedValueOnce(new Error("list: We encountered an internal error. (10001)"));
    expect((await call(setup.admin, "DELETE", `/build/${id}/log`)).status).toBe(204);
    expect(await read(`/builds/${id}`)).not.toContain("<pre>words");
  });
});
