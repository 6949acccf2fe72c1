import { expect } from "vitest";
import type { Build } from "../../src/protocol/build.ts";
import { FEATURES, type Job } from "../../src/protocol/jobs.ts";
import { type Answer, call } from "./api.ts";

/** The commit of every build that these functions plan. */
export const COMMIT = "c".repeat(40);

interface Caller {
  id: string;
  token: string;
}

/** Polls once as an agent that plans and runs jobs: 200 with a job, or 204. */
export const pollForJobs = (agent: Caller, features: string = FEATURES.join(",")): Promise<Answer<Job>> =>
  call<Job>(agent.token, "GET", `/buildagent/${agent.id}/poll?wait=0`, undefined, { "X-Agent-Features": features });

/** Sends a call about the agent's job, under its lease. */
export const callWithLease = (
  agent: Caller,
  { job, build, lease }: Job,
  method: string,
  verb: string,
  body?: unknown,
) => call(agent.token, method, `/job/${job?.id ?? build.id}/${verb}`, body, { "X-Lease": String(lease) });

/** Polls the agent's next job and starts it. @throws Error if there is no job */
export const startNextJob = async (agent: Caller): Promise<Job> => {
  const { status, body, text } = await pollForJobs(agent);
  if (status !== 200) throw new Error(`The agent got no job: ${status} ${text}`);
  expect((await callWithLease(agent, body, "POST", "start")).status).toBe(200);
  return body;
};

/** Sends the file of the agent's build. */
export const sendPlan = (agent: Caller, job: Job, text: string, more: object = {}) =>
  call(
    agent.token,
    "PUT",
    `/build/${job.build.id}/plan`,
    { commitSha: COMMIT, path: ".millrace.yml", text, ...more },
    { "X-Lease": String(job.lease) },
  );

/**
 * Polls the first job of the next build and plans it from this file. @returns its id, and the ids of its jobs by key
 */
export const planNextBuild = async (agent: Caller, text: string) => {
  const root = await startNextJob(agent);
  const answer = await sendPlan(agent, root, text);
  expect(answer, answer.text).toMatchObject({ status: 200 });
  const jobs: { id: string; key: string }[] = answer.body.jobs;
  return { root, buildId: root.build.id, ids: Object.fromEntries(jobs.map(({ id, key }) => [key, id])) };
};

/** Polls the next job, starts it and reports its result. */
export const finishNextJob = async (
  agent: Caller,
  result: object = { status: "succeeded", exitCode: 0 },
): Promise<Job> => {
  const job = await startNextJob(agent);
  const answer = await callWithLease(agent, job, "POST", "finish", result);
  expect(answer, answer.text).toMatchObject({ status: 200 });
  return job;
};

/** Returns the statuses of a build's jobs by key. */
export const jobStatuses = ({ jobs }: Build): Record<string, string> =>
  Object.fromEntries((jobs ?? []).map(({ key, status }) => [key, status]));
