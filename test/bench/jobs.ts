import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "../../src/local/client.ts";
import type { Build } from "../../src/protocol/build.ts";
import { type Job, LEASE_HEADER } from "../../src/protocol/jobs.ts";
import { startAgent } from "../support/local/agent.ts";
import { connectRepository, makeRepository } from "../support/local/git-repository.ts";
import { serveBundled } from "../support/served-worker.ts";
import { withStorageIn } from "../support/storage-in.ts";
import { FILE, firstLineOf } from "./first-line.ts";
import {
  makePipeline,
  type RegisteredAgent,
  registerAgent,
  runFloorJob,
  runNext,
  SAID,
} from "./support/build-requests.ts";
import { type Counts, totalOf } from "./support/counts.ts";
import { serveFloor } from "./support/floor.ts";
import { countedWhile, waitUntilIdle } from "./support/idle-hour.ts";
import { KeepAliveClient } from "./support/keep-alive.ts";
import { median, ms, quantile } from "./support/statistics.ts";
import { inParallel, Waiters } from "./support/waiters.ts";

const ROUNDS = 5;
const JOBS = 256;
const WAITING = 32;
const AGENTS = 16;
const CHAINS = 20;
const COMMIT = "0123456789".repeat(4);

const values = (axis: string): string => Array.from({ length: 16 }, (_, n) => `${axis}${n}`).join(", ");
const TEXT = `jobs:\n  test:\n    matrix: { one: [${values("a")}], other: [${values("b")}] }\n    steps: [{ run: echo }]\n`;

interface Bench {
  http: KeepAliveClient;
  bare: KeepAliveClient;
  url: string;
  token: string;
  pipelineId: string;
  agents: RegisteredAgent[];
}

const trigger = ({ http, token, pipelineId }: Bench): Promise<Build> =>
  http.request("POST", "/build", { token, body: JSON.stringify({ pipelineId, branch: "main", priority: 1 }) });

/** Takes a build's root, and returns a function that plans its jobs. */
const readyToPlan = async (bench: Bench): Promise<() => Promise<{ jobs: unknown[] }>> => {
  const { http, agents } = bench;
  const [{ id, token }] = agents as [RegisteredAgent];
  await trigger(bench);
  const job = await http.request<Job>("GET", `/buildagent/${id}/poll?wait=0`, { token, headers: SAID });
  const headers = { [LEASE_HEADER]: String(job.lease) };
  await http.request("POST", `/build/${job.build.id}/start`, { token, headers });
  const body = JSON.stringify({ commitSha: COMMIT, path: job.pipeline.configPath, text: TEXT });
  return () => http.request("PUT", `/build/${job.build.id}/plan`, { token, headers, body });
};

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
};

/** Returns the milliseconds for each of JOBS. AGENTS jobs run at once. */
const runAll = async (run: (agent: number) => Promise<unknown>): Promise<number> => {
  let left = JOBS;
  const took = await timed(() =>
    inParallel(AGENTS, AGENTS, async (agent) => {
      while (left-- > 0) await run(agent);
    }),
  );
  return took / JOBS;
};

const runOwn =
  ({ http, agents }: Bench) =>
  async (agent: number): Promise<void> => {
    if (!(await runNext(http, agents[agent]!))) throw new Error("A poll found no job although one waits");
  };

interface Round {
  plan: number;
  floorPlan: number;
  job: number;
  build: number;
  floorJob: number;
}

const round = async (bench: Bench, builds: Bench): Promise<Round> => {
  const plan = await readyToPlan(bench);
  const floorPlan = await timed(() => bench.bare.request("PUT", `/plan?jobs=${JOBS}`, { body: TEXT }));
  const planned = await timed(plan);
  const floorJob = await runAll(() => runFloorJob(bench.bare));
  const job = await runAll(runOwn(bench));
  await inParallel(JOBS, AGENTS, () => trigger(builds));
  const build = await runAll(runOwn(builds));
  return { plan: planned, floorPlan, job, build, floorJob };
};

/** Counts the cost of one plan while WAITING agents wait, and the hints that they get. */
const countPlan = async (bench: Bench): Promise<{ counts: Counts; hints: number }> => {
  const { http, url, agents } = bench;
  const plan = await readyToPlan(bench);
  const waiters = new Waiters();
  await inParallel(WAITING, WAITING, (n) => {
    const { id, token } = agents[AGENTS + n]!;
    return waiters.openSocket(n, `${url}/buildagent/${id}/poll`, token, SAID);
  });
  await waitUntilIdle(http);
  const counts = await countedWhile(http, async () => {
    const { jobs } = await plan();
    if (jobs.length !== JOBS) throw new Error(`The service planned ${jobs.length} jobs`);
  });
  // After a while, the pool withdraws an offer that nobody takes. All hints until then come from the plan.
  await delay(500);
  const hints = waiters.arrivals;
  waiters.close();
  await runAll(runOwn(bench));
  return { counts, hints };
};

