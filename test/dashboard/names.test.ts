import { expect, it } from "vitest";
import { buildNames } from "../../src/services/build-names.ts";
import { call } from "../support/api.ts";
import { newBuildSetup, poll, trigger } from "../support/build-setup.ts";
import { personWith } from "./page-requests.ts";

it("names the builds of the audit as people call them, with times that a clock shows", async () => {
  const setup = await newBuildSetup();
  const { admin, pipeline, agent } = setup;
  await trigger(admin, pipeline.id);
  const { body: job } = await poll(agent);
  const headers = { "X-Lease": String(job.lease) };
  const path = `/build/${job.build.id}`;
  await call(agent.token, "POST", `${path}/start`, undefined, headers);
  await call(agent.token, "POST", `${path}/finish`, { status: "succeeded", exitCode: 0 }, headers);
  const person = await personWith(admin);
  const named = new RegExp(`<a href="/app/builds/${job.build.id}">#1 [^<]+ / ${pipeline.name}</a>`);
  await expect.poll(async () => (await person.open("/audit")).text).toMatch(named);
  expect((await person.open("/audit")).text).toMatch(/<time datetime="[^"]+" title="[^"]+ UTC" data-clock/);
});

it("asks nothing where there is nothing to name", async () => {
  expect(await buildNames({} as Parameters<typeof buildNames>[0], [])).toEqual(new Map());
});
