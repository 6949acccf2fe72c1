import { expect } from "vitest";
import { call } from "./api.ts";
import type { Files } from "./artifact-files.ts";
import { sendArtifact } from "./artifacts.ts";
import { newBuildSetup, triggerBuild } from "./build-setup.ts";
import { callWithLease, planNextBuild, startNextJob } from "./jobs.ts";

/** Creates a build with one job that its agent runs. */
export const newStartedBuild = async () => {
  const setup = await newBuildSetup();
  await triggerBuild(setup.admin, setup.pipeline.id);
  const job = await startNextJob(setup.agent);
  return { ...setup, job, id: job.build.id };
};

/** Creates a build with one job that has an artifact and ended with this result. */
export const newBuildWithArtifact = async (
  files: Files,
  name = "report",
  result: object = { status: "succeeded", exitCode: 0 },
) => {
  const setup = await newStartedBuild();
  const opened = await sendArtifact(setup.agent, setup.job, name, files);
  const ended = await callWithLease(setup.agent, setup.job, "POST", "finish", result);
  expect(ended, ended.text).toMatchObject({ status: 200 });
  return { ...setup, opened };
};

/** Creates a build with several planned jobs from this file. */
export const newPlannedBuild = async (file: string) => {
  const setup = await newBuildSetup();
  await triggerBuild(setup.admin, setup.pipeline.id);
  return { ...setup, ...(await planNextBuild(setup.agent, file)) };
};

/** Returns the path of a file of an artifact. */
export const contentPath = (jobId: string, name: string, path: string): string =>
  `/job/${jobId}/artifact/${encodeURIComponent(name)}/content/${path.split("/").map(encodeURIComponent).join("/")}`;

export const listArtifacts = (token: string, jobId: string) => call(token, "GET", `/job/${jobId}/artifact`);
