import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "../../../src/local/client.ts";
import { endProcess } from "../../../src/local/service.ts";
import type { Agent } from "../../../src/protocol/agent.ts";
import type { Build } from "../../../src/protocol/build.ts";
import { startAgent, startRegistered } from "../../support/local/agent.ts";
import { CallProxy } from "../../support/local/call-proxy.ts";
import { connectRepository, type GitRepository, makeRepository } from "../../support/local/git-repository.ts";
import { type ServedWorker, serveBundled } from "../../support/served-worker.ts";
import { setup as bundleAgent } from "../../support/set-up/agent.ts";
import { withStorageIn } from "../../support/storage-in.ts";
import { FILE, firstLineOf, prepare } from "../first-line.ts";
import { type ServedFloor, serveFloor } from "../support/floor.ts";
import { median, quantile } from "../support/statistics.ts";
import { inTurns, type Row, type RowGroup } from "./figure.ts";

const BUILDS = 20;
const FLOORS = 10;
const STARTS = 7;
const IDLE = 1;
/** Milliseconds in which an agent prepares for the next build after it has ended one. */
const REST_MS = 300;

/** The first line's needs without a service: three calls to a bare Worker, the commit, and bash. */
const SCRIPT = `set -e
curl -fsS -X POST "$FLOOR/trigger?id=$ID"
curl -fsS "$FLOOR/poll?id=$ID"
git init --quiet "$PLACE"
cd "$PLACE"
git fetch --quiet --depth 1 "$SOURCE" main
git checkout --quiet FETCH_HEAD
bash -c 'echo first-line-$((6 * 7))' | curl -fsS -X PUT --data-binary @- "$FLOOR/log?id=$ID"
`;

const runScript = async (folder: string, floor: string, source: string): Promise<number> => {
  const place = mkdtempSync(join(folder, "floor-"));
  const env = { ...process.env, FLOOR: floor, SOURCE: source, PLACE: place, ID: crypto.randomUUID() };
  const begun = performance.now();
  const [code] = await once(spawn("bash", ["-c", SCRIPT], { env, stdio: ["ignore", "ignore", "inherit"] }), "exit");
  const took = performance.now() - begun;
  rmSync(place, { recursive: true });
  if (code !== 0) throw new Error(`The floor's script ended with ${code}`);
  return took;
};

/** Waits until the only agent in the client's organization is ready for its next build. */
const untilIdle = async (client: Client): Promise<void> => {
  while ((await client.call<Agent[]>("GET", "/buildagent"))[0]?.status !== IDLE) await delay(20);
  await delay(REST_MS);
};

const timesOf = async (count: number, run: () => Promise<number>): Promise<number[]> => {
  const times: number[] = [];
  for (let n = 0; n < count; n++) times.push(await run());
  return times;
};

/** Two repositories with their pipelines. Their builds take turns, each with its own commit. */
class TwoRepositories {
  readonly #client: Client;
  readonly #turns: { source: GitRepository; pipelineId: string }[] = [];
  #turn = 0;

  private constructor(client: Client) {
    this.#client = client;
  }

  static async make(client: Client, folder: string): Promise<TwoRepositories> {
    const made = new TwoRepositories(client);
    for (let n = 0; n < 2; n++) {
      const source = makeRepository(folder, { ".millrace.yml": FILE });
      const { id } = await prepare(client, await connectRepository(client, source));
      made.#turns.push({ source, pipelineId: id });
    }
    return made;
  }

  /** Switches to the other repository, and commits there. @returns its address */
  next(): string {
    this.#turn = 1 - this.#turn;
    const { source } = this.#turns[this.#turn]!;
    source.git("commit", "--quiet", "--allow-empty", "--message", "change");
    return source.cloneUrl;
  }

  /** Measures from a trigger to the first line. */
  async build(): Promise<number> {
    const { pipelineId } = this.#turns[this.#turn]!;
    const begin = () => this.#client.call<Build>("POST", "/build", { pipelineId, branch: "main" });
    return (await firstLineOf(this.#client, async () => (await begin()).id)).line;
  }
}

/** Returns the milliseconds from a program's start to its first call that matches `meant`. */
const untilCall = async (proxy: CallProxy, meant: RegExp, start: () => { stop(): Promise<unknown> }) => {
  const begun = performance.now();
  const called = new Promise<number>((resolve) => {
    proxy.passes = (call) => {
      if (meant.test(call)) resolve(performance.now() - begun);
      return true;
    };
  });
  const program = start();
  const took = await called;
  await program.stop();
  return took;
};

/** Starts Node with one call and nothing else. */
const startNode = (url: string) => {
  const child = spawn(process.execPath, ["-e", `fetch("${url}/poll")`], { stdio: "ignore" });
  return { stop: () => endProcess(child) };
};

const proxyTo = ({ url }: { url: string }): Promise<CallProxy> => CallProxy.to(Number(new URL(url).port));

/** Returns the row for an agent's start, in its own organization: another agent would take the builds. */
const rowOfStart = (service: ServedWorker, floor: ServedFloor): Row => ({
  name: "agent's start to its first poll, beside node's to a call",
  unit: "ms",
  async measure() {
    const [toService, toFloor] = await Promise.all([proxyTo(service), proxyTo(floor)]);
    const client = await service.newOrganization(`starts-${crypto.randomUUID()}`);
    const { state, stop } = await startAgent(client, service.folder, "starts", { url: toService.url });
    await stop();
    const figure = await inTurns(STARTS, {
      floor: () => untilCall(toFloor, /^GET/, () => startNode(toFloor.url)),
      own: () => untilCall(toService, /^GET .*\/poll\?/, () => startRegistered(state, {})),
    });
    toService.close();
    toFloor.close();
    return figure;
  },
});

/** Measures from a trigger to the step's first line at a log follower: one real bundled agent, and real git. */
export const openFirstLine = async (): Promise<RowGroup> => {
  const removeProgram = await bundleAgent();
  const [service, floor] = await withStorageIn("memory", () => Promise.all([serveBundled(), serveFloor()]));
  const client = await service.newOrganization("bench");
  const repositories = await TwoRepositories.make(client, service.folder);
  let agent = await startAgent(client, service.folder, "bench");
  const build = (): Promise<number> => {
    repositories.next();
    return repositories.build();
  };
  const idleBuild = () => untilIdle(client).then(build);
  await idleBuild();
  return {
    rows: [
      {
        name: "trigger to the first log line",
        unit: "ms",
        measure: () =>
          inTurns(BUILDS, {
            floor: () => untilIdle(client).then(() => runScript(service.folder, floor.url, repositories.next())),
            own: () => repositories.build(),
          }),
      },
      {
        name: "its p99 with the first after a start, beside its p50",
        unit: "ms",
        async measure() {
          await agent.stop();
          agent = startRegistered(agent.state, {});
          const times = await timesOf(BUILDS, idleBuild);
          return { own: quantile(times, 0.99), floor: median(times) };
        },
      },
      {
        name: "it back to back, beside it after a rest",
        unit: "ms",
        async measure() {
          const before = await timesOf(FLOORS, idleBuild);
          const mine = await timesOf(BUILDS, build);
          return { own: median(mine), floor: median([...before, ...(await timesOf(FLOORS, idleBuild))]) };
        },
      },
      rowOfStart(service, floor),
    ],
    async close() {
      await agent.stop();
      await Promise.all([service.stop(), floor.stop()]);
      removeProgram();
    },
  };
};
