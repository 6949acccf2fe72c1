import { loadavg } from "node:os";
import { join } from "node:path";
import type { NewBuild } from "../../src/domain/pool/commands.ts";
import type { Job } from "../../src/protocol/jobs.ts";
import { serveBundled } from "../support/served-worker.ts";
import { withStorageIn } from "../support/storage-in.ts";
import { Crowd, inParallel } from "./support/crowd.ts";
import { serveFloor } from "./support/floor.ts";
import { countedWhile, countsOf, idleHour, POLLS_AN_HOUR, quiet } from "./support/idle-hour.ts";
import { KeepAlive } from "./support/keep-alive.ts";
import { type Mill, makePipeline, registerAgent } from "./support/life.ts";
import { memoryOf, workerds } from "./support/memory.ts";
import { describePair, type Pair } from "./support/pair.ts";

const AGENTS = 1_000;
const SAMPLES = 50;
const AT_ONCE = 32;
/** Milliseconds of silence after which an object has gone to sleep behind its sockets. */
const SLEEP = 12_000;

const entry = join(import.meta.dirname, "support/counted-worker.ts");
const service = await withStorageIn("memory", () => serveBundled({ entry }));
const [serviceProcess = 0] = workerds();
const floor = await withStorageIn("memory", serveFloor);
const floorProcess = workerds().find((id) => id !== serviceProcess) ?? 0;
const client = await service.newOrganization("bench");
const http = new KeepAlive(service.url);
const bare = new KeepAlive(floor.url);
const { id: pipelineId, repoId } = await makePipeline(client);

const trigger = () =>
  http.get("POST", "/build", { token: client.token, body: JSON.stringify({ pipelineId, branch: "main" }) });
/** Tells the pool of a build without the service's part before that. */
const enqueue = () => {
  const build: NewBuild = {
    ...{ id: crypto.randomUUID(), orgId: "bench", repoId, pipelineId, pipelineVersion: 1, branch: "main" },
    ...{ commitSha: null, trigger: "api", priority: 0, requires: {}, timeoutSeconds: 3600, maxParallel: null },
    ...{ maxAttempts: 2, inputs: null, secretKeys: [], retryOf: null, idempotency: null },
    actor: { actor: "token:bench", requestId: "bench" },
  };
  return http.get("POST", "/enqueue", { body: JSON.stringify(build) });
};
const about = (job: Job, { token }: Mill, verb: string, body?: object) =>
  http.get("POST", `/build/${job.build.id}/${verb}`, {
    ...{ token, headers: { "X-Lease": String(job.lease) }, body: body && JSON.stringify(body) },
  });
const complete = async (job: Job, agent: Mill): Promise<void> => {
  await about(job, agent, "start");
  await about(job, agent, "finish", { status: "succeeded", exitCode: 0 });
};
const look = (agent: Mill) => http.get<Job>("GET", `/buildagent/${agent.id}/poll?wait=0`, { token: agent.token });

/** Who of the crowd is told, and how many milliseconds after a request was sent. */
const wakeUp = async (crowd: Crowd, ask: () => Promise<unknown>) => {
  const told = crowd.next();
  const begun = performance.now();
  const asked = ask();
  const arrival = await told;
  await asked;
  return { ...arrival, took: arrival.at - begun };
};

const sleep = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

const until = async (isSo: () => Promise<boolean>): Promise<void> => {
  while (!(await isSo())) await sleep(50);
};

/** What each waiter has added to both processes since they had none, at most: what is free again is not given back. */
const perWaiter = (): string => {
  const [own, bare] = [memoryOf(serviceProcess) - empty.own, memoryOf(floorProcess) - empty.bare];
  const kibibytes = (bytes: number) => `${(bytes / 1024 / AGENTS).toFixed(0)} KiB`;
  return `${kibibytes(own)} of memory an agent (bare ${kibibytes(bare)})`;
};

const show = (what: string, pair: Pair): void => console.log(`    ${what}\n      ${describePair(pair)}`);

