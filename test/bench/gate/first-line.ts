import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "../../../src/local/client.ts";
import type { Agent } from "../../../src/protocol/agent.ts";
import type { Build } from "../../../src/protocol/build.ts";
import { startAgent } from "../../support/local/agent.ts";
import { connectRepository, makeRepository } from "../../support/local/git-repository.ts";
import { serveBundled } from "../../support/served-worker.ts";
import { withStorageIn } from "../../support/storage-in.ts";
import { FILE, firstLineOf, prepare } from "../first-line.ts";
import { serveFloor } from "../support/floor.ts";
import { median } from "../support/statistics.ts";
import { inTurns, type RowGroup } from "./figure.ts";

const BUILDS = 20;
const FLOORS = 10;
const IDLE = 1;
/** Milliseconds in which an agent that has ended a build prepares for the next one. */
const REST_MS = 300;

/** What the first line needs without a service: three calls of a bare Worker, the commit, and bash. */
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
  if (code !== 0) throw new Error(`the script of the floor ended with ${code}`);
  return took;
};

/** Waits until the only agent of the client's organization is ready for its next build. */
const untilIdle = async (client: Client): Promise<void> => {
  while ((await client.call<Agent[]>("GET", "/buildagent"))[0]?.status !== IDLE) await delay(20);
  await delay(REST_MS);
};

const timesOf = async (count: number, run: () => Promise<number>): Promise<number[]> => {
  const times: number[] = [];
  for (let n = 0; n < count; n++) times.push(await run());
  return times;
};

/** From a trigger to the first line of the step at a follower of the log: one real agent, real git. */
export const openFirstLine = async (): Promise<RowGroup> => {
  const [service, floor] = await withStorageIn("memory", () => Promise.all([serveBundled(), serveFloor()]));
  const client = await service.newOrganization("bench");
  const source = makeRepository(service.folder, { ".millrace.yml": FILE });
  const pipeline = await prepare(client, await connectRepository(client, source));
  const agent = await startAgent(client, service.folder, "bench");
  const trigger = async () =>
    (await client.call<Build>("POST", "/build", { pipelineId: pipeline.id, branch: "main" })).id;
  const own = async () => (await firstLineOf(client, trigger)).line;
  const bare = () => runScript(service.folder, floor.url, source.cloneUrl);
  await own();
  return {
    rows: [
      {
        name: "trigger to the first log line",
        unit: "ms",
        measure: () => inTurns(BUILDS, { floor: bare, own: () => untilIdle(client).then(own) }),
      },
      {
        name: "the same, back to back",
        unit: "ms",
        async measure() {
          await untilIdle(client);
          const before = await timesOf(FLOORS, bare);
          const mine = await timesOf(BUILDS, own);
          await untilIdle(client);
          return { own: median(mine), floor: median([...before, ...(await timesOf(FLOORS, bare))]) };
        },
      },
    ],
    async close() {
      await agent.stop();
      await Promise.all([service.stop(), floor.stop()]);
    },
  };
};
