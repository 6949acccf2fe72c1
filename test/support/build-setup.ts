import type { Agent } from "../../src/protocol/agent.ts";
import type { Build } from "../../src/protocol/build.ts";
import type { Job } from "../../src/protocol/jobs.ts";
import type { Pipeline } from "../../src/protocol/pipeline.ts";
import type { Repository } from "../../src/protocol/repository.ts";
import { type Answer, call, create, newAgent, newOrganization, newPipeline, newRepository } from "./api.ts";

export interface BuildSetup {
  orgId: string;
  admin: string;
  repository: Repository;
  pipeline: Pipeline;
  agent: Agent & { token: string };
}

/** Creates an organization with the needs of a build: a repository, its pipeline and an agent. */
export const newBuildSetup = async (): Promise<BuildSetup> => {
  const { orgId, admin } = await newOrganization();
  const repository = await newRepository(admin);
  return { orgId, admin, repository, pipeline: await newPipeline(admin, repository.id), agent: await newAgent(admin) };
};

/** Polls once as the agent, without waiting: 200 with a job, or 204. */
export const pollOnce = (agent: { id: string; token: string }): Promise<Answer<Job>> =>
  call<Job>(agent.token, "GET", `/buildagent/${agent.id}/poll?wait=0`);

export const triggerBuild = (token: string, pipelineId: string, more: object = {}): Promise<Build> =>
  create<Build>(token, "/build", { pipelineId, branch: "main", ...more });

export const readBuild = async (token: string, id: string): Promise<Build> =>
  (await call<Build>(token, "GET", `/build/${id}`)).body;

/** Starts and finishes the job, so that the agent is free again. */
export const completeJob = async (agent: { token: string }, job: Job): Promise<void> => {
  const headers = { "X-Lease": String(job.lease) };
  await call(agent.token, "POST", `/build/${job.build.id}/start`, undefined, headers);
  await call(agent.token, "POST", `/build/${job.build.id}/finish`, { status: "succeeded", exitCode: 0 }, headers);
};

/** Triggers a build, polls its job and finishes it. @throws Error if the agent gets no job */
export const finishNewJob = async ({ admin, pipeline, agent }: BuildSetup, more: object = {}): Promise<Job> => {
  await triggerBuild(admin, pipeline.id, more);
  const answer = await pollOnce(agent);
  if (answer.status !== 200) throw new Error(`The agent got no job: ${answer.status} ${answer.text}`);
  await completeJob(agent, answer.body);
  return answer.body;
};
