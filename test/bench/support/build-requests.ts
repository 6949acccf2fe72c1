import type { Client } from "../../../src/local/client.ts";
import type { Agent } from "../../../src/protocol/agent.ts";
import { FEATURES, FEATURES_HEADER, type Job, LEASE_HEADER } from "../../../src/protocol/jobs.ts";
import type { Pipeline } from "../../../src/protocol/pipeline.ts";
import type { Repository } from "../../../src/protocol/repository.ts";
import type { KeepAliveClient } from "./keep-alive.ts";

/** An agent with its token. */
export type RegisteredAgent = Agent & { token: string; heartbeatSeconds: number };

export const STAGES = ["trigger", "poll", "start", "log", "finish"] as const;
/** Milliseconds for each request in one build. */
export type StageTimes = Record<(typeof STAGES)[number], number>;
/** The same for work that was triggered earlier, such as a job from a build with several jobs. */
export type RunTimes = Omit<StageTimes, "trigger">;

/** The agent's header on its polls and its socket. */
export const SAID = { [FEATURES_HEADER]: FEATURES.join(",") };

/** A pipeline record's definition if the file is not in the repository. */
const DEFINITION = "steps:\n  - run: echo\n";

/** Creates a repository with a pipeline; null: the pipeline's file is in the repository. Nothing clones it. */
export const makePipeline = async (client: Client, definition: string | null = DEFINITION): Promise<Pipeline> => {
  const repository = await client.call<Repository>("POST", "/repository", {
    gitHostRepoId: 1,
    fullName: "acme/app",
    cloneUrl: "https://git.example/acme/app.git",
  });
  return client.call<Pipeline>("POST", "/pipeline", { repoId: repository.id, name: "ci", definition });
};

export const registerAgent = (client: Client, http: KeepAliveClient, name: string): Promise<RegisteredAgent> => {
  const body = { name, platform: 2, canBuildIOS: false, canBuildAndroid: true, canBuildWeb: true };
  return http.request("POST", "/buildagent/register", { token: client.token, body: JSON.stringify(body) });
};

/** One log chunk from a small build. */
export const LOG = Array.from({ length: 20 }, (_, line) => `line ${line}: what a small step has to say\n`).join("");

const timed = async <T>(times: Partial<StageTimes>, stage: keyof StageTimes, work: Promise<T>): Promise<T> => {
  const begun = performance.now();
  const result = await work;
  times[stage] = performance.now() - begun;
  return result;
};

/** Polls the next waiting job and runs it to its end. Returns undefined if nothing waits for this agent. */
export const runNext = async (http: KeepAliveClient, agent: RegisteredAgent): Promise<RunTimes | undefined> => {
  const times: Partial<StageTimes> = {};
  const { token } = agent;
  const poll = http.request<Job | undefined>("GET", `/buildagent/${agent.id}/poll?wait=0`, { token, headers: SAID });
  const job = await timed(times, "poll", poll);
  if (!job) return undefined;
  await runTaken(http, agent, job, times);
  return times as RunTimes;
};

/** Triggers a build, then polls the oldest waiting one and runs it to its end. */
export const runBuild = async (
  http: KeepAliveClient,
  trigger: { token: string; pipelineId: string },
  agent: RegisteredAgent,
): Promise<StageTimes> => {
  const times: Partial<StageTimes> = {};
  const { token } = agent;
  const body = JSON.stringify({ pipelineId: trigger.pipelineId, branch: "main" });
  await timed(times, "trigger", http.request("POST", "/build", { token: trigger.token, body }));
  const job = await timed(
    times,
    "poll",
    http.request<Job | undefined>("GET", `/buildagent/${agent.id}/poll?wait=50`, { token }),
  );
  if (!job) throw new Error("A poll found no build although one waits for each agent");
  await runTaken(http, agent, job, times);
  return times as StageTimes;
};

/** Runs a job that the agent already has to its end. */
export const runTaken = async (
  http: KeepAliveClient,
  { token }: RegisteredAgent,
  job: Job,
  times: Partial<StageTimes> = {},
): Promise<void> => {
  const path = `/build/${job.job?.id ?? job.build.id}`;
  const headers = { [LEASE_HEADER]: String(job.lease) };
  await timed(times, "start", http.request("POST", `${path}/start`, { token, headers }));
  const bytes = { ...headers, "Content-Type": "application/octet-stream" };
  await timed(
    times,
    "log",
    http.request("PUT", `${path}/log?offset=0&final=true`, { token, headers: bytes, body: LOG }),
  );
  const end = JSON.stringify({ status: "succeeded", exitCode: 0 });
  await timed(times, "finish", http.request("POST", `${path}/finish`, { token, headers, body: end }));
};

/** Sends the same five requests to the floor. */
export const runFloorBuild = async (http: KeepAliveClient): Promise<StageTimes> => {
  const times: Partial<StageTimes> = {};
  const id = `?id=${crypto.randomUUID()}`;
  await timed(times, "trigger", http.request("POST", `/trigger${id}`));
  return { ...times, ...(await runFloorJob(http, id)) } as StageTimes;
};

/** Sends the same requests without the trigger. */
export const runFloorJob = async (http: KeepAliveClient, id = `?id=${crypto.randomUUID()}`): Promise<RunTimes> => {
  const times: Partial<StageTimes> = {};
  await timed(times, "poll", http.request("GET", `/poll${id}`));
  await timed(times, "start", http.request("POST", `/start${id}`));
  await timed(times, "log", http.request("PUT", `/log${id}`, { body: LOG }));
  await timed(times, "finish", http.request("POST", `/finish${id}`));
  return times as RunTimes;
};
