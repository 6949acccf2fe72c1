import { loadavg } from "node:os";
import { serveBundled } from "../support/served-worker.ts";
import { type Storage, withStorageIn } from "../support/storage-in.ts";
import {
  makePipeline,
  registerAgent,
  runBuild,
  runFloorBuild,
  STAGES,
  type StageTimes,
} from "./support/build-requests.ts";
import { serveFloor } from "./support/floor.ts";
import { KeepAliveClient } from "./support/keep-alive.ts";
import { median, ms } from "./support/statistics.ts";

export const AGENTS = 16;
const ROUNDS = 4;
const ROUND_MS = 2_000;
/** Trivial builds per second with Buildbot 3.7.0: one master, four workers, sqlite on a disk, two cores. */
const BUILDBOT = 5.0;

interface Round {
  lives: StageTimes[];
  perSecond: number;
}

/** Measures builds per second with AGENTS agents. Each has one build at a time. */
export const round = async (live: (agent: number) => Promise<StageTimes>, milliseconds = ROUND_MS): Promise<Round> => {
  const lives: StageTimes[] = [];
  const begun = performance.now();
  const runAgent = async (_: unknown, index: number) => {
    while (performance.now() - begun < milliseconds) lives.push(await live(index));
  };
  await Promise.all(Array.from({ length: AGENTS }, runAgent));
  return { lives, perSecond: lives.length / ((performance.now() - begun) / 1000) };
};

/** Measures the service and the floor in turns, so that the machine's load is the same for both. */
const measure = async (storage: Storage): Promise<{ own: Round; bare: Round }[]> => {
  const [service, floor] = await withStorageIn(storage, () => Promise.all([serveBundled(), serveFloor()]));
  const client = await service.newOrganization("bench");
  const http = new KeepAliveClient(service.url);
  const floorHttp = new KeepAliveClient(floor.url);
  const { id: pipelineId } = await makePipeline(client);
  const agents = await Promise.all(Array.from({ length: AGENTS }, (_, n) => registerAgent(client, http, `mill-${n}`)));
  const own = (agent: number) => runBuild(http, { token: client.token, pipelineId }, agents[agent]!);
  const bare = () => runFloorBuild(floorHttp);
  for (const live of [bare, own]) await round(live, 1_000);
  const rounds: { own: Round; bare: Round }[] = [];
  for (let n = 0; n < ROUNDS; n++) rounds.push({ bare: await round(bare), own: await round(own) });
  http.close();
  floorHttp.close();
  await Promise.all([service.stop(), floor.stop()]);
  return rounds;
};

const report = (storage: Storage, rounds: { own: Round; bare: Round }[]): void => {
  const own = median(rounds.map((one) => one.own.perSecond));
  const bare = median(rounds.map((one) => one.bare.perSecond));
  const ratio = median(rounds.map((one) => one.own.perSecond / one.bare.perSecond));
  console.log(
    `  state ${storage === "disk" ? "on disk" : "in memory"}: ${own.toFixed(0)} per second, the floor ${bare.toFixed(0)}`,
  );
  console.log(
    `    ${ratio.toFixed(2)} of the floor (goal 0.50), ${(own / BUILDBOT).toFixed(1)} x Buildbot 3.7.0 (goal 10)`,
  );
  for (const stage of STAGES) {
    const p50 = (which: "own" | "bare") =>
      ms(median(rounds.flatMap((one) => one[which].lives.map((life) => life[stage]))));
    console.log(`    ${stage.padEnd(8)} p50 ${p50("own").padStart(9)}   floor ${p50("bare").padStart(9)}`);
  }
};

/** Measures whole builds over HTTP: trigger, poll, start, one log chunk, finish. */
export const benchThroughput = async (): Promise<void> => {
  const load = loadavg()[0]?.toFixed(1);
  console.log(
    `builds a second, ${AGENTS} agents of one organization, medians of ${ROUNDS} rounds (load before: ${load}):`,
  );
  for (const storage of ["memory", "disk"] as const) report(storage, await measure(storage));
};

if (import.meta.main) await benchThroughput();
