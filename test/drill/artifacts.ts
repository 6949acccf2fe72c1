import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import type { Client } from "../../src/local/client.ts";
import type { ArtifactWithFiles } from "../../src/protocol/artifact.ts";
import type { Build } from "../../src/protocol/build.ts";
import type { JobOfBuild } from "../../src/protocol/build-job.ts";
import { isEnded } from "../../src/protocol/build-states.ts";
import { LIMITS } from "../../src/protocol/limits.ts";
import type { Pipeline } from "../../src/protocol/pipeline.ts";
import { type RunningAgent, startAgent, startRegistered } from "../support/local/agent.ts";
import { freePort } from "../support/local/free-port.ts";
import { connectRepository, makeRepository } from "../support/local/git-repository.ts";
import { type LocalService, startLocalService } from "../support/local/service.ts";
import { setup as bundleAgent } from "../support/set-up/agent.ts";
import { CuttingProxy } from "./cutting-proxy.ts";
import { WorkerMemory } from "./worker-memory.ts";

const MIB = 1024 ** 2;
/** Maximum number of repeated parts: those under way at two lost connections and a restart. */
const SPARE_PARTS = 4;
/** Headers, file lists and logs. The proxy counts them too. */
const OTHER_BYTES = 4 * MIB;
/** The agent's memory limit, for artifacts of any size: two parts, the copies that fetch makes of them, and garbage. */
const AGENT_MEMORY = 600 * MIB;
/** The memory limit of the Worker's isolate, which streams its input. Production has 128 MiB. */
const WORKER_MEMORY = 128 * MIB;
const SMALL_FILES = 5_000;
/** The agent's artifact for the kill, which happens at half of it. */
const MOST_KILLED_BYTES = 2 * 1024 ** 3;

const sleep = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

const fileOf = (bytes: number): string => `jobs:
  big:
    steps: [{ run: 'head -c ${bytes} /dev/urandom > big; sha256sum < big > sum' }]
    artifacts: [{ name: sum, path: sum }, { name: big, path: big, keep-days: 1 }]
  small:
    needs: [big]
    steps: [{ run: 'mkdir -p s; for n in $(seq ${SMALL_FILES}); do echo $n > s/$n; done' }]
    artifacts: [{ name: small, path: s/, keep-days: 1 }]
`;

const ended = async (client: Client, id: string): Promise<Build> => {
  for (;;) {
    // The service is unavailable while it restarts.
    const build = await client.call<Build>("GET", `/build/${id}`).catch(() => null);
    if (build && isEnded(build.status)) return build;
    await sleep(1000);
  }
};

/** Returns a process's peak memory. */
const mostMemory = (pid: number): number =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) * 1024;

const READ_AT_ONCE = 256 * MIB;

/** Reads a file in ranges, like a client that resumes after a lost connection. */
const bytesOf = async ({ url, token }: Client, path: string, size = 1) => {
  const hash = createHash("sha256");
  const text: string[] = [];
  for (let from = 0; from < size; from += READ_AT_ONCE) {
    const Range = `bytes=${from}-${from + READ_AT_ONCE - 1}`;
    const answer = await fetch(`${url}${path}`, { headers: { Authorization: `Bearer ${token}`, Range } });
    if (answer.status !== 206) throw new Error(`${path}, ${Range}: ${answer.status}`);
    for await (const piece of answer.body ?? []) {
      hash.update(piece);
      if (text.length < 2) text.push(Buffer.from(piece).toString("latin1"));
    }
  }
  return { sha256: hash.digest("hex"), text: text.join("") };
};

/** The drill's surroundings. */
interface Scene {
  service: LocalService;
  client: Client;
  proxy: CuttingProxy;
  memory: WorkerMemory;
  pipelineOf(file: string): Promise<Pipeline>;
}

const inMiB = (bytes: number): string => `${(bytes / MIB).toFixed()} MiB`;

const printJob = async (client: Client, job: JobOfBuild): Promise<void> => {
  const headers = { Authorization: `Bearer ${client.token}` };
  const log = await (await fetch(`${client.url}/job/${job.id}/log`, { headers })).text();
  for (const line of log.split("\n")) if (line.startsWith("artifact ")) console.log(`  ${line}`);
  const seconds = (Date.parse(job.finishedAt ?? "") - Date.parse(job.startedAt ?? "")) / 1000;
  console.log(`  ${job.key}: ${seconds.toFixed()} s, steps included`);
};

const isAsMade = async (client: Client, job: JobOfBuild, bytes: number): Promise<boolean> => {
  const sum = (await bytesOf(client, `/job/${job.id}/artifact/sum/content/sum`)).text.split(" ")[0];
  const { sha256 } = await bytesOf(client, `/job/${job.id}/artifact/big/content/big`, bytes);
  console.log(`sha-256 ${sha256 === sum ? "matches" : `${sha256}, expected ${sum}`}`);
  return sha256 === sum;
};

const started = async ({ client, pipelineOf }: Scene, bytes: number): Promise<string> => {
  const pipeline = await pipelineOf(fileOf(bytes));
  return (await client.call<Build>("POST", "/build", { pipelineId: pipeline.id, branch: "main" })).id;
};