const byLongPoll = async (agents: Mill[]): Promise<void> => {
  const crowd = new Crowd();
  const bareCrowd = new Crowd();
  const { objectRequests } = await countsOf(http);
  const open = agents.map((agent, index) =>
    crowd.poll(index, http, `/buildagent/${agent.id}/poll?wait=60`, agent.token, (text) =>
      complete(JSON.parse(text), agent),
    ),
  );
  await until(async () => (await countsOf(http)).objectRequests >= objectRequests + 2 * AGENTS);
  const bareOpen = agents.map((_, index) => bareCrowd.poll(index, bare, `/wait?id=${index}`));
  await until(async () => (await bare.get<number>("GET", "/waiting")) === AGENTS);
  console.log(`  by long poll: ${perWaiter()}`);
  const jobs: Pair = { own: [], bare: [] };
  for (let n = 0; n < SAMPLES; n++) {
    jobs.bare.push((await wakeUp(bareCrowd, () => bare.get("POST", `/trigger?id=${n}`))).took);
    jobs.own.push((await wakeUp(crowd, trigger)).took);
  }
  show("trigger to the job in an agent's hands (bare: the same calls and rounds)", jobs);
  crowd.leave();
  bareCrowd.leave();
  await Promise.all([...open, ...bareOpen]);
};

const byWebSocket = async (agents: Mill[]): Promise<void> => {
  const crowd = new Crowd();
  const bareCrowd = new Crowd();
  await inParallel(AGENTS, AT_ONCE, (n) =>
    crowd.listen(n, `${service.url}/buildagent/${agents[n]!.id}/poll`, agents[n]!.token),
  );
  await inParallel(AGENTS, AT_ONCE, (n) => bareCrowd.listen(n, `${floor.url}/wait?id=${n}`));
  console.log(`  by WebSocket: ${perWaiter()}`);
  const hinted = async (ask: () => Promise<unknown>): Promise<number> => {
    const { index, took } = await wakeUp(crowd, ask);
    const agent = agents[index]!;
    await complete(await look(agent), agent);
    return took;
  };
  await sleep(SLEEP);
  const pings = await countedWhile(http, () => crowd.ping("ping"));
  console.log(
    `    a ping of each: ${pings.objectRequests} requests to objects, ${pings.objectRowsWritten} rows written`,
  );
  const { wakes } = await countsOf(http);
  const coldPush = await wakeUp(bareCrowd, () => bare.get("POST", "/push?id=1"));
  const cold = await hinted(enqueue);
  const woken = (await countsOf(http)).wakes - wakes;
  const told: Pair = { own: [], bare: [] };
  const triggered: Pair = { own: [], bare: [] };
  for (let n = 0; n < SAMPLES; n++) {
    told.bare.push((await wakeUp(bareCrowd, () => bare.get("POST", `/push?id=${n}`))).took);
    told.own.push(await hinted(enqueue));
    triggered.bare.push((await wakeUp(bareCrowd, () => bare.get("POST", `/trigger?id=${n}`))).took);
    triggered.own.push(await hinted(trigger));
  }
  show("the pool told of a build to the hint at an agent (bare: a push; goal 2)", told);
  show(`the same out of ${woken === 1 ? "sleep" : "a doze"}, once`, { own: [cold], bare: [coldPush.took] });
  show("trigger to the hint (bare: a round to D1, a row, a push)", triggered);
  crowd.leave();
  bareCrowd.leave();
};

console.log(`${AGENTS} agents of one organization wait at once (load before: ${loadavg()[0]?.toFixed(1)}):`);
const agents = await inParallel(AGENTS, AT_ONCE, (n) => registerAgent(client, http, `mill-${n}`));
const empty = { own: memoryOf(serviceProcess), bare: memoryOf(floorProcess) };
await byWebSocket(agents);
await byLongPoll(agents);
await quiet(http);
const hour = await idleHour(http, agents.slice(0, 50), 1);
console.log(`  an idle agent's hour of ${POLLS_AN_HOUR} long polls: ${hour.d1Statements} queries to D1 (goal 0), `);
console.log(
  `    ${hour.objectRowsWritten.toFixed(0)} rows written (goal 75), ${hour.objectRequests.toFixed(0)} requests to objects`,
);
http.close();
bare.close();
await Promise.all([service.stop(), floor.stop()]);
