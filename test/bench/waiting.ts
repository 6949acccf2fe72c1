import { loadavg } from "node:os";
import { join } from "node:path";
import type { Job } from "../../src/protocol/jobs.ts";
import type { NewBuild } from "../../src/queue/commands/commands.ts";
import { DEFAULT_BUILD } from "../support/default-build.ts";
import { serveBundled } from "../support/served-worker.ts";
import { withStorageIn } from "../support/storage-in.ts";
import { makePipeline, type RegisteredAgent, registerAgent } from "./support/build-requests.ts";
import { type Comparison, describeComparison } from "./support/comparison.ts";
import { totalOf } from "./support/counts.ts";
import { serveFloor } from "./support/floor.ts";
import { countedWhile, countsOf, idleHour, POLLS_AN_HOUR, waitUntilIdle } from "./support/idle-hour.ts";
import { KeepAliveClient } from "./support/keep-alive.ts";
import { memoryOf, workerdProcesses } from "./support/process-usage.ts";
import { inParallel, Waiters } from "./support/waiters.ts";

const AGENTS = 1_000;
const SAMPLES = 50;
const AT_ONCE = 32;
/** Milliseconds without a call until an object hibernates. */
const SLEEP = 12_000;

const entry = join(import.meta.dirname, "support/counted-worker.ts");
const service = await withStorageIn("memory", () => serveBundled({ entry }));
const [serviceProcess = 0] = workerdProcesses();
const floor = await withStorageIn("memory", serveFloor);
const floorProcess = workerdProcesses().find((id) => id !== serviceProcess) ?? 0;
const client = await service.newOrganization("bench");
const http = new KeepAliveClient(service.url);
const bare = new KeepAliveClient(floor.url);
const { id: pipelineId, repoId } = await makePipeline(client);

const trigger = () =>
  http.request("POST", "/build", { token: client.token, body: JSON.stringify({ pipelineId, branch: "main" }) });
/** Enqueues a build in the pool directly, without the Worker. */
const enqueue = () => {
  const build: NewBuild = { ...DEFAULT_BUILD, id: crypto.randomUUID(), orgId: "bench", repoId, pipelineId };
  return http.request("POST", "/enqueue", { body: JSON.stringify(build) });
};
const about = (job: Job, { token }: RegisteredAgent, verb: string, body?: object) =>
  http.request("POST", `/build/${job.build.id}/${verb}`, {
    token,
    headers: { "X-Lease": String(job.lease) },
    body: body && JSON.stringify(body),
  });
const complete = async (job: Job, agent: RegisteredAgent): Promise<void> => {
  await about(job, agent, "start");
  await about(job, agent, "finish", { status: "succeeded", exitCode: 0 });
};
const pollOnce = (agent: RegisteredAgent) =>
  http.request<Job>("GET", `/buildagent/${agent.id}/poll?wait=0`, { token: agent.token });

const sleep = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

const until = async (isSo: () => Promise<boolean>): Promise<void> => {
  while (!(await isSo())) await sleep(50);
};

/** Returns the maximum memory for each waiter: processes do not return freed memory. */
const perWaiter = (): string => {
  const [own, bare] = [memoryOf(serviceProcess) - empty.own, memoryOf(floorProcess) - empty.bare];
  const kibibytes = (bytes: number) => `${(bytes / 1024 / AGENTS).toFixed(0)} KiB`;
  return `${kibibytes(own)} of memory an agent (bare ${kibibytes(bare)})`;
};

const show = (what: string, pair: Comparison): void => console.log(`    ${what}\n      ${describeComparison(pair)}`);