const jobsOf = (build: Build): [JobOfBuild, JobOfBuild] => {
  const [big, small] = ["big", "small"].map((key) => build.jobs?.find((job) => job.key === key));
  if (!big || !small) throw new Error(`The build is ${build.status} without its jobs: ${build.message}`);
  return [big, small];
};

/** Cuts the connection twice and restarts the service once, all under one lease. */
const sendWithCuts = async (scene: Scene, agent: RunningAgent, bytes: number): Promise<boolean> => {
  const { client, proxy, service, memory } = scene;
  proxy.cuts = [0.2 * bytes, 0.5 * bytes];
  const restarts: Promise<void>[] = [];
  proxy.at.push({ bytes: 0.7 * bytes, act: () => void restarts.push(service.restart()) });
  const build = await ended(client, await started(scene, bytes));
  await Promise.all(restarts);
  const sending = memory.take();
  const [big, small] = jobsOf(build);
  const spare = (proxy.sent - OTHER_BYTES - bytes) / LIMITS.artifactPartBytes;
  console.log(`build ${build.status}, attempts ${big.attempt} and ${small.attempt}: ${build.message ?? ""}`);
  console.log(`sent ${inMiB(proxy.sent)} for ${inMiB(bytes)}: ${spare.toFixed(1)} extra parts`);
  const isRight = await isAsMade(client, big, bytes);
  const { list } = await client.call<ArtifactWithFiles>("GET", `/job/${small.id}/artifact/small`);
  console.log(`${list.length} small files`);
  for (const job of [big, small]) await printJob(client, job);
  const agentMemory = mostMemory(agent.process.pid ?? 0);
  const reading = memory.take();
  console.log(`the agent's peak memory: ${inMiB(agentMemory)}`);
  console.log(`the Worker's peak memory: ${inMiB(sending)} receiving, ${inMiB(reading)} sending`);
  const isOnce = big.attempt === 1 && small.attempt === 1;
  const isFlat = agentMemory <= AGENT_MEMORY && Math.max(sending, reading) <= WORKER_MEMORY;
  const isSound = build.status === "succeeded" && isRight && list.length === SMALL_FILES;
  return isSound && isOnce && isFlat && spare <= SPARE_PARTS;
};

/** Kills the agent at half, and restarts it. Nobody may ever see anything from its first attempt. */
const sendAndDie = async (scene: Scene, agent: RunningAgent, bytes: number): Promise<[boolean, RunningAgent]> => {
  const { client, proxy } = scene;
  const gone = once(agent.process, "exit");
  proxy.at.push({ bytes: proxy.sent + 0.5 * bytes, act: () => agent.process.kill("SIGKILL") });
  const id = await started(scene, bytes);
  await gone;
  const seen = await client.call<unknown[]>("GET", `/build/${id}/artifact`);
  console.log(`agent killed at ${inMiB(bytes / 2)}: ${seen.length} artifacts are visible`);
  const next = startRegistered(agent.state, {});
  const build = await ended(client, id);
  const [big] = jobsOf(build);
  const names = (await client.call<{ name: string }[]>("GET", `/job/${big.id}/artifact`)).map(({ name }) => name);
  console.log(`build ${build.status}, attempt ${big.attempt}, artifacts ${names.join(", ")}`);
  const isRight = await isAsMade(client, big, bytes);
  await printJob(client, big);
  const isSecond = big.attempt === 2 && names.sort().join() === "big,sum";
  return [seen.length === 0 && build.status === "succeeded" && isSecond && isRight, next];
};

/**
 * Sends a large artifact through lost connections and a restart, and an artifact with 5,000 files. Then kills the agent
 * during another.
 */
export const drill = async ({ gib = 10 }: { gib?: number }): Promise<boolean> => {
  const bytes = gib * 1024 ** 3;
  const { bavail, bsize } = statfsSync(tmpdir());
  if (bavail * bsize < 4 * bytes)
    throw new Error(`${tmpdir()} has less space than four times ${gib} GiB: free some, or use a smaller --gib`);
  const removeProgram = await bundleAgent();
  const inspectorPort = await freePort();
  const vars = { LEASE_SECONDS: "60", HEARTBEAT_SECONDS: "5", POLL_SECONDS: "20" };
  const service = await startLocalService(vars, { inspectorPort });
  const proxy = new CuttingProxy(service.port);
  const memory = new WorkerMemory(inspectorPort);
  try {
    const client = await service.newOrganization("acme");
    const pipelineOf = async (file: string): Promise<Pipeline> => {
      const repository = await connectRepository(client, makeRepository(service.folder, { ".millrace.yml": file }));
      return client.call("POST", "/pipeline", { repoId: repository.id, name: "ci" });
    };
    const scene = { service, client, proxy, memory, pipelineOf };
    const agent = await startAgent(client, service.folder, "artifacts", { url: await proxy.listen() });
    const isSent = await sendWithCuts(scene, agent, bytes);
    const [isSentAgain, next] = await sendAndDie(scene, agent, Math.min(bytes, MOST_KILLED_BYTES));
    console.log(`measured the Worker's memory ${memory.asked} times`);
    await next.stop();
    return isSent && isSentAgain && memory.asked > 0;
  } finally {
    memory.stop();
    proxy.close();
    await service.remove();
    removeProgram();
  }
};
