import type { Agent } from "../../src/protocol/agent.ts";
import type { Build } from "../../src/protocol/build.ts";
import type { Job } from "../../src/protocol/jobs.ts";
import type { Pipeline } from "../../src/protocol/pipeline.ts";
import type { Repository } from "../../src/protocol/repository.ts";
import { type Answer, call, created, newAgent, newOrganization, newPipeline, newRepository } from "./api.ts";

export interface Works {
  orgId: string;
  admin: string;
  repository: Repository;
  pipeline: Pipeline;
  agent: Agent & { token: string };
}

/** An organization with all that a hand-out takes: a repository, its pipeline and an agent. */
export const newWorks = async (): Promise<Works> => {
  const { orgId, admin } = await newOrganization();
  const repository = await newRepository(admin);
  return { orgId, admin, repository, pipeline: await newPipeline(admin, repository.id), agent: await newAgent(admin) };
};

/** Asks for a job as the agent would, without waiting: 200 with it, or 204. */
export const poll = (agent: { id: string; token: string }): Promise<Answer<Job>> =>
  call<Job>(agent.token, "GET", `/buildagent/${agent.id}/poll?wait=0`);

export const trigger = (token: string, pipelineId: string, more: object = {}): Promise<Build> =>
  created<Build>(token, "/build", { pipelineId, branch: "main", ...more });

export const buildOf = async (token: string, id: string): Promise<Build> =>
  (await call<Build>(token, "GET", `/build/${id}`)).body;

/** Starts and ends what was handed out, so that the agent is free again. */
export const complete = async (agent: { token: string }, job: Job): Promise<void> => {
  const headers = { "X-Lease": String(job.lease) };
  await call(agent.token, "POST", `/build/${job.build.id}/start`, undefined, headers);
  await call(agent.token, "POST", `/build/${job.build.id}/finish`, { status: "succeeded", exitCode: 0 }, headers);
};

/** Triggers a build and takes its job. @throws where none is handed out */
export const handedOut = async ({ admin, pipeline, agent }: Works, more: object = {}): Promise<Job> => {
  await trigger(admin, pipeline.id, more);
  const answer = await poll(agent);
  if (answer.status !== 200) throw new Error(`nothing was handed out: ${answer.status} ${answer.text}`);
  await complete(agent, answer.body);
  return answer.body;
};
