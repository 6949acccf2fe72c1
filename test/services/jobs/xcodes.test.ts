import { beforeAll, describe, expect, it } from "vitest";
import { XCODES_HEADER } from "../../../src/protocol/xcodes.ts";
import { call, create, newAgent, newPipeline } from "../../support/api.ts";
import { type BuildSetup, newBuildSetup, triggerBuild } from "../../support/build-setup.ts";

let setup: BuildSetup;
beforeAll(async () => {
  setup = await newBuildSetup();
});

const FEATURES = "environment,jobs,tools";
const pollWith = (agent: { id: string; token: string }, xcodes: string) =>
  call(agent.token, "GET", `/buildagent/${agent.id}/poll?wait=0`, undefined, {
    "X-Agent-Features": FEATURES,
    ...(xcodes && { [XCODES_HEADER]: xcodes }),
  });

/** Triggers a build whose only job needs this Xcode, planned from the pipeline's record. */
const buildNeeding = async (xcode: string) => {
  const definition = `jobs: { app: { tools: { xcode: "${xcode}" }, steps: [{ run: xcodebuild }] } }`;
  const { admin, repository } = setup;
  const pipeline = await newPipeline(admin, repository.id, { name: crypto.randomUUID(), definition });
  return triggerBuild(admin, pipeline.id, { commitSha: "c".repeat(40) });
};

describe("a job that requires an Xcode", () => {
  it("waits for an agent with that Xcode, and says so", async () => {
    const { admin, agent } = setup;
    const { id, jobs } = await buildNeeding("26.1");
    const jobId = jobs?.[0]?.id ?? "";
    const labelled = await newAgent(admin, { labels: ["xcode=26.1", "26.1", "xcode-26.1"] });
    for (const xcodes of ["", "16.4", "26", "26.10", "2", "26.1x", "126.1", "26 .1"])
      for (const one of [agent, labelled]) expect((await pollWith(one, xcodes)).status, xcodes).toBe(204);
    const why = await call(admin, "GET", `/job/${jobId}/explain`);
    expect(why.text).toContain("xcode");
    const mac = await newAgent(admin);
    const { status, body, text } = await pollWith(mac, "16.4, 26.1.2");
    expect(status, text).toBe(200);
    expect(body).toMatchObject({ build: { id }, job: { id: jobId, key: "app" } });
    // The agent reads the file to choose its Xcode.
    expect(JSON.stringify(body)).toContain("xcode");
    const { body: known } = await call(admin, "GET", `/buildagent/${mac.id}`);
    expect(known.xcodes).toEqual(["16.4", "26.1.2"]);
    await call(admin, "POST", `/build/${id}/cancel`);
  });

  it("is not assigned by the header of an earlier poll", async () => {
    const { admin } = setup;
    const mac = await newAgent(admin);
    expect((await pollWith(mac, "16.4")).status).toBe(204);
    const { id } = await buildNeeding("16");
    // Meanwhile, the Xcode was removed from the machine.
    expect((await pollWith(mac, "26.1")).status).toBe(204);
    expect((await pollWith(mac, "16.4")).body.build.id).toBe(id);
    await call(admin, "POST", `/build/${id}/cancel`);
  });

  it("is rejected before a build exists where it names no Xcode", async () => {
    const { admin, repository } = setup;
    for (const xcode of ["latest", "26.1-beta", "26.1.1.1", "1234"]) {
      const definition = `jobs: { app: { tools: { xcode: "${xcode}" }, steps: [{ run: make }] } }`;
      const answer = await call(admin, "POST", "/pipeline", { repoId: repository.id, name: xcode, definition });
      expect(answer.status, answer.text).toBe(422);
      expect(answer.body.errors[0].pointer).toBe("/definition");
    }
    expect(await create(admin, "/pipeline", { repoId: repository.id, name: "one" })).toBeDefined();
  });
});
