import { join } from "node:path";
import { serveBundled } from "../support/served-worker.ts";
import { withStorageIn } from "../support/storage-in.ts";
import { makePipeline, registerAgent } from "./support/build-requests.ts";
import { type Counts, NOTHING, times } from "./support/counts.ts";
import { idleHour, POLLS_AN_HOUR } from "./support/idle-hour.ts";
import { KeepAliveClient } from "./support/keep-alive.ts";
import { dollarsFor, HOURS_A_MONTH, objectAwake } from "./support/prices.ts";
import { BUILD_SECONDS, typicalBuild } from "./support/typical-build.ts";
import { inParallel, Waiters } from "./support/waiters.ts";

/* Prints the tables of docs/costs.md: counts operations of the running service and multiplies by the list prices. */

const SIZES = [10, 1_000, 100_000];
const AGENTS_AN_ORGANIZATION = 1_000;
const SAMPLE = 20;
/** Seconds between two polls of an agent with an open socket. */
const LOOK_SECONDS = 600;

const entry = join(import.meta.dirname, "support/counted-worker.ts");
const service = await withStorageIn("memory", () => serveBundled({ entry }));
const client = await service.newOrganization("costs");
const http = new KeepAliveClient(service.url);
const { id: pipelineId } = await makePipeline(client);
const agents = await inParallel(SAMPLE, SAMPLE, (n) => registerAgent(client, http, `mill-${n}`));
const trigger = { token: client.token, pipelineId };

await typicalBuild(http, trigger, agents[0]!);
const build = await typicalBuild(http, trigger, agents[0]!);
const oftenLogged = await typicalBuild(http, trigger, agents[0]!, 4);
const idle = agents.slice(1);
const longPoll = await idleHour(http, idle, 1);
const everyThreeSeconds = await idleHour(http, idle, 0, 3);
const crowd = new Waiters();
await Promise.all(
  idle.map(({ id, token }, index) => crowd.openSocket(index, `${service.url}/buildagent/${id}/poll`, token)),
);
const socket = await idleHour(http, idle, 0, LOOK_SECONDS);
crowd.close();
http.close();
await service.stop();

/** The cost of an agent if an object held its long poll, without the time in which this object is awake. */
const held: Counts = {
  ...NOTHING,
  requests: POLLS_AN_HOUR,
  objectRequests: POLLS_AN_HOUR,
  objectRowsWritten: longPoll.objectRowsWritten,
};
const monthly = (hour: Counts) => (agents: number) => agents * HOURS_A_MONTH * dollarsFor(hour);
const busy = (one: Counts) => monthly(times(one, 3600 / BUILD_SECONDS));

const awakeMonth = objectAwake(HOURS_A_MONTH * 3600);
const poolsOf = (agents: number) => Math.ceil(agents / AGENTS_AN_ORGANIZATION);

const WAYS: [name: string, dollars: (agents: number) => number][] = [
  ["idle, WebSocket alone", () => 0],
  ["idle, the agent: WebSocket and a look every 10 min", monthly(socket)],
  ["idle, long poll of 50 s", monthly(longPoll)],
  ["idle, if the pool held each question", (agents) => monthly(held)(agents) + poolsOf(agents) * awakeMonth],
  ["idle, if an object for each agent held it", (agents) => monthly(held)(agents) + agents * awakeMonth],
  ["idle, if it asked every 3 s", monthly(everyThreeSeconds)],
  ["busy without a pause", busy(build)],
  ["busy, if a log were sent four times a second", busy(oftenLogged)],
];

const dollars = (value: number): string =>
  value.toLocaleString("en-US", {
    minimumFractionDigits: value < 100 ? 2 : 0,
    maximumFractionDigits: value < 100 ? 2 : 0,
  });

const table = (head: string[], rows: string[][]): string =>
  [head, head.map((_, column) => (column === 0 ? "---" : "---:")), ...rows]
    .map((row) => `| ${row.join(" | ")} |`)
    .join("\n");

const agentsIn = (count: number) => `${count.toLocaleString("en-US")} agents`;
console.log("Dollars a month:\n");
console.log(
  table(
    ["way", ...SIZES.map(agentsIn)],
    WAYS.map(([name, of]) => [name, ...SIZES.map((size) => dollars(of(size)))]),
  ),
);

const COUNTED: [string, keyof Counts][] = [
  ["requests to the Worker", "requests"],
  ["requests to objects", "objectRequests"],
  ["rows read in objects", "objectRowsRead"],
  ["rows written in objects", "objectRowsWritten"],
  ["rounds to D1", "d1Rounds"],
  ["rows read in D1", "d1RowsRead"],
  ["rows written in D1", "d1RowsWritten"],
];
const columns = [longPoll, socket, everyThreeSeconds, build];
console.log("\nCounted:\n");
console.log(
  table(
    ["", "hour by long poll", "hour by WebSocket", "hour of asking every 3 s", "a build"],
    COUNTED.map(([name, kind]) => [name, ...columns.map((counts) => String(Math.round(counts[kind])))]),
  ),
);