const byLongPoll = async (agents: RegisteredAgent[]): Promise<void> => {
  const waiters = new Waiters();
  const floorWaiters = new Waiters();
  const before = totalOf((await countsOf(http)).objectCalls);
  const open = agents.map((agent, index) =>
    waiters.poll(index, http, `/buildagent/${agent.id}/poll?wait=60`, agent.token, (text) =>
      complete(JSON.parse(text), agent),
    ),
  );
  await until(async () => totalOf((await countsOf(http)).objectCalls) >= before + 2 * AGENTS);
  const bareOpen = agents.map((_, index) => floorWaiters.poll(index, bare, `/wait?id=${index}`));
  await until(async () => (await bare.request<number>("GET", "/waiting")) === AGENTS);
  console.log(`  by long poll: ${perWaiter()}`);
  const jobs: Comparison = { own: [], floor: [] };
  for (let n = 0; n < SAMPLES; n++) {
    jobs.floor.push((await floorWaiters.wokenBy(() => bare.request("POST", `/trigger?id=${n}`))).took);
    jobs.own.push((await waiters.wokenBy(trigger)).took);
  }
  show("trigger to the job at an agent (bare: the same calls and rounds)", jobs);
  waiters.close();
  floorWaiters.close();
  await Promise.all([...open, ...bareOpen]);
};

const byWebSocket = async (agents: RegisteredAgent[]): Promise<void> => {
  const waiters = new Waiters();
  const floorWaiters = new Waiters();
  await inParallel(AGENTS, AT_ONCE, (n) =>
    waiters.openSocket(n, `${service.url}/buildagent/${agents[n]!.id}/poll`, agents[n]!.token),
  );
  await inParallel(AGENTS, AT_ONCE, (n) => floorWaiters.openSocket(n, `${floor.url}/wait?id=${n}`));
  console.log(`  by WebSocket: ${perWaiter()}`);
  const hinted = async (ask: () => Promise<unknown>): Promise<number> => {
    const { index, took } = await waiters.wokenBy(ask);
    const agent = agents[index]!;
    await complete(await pollOnce(agent), agent);
    return took;
  };
  await sleep(SLEEP);
  const pings = await countedWhile(http, () => waiters.ping("ping"));
  console.log(
    `    a ping of each: ${totalOf(pings.objectCalls)} requests to objects, ${totalOf(pings.objectRowsWritten)} rows written`,
  );
  const { wakes } = await countsOf(http);
  const coldPush = await floorWaiters.wokenBy(() => bare.request("POST", "/push?id=1"));
  const cold = await hinted(enqueue);
  const woken = (await countsOf(http)).wakes - wakes;
  const hintTimes: Comparison = { own: [], floor: [] };
  const triggerTimes: Comparison = { own: [], floor: [] };
  for (let n = 0; n < SAMPLES; n++) {
    hintTimes.floor.push((await floorWaiters.wokenBy(() => bare.request("POST", `/push?id=${n}`))).took);
    hintTimes.own.push(await hinted(enqueue));
    triggerTimes.floor.push((await floorWaiters.wokenBy(() => bare.request("POST", `/trigger?id=${n}`))).took);
    triggerTimes.own.push(await hinted(trigger));
  }
  show("pool enqueue to the hint at an agent (bare: a push; goal 2)", hintTimes);
  show(`the same from ${woken === 1 ? "hibernation" : "an idle object"}, once`, {
    own: [cold],
    floor: [coldPush.took],
  });
  show("trigger to the hint (bare: a round to D1, a row, a push)", triggerTimes);
  waiters.close();
  floorWaiters.close();
};

console.log(`${AGENTS} agents of one organization wait at once (load before: ${loadavg()[0]?.toFixed(1)}):`);
const agents = await inParallel(AGENTS, AT_ONCE, (n) => registerAgent(client, http, `mill-${n}`));
const empty = { own: memoryOf(serviceProcess), bare: memoryOf(floorProcess) };
await byWebSocket(agents);
await byLongPoll(agents);
await waitUntilIdle(http);
const hour = await idleHour(http, agents.slice(0, 50), 1);
console.log(`  an idle agent's hour of ${POLLS_AN_HOUR} long polls: ${hour.d1Statements} queries to D1 (goal 0), `);
console.log(
  `    ${totalOf(hour.objectRowsWritten).toFixed(0)} rows written (goal 75), ${totalOf(hour.objectCalls).toFixed(0)} requests to objects`,
);
http.close();
bare.close();
await Promise.all([service.stop(), floor.stop()]);
