import type { Client } from "../../../src/local/client.ts";
import type { Agent } from "../../../src/protocol/agent.ts";
import { type Job, LEASE_HEADER } from "../../../src/protocol/jobs.ts";
import type { Pipeline } from "../../../src/protocol/pipeline.ts";
import type { Repository } from "../../../src/protocol/repository.ts";
import type { KeepAlive } from "./keep-alive.ts";

/** An agent, with the token it is known by. */
export type Mill = Agent & { token: string };

export const STAGES = ["trigger", "poll", "start", "log", "finish"] as const;
/** Milliseconds each request of one build's life took. */
export type Life = Record<(typeof STAGES)[number], number>;

/** What a build of a build-less bench belongs to. */
export const makePipeline = async (client: Client): Promise<Pipeline> => {
  const repository = await client.call<Repository>("POST", "/repository", {
    ...{ gitHostRepoId: 1, fullName: "acme/app", cloneUrl: "https://git.example/acme/app.git" },
  });
  const definition = "steps:\n  - run: echo\n";
  return client.call<Pipeline>("POST", "/pipeline", { repoId: repository.id, name: "ci", definition });
};

export const registerAgent = (client: Client, http: KeepAlive, name: string): Promise<Mill> => {
  const body = { name, platform: 2, canBuildIOS: false, canBuildAndroid: true, canBuildWeb: true };
  return http.get("POST", "/buildagent/register", { token: client.token, body: JSON.stringify(body) });
};

/** One log chunk of a small build. */
export const LOG = Array.from({ length: 20 }, (_, line) => `line ${line}: what a small step has to say\n`).join("");

const timed = async <T>(life: Partial<Life>, stage: keyof Life, work: Promise<T>): Promise<T> => {
  const begun = performance.now();
  const result = await work;
  life[stage] = performance.now() - begun;
  return result;
};

/** Triggers a build, and takes the oldest that waits from its hand-out to its end. */
export const liveOnce = async (
  http: KeepAlive,
  trigger: { token: string; pipelineId: string },
  agent: Mill,
): Promise<Life> => {
  const life: Partial<Life> = {};
  const { token } = agent;
  const body = JSON.stringify({ pipelineId: trigger.pipelineId, branch: "main" });
  await timed(life, "trigger", http.get("POST", "/build", { token: trigger.token, body }));
  const job = await timed(
    life,
    "poll",
    http.get<Job | undefined>("GET", `/buildagent/${agent.id}/poll?wait=50`, { token }),
  );
  if (!job) throw new Error("A poll found no build though one waits for each agent");
  const path = `/build/${job.build.id}`;
  const headers = { [LEASE_HEADER]: String(job.lease) };
  await timed(life, "start", http.get("POST", `${path}/start`, { token, headers }));
  const bytes = { ...headers, "Content-Type": "application/octet-stream" };
  await timed(life, "log", http.get("PUT", `${path}/log?offset=0&final=true`, { token, headers: bytes, body: LOG }));
  const end = JSON.stringify({ status: "succeeded", exitCode: 0 });
  await timed(life, "finish", http.get("POST", `${path}/finish`, { token, headers, body: end }));
  return life as Life;
};

/** The same five requests to the floor. */
export const floorOnce = async (http: KeepAlive): Promise<Life> => {
  const life: Partial<Life> = {};
  const id = `?id=${crypto.randomUUID()}`;
  await timed(life, "trigger", http.get("POST", `/trigger${id}`));
  await timed(life, "poll", http.get("GET", `/poll${id}`));
  await timed(life, "start", http.get("POST", `/start${id}`));
  await timed(life, "log", http.get("PUT", `/log${id}`, { body: LOG }));
  await timed(life, "finish", http.get("POST", `/finish${id}`));
  return life as Life;
};