const line = (what: string, own: number[], floor: number[]): void => {
  const ratio = median(own.map((value, index) => value / floor[index]!));
  console.log(`    ${what}: ${ms(median(own))}, floor ${ms(median(floor))}, ratio ${ratio.toFixed(2)}`);
};

/** Hands out and runs JOBS jobs from one build, beside as many builds and a bare Worker. */
const benchMany = async (): Promise<void> => {
  const entry = join(import.meta.dirname, "support/counted-worker.ts");
  const [service, floor] = await withStorageIn("memory", () => Promise.all([serveBundled({ entry }), serveFloor()]));
  const http = new KeepAliveClient(service.url);
  const bare = new KeepAliveClient(floor.url);
  const furnish = async (orgId: string, definition?: string | null): Promise<Bench> => {
    const client = await service.newOrganization(orgId);
    const { id: pipelineId } = await makePipeline(client, definition);
    const agents = await inParallel(AGENTS + WAITING, 8, (n) => registerAgent(client, http, `mill-${n}`));
    return { http, bare, url: service.url, token: client.token, pipelineId, agents };
  };
  const [bench, builds] = [await furnish("jobs", null), await furnish("builds")];
  await round(bench, builds);
  const rounds: Round[] = [];
  for (let n = 0; n < ROUNDS; n++) rounds.push(await round(bench, builds));
  const of = (what: keyof Round) => rounds.map((one) => one[what]);
  console.log(`  ${JOBS} jobs of one build, medians of ${ROUNDS} rounds`);
  line("plan all jobs until they are queued (floor: the same rows)", of("plan"), of("floorPlan"));
  line(`a job, ${AGENTS} agents at once: poll, start, log, finish`, of("job"), of("floorJob"));
  line("the same number of builds without planned jobs", of("build"), of("floorJob"));
  const { counts, hints } = await countPlan(bench);
  const rows = totalOf(counts.objectRowsWritten);
  console.log(`    the plan writes ${rows} rows in objects and sends ${hints} hints to ${WAITING} waiting agents:`);
  console.log(`      ${JSON.stringify(counts.objectRowsWritten)}`);
  http.close();
  bare.close();
  await Promise.all([service.stop(), floor.stop()]);
};

const CHAIN = `jobs:\n  first: { steps: [{ run: "true" }] }\n  second: { needs: [first], steps: [{ run: echo first-line-$((6 * 7)) }] }\n`;

interface JobSaid {
  id: string;
  key: string;
  finishedAt: string | null;
}

/** Returns the milliseconds from the first job's end to the second job's first line at a follower. */
const chained = async (client: Client, pipelineId: string): Promise<number> => {
  const { id } = await client.call<Build>("POST", "/build", { pipelineId, branch: "main" });
  const jobs = async () => (await client.call<{ jobs: JobSaid[] | null }>("GET", `/build/${id}`)).jobs ?? [];
  const find = async (key: string) => (await jobs()).find((job) => job.key === key);
  let second = await find("second");
  while (!second) second = await find("second");
  const headers = { Authorization: `Bearer ${client.token}`, Accept: "text/event-stream" };
  const log = await fetch(`${client.url}/job/${second.id}/log`, { headers });
  let at = Number.NaN;
  for await (const text of log.body?.pipeThrough(new TextDecoderStream()) ?? [])
    if (Number.isNaN(at) && text.includes("first-line-42")) at = Date.now();
  return at - Date.parse((await find("first"))?.finishedAt ?? "");
};

/** Measures a person's waits: for a build's first job, and between two jobs, with real agents and real git. */
const benchChain = async (): Promise<void> => {
  const service = await withStorageIn("memory", () => serveBundled({ vars: { CLONE_PROTOCOLS: "https,file" } }));
  const client = await service.newOrganization("bench");
  const pipelineOf = async (text: string): Promise<string> => {
    const { id } = await connectRepository(client, makeRepository(service.folder, { ".millrace.yml": text }));
    return (await client.call<{ id: string }>("POST", "/pipeline", { repoId: id, name: "ci" })).id;
  };
  const [single, chain] = [await pipelineOf(FILE), await pipelineOf(CHAIN)];
  const agents = [await startAgent(client, service.folder, "one"), await startAgent(client, service.folder, "other")];
  const make = async () => (await client.call<Build>("POST", "/build", { pipelineId: single, branch: "main" })).id;
  const triggers: number[] = [];
  const needs: number[] = [];
  for (let n = 0; n < CHAINS; n++) {
    triggers.push((await firstLineOf(client, make)).line);
    needs.push(await chained(client, chain));
  }
  const figures = (sample: number[]) => `p50 ${ms(median(sample))}  p99 ${ms(quantile(sample, 0.99))}`;
  console.log(`  to the first line at a follower, ${CHAINS} builds each, a waiting agent`);
  console.log(`    from the trigger of a build to its first job: ${figures(triggers)}`);
  console.log(`    from the end of the job that the next one needs: ${figures(needs)} (goal: not above)`);
  for (const agent of agents) await agent.stop();
  await service.stop();
};

await benchMany();
await benchChain();
