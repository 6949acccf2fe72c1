import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "../../../src/local/client.ts";
import { ROOT } from "../../../src/local/service.ts";
import type { Job } from "../../../src/protocol/jobs.ts";
import type { Pipeline } from "../../../src/protocol/pipeline.ts";
import { type ServedWorker, serveBundled } from "../../support/served-worker.ts";
import { withStorageIn } from "../../support/storage-in.ts";
import { copyRows, createResources, expectSuccess, measureInTurns } from "../api.ts";
import { connectHook, copyTables, deliver } from "../hook.ts";
import {
  makePipeline,
  type RegisteredAgent,
  registerAgent,
  runBuild,
  runFloorBuild,
  runTaken,
} from "../support/build-requests.ts";
import { type ServedFloor, serveFloor } from "../support/floor.ts";
import { KeepAliveClient } from "../support/keep-alive.ts";
import { runLargeBuild } from "../support/large-build.ts";
import { cookieOf } from "../support/pages.ts";
import { median } from "../support/statistics.ts";
import { Waiters } from "../support/waiters.ts";
import { AGENTS, round } from "../throughput.ts";
import { type Figure, inTurns, type Row, type RowGroup } from "./figure.ts";

const ROUNDS = 5;
const ROUND_MS = 1_000;
const DELIVERY_BYTES = 30_000;
const DELIVERIES = 40;
const HINTS = 40;
const PAGES = 60;
const BUILDS = 50;

interface Served {
  service: ServedWorker;
  http: KeepAliveClient;
  floors: Record<"build" | "api" | "hook", ServedFloor & { http: KeepAliveClient }>;
}

/** Runs each kind of request in turns with its floor. Returns the milliseconds that each costs the machine. */
const requestsInTurns = async (own: () => Promise<unknown>, floor: () => Promise<unknown>): Promise<Figure> => {
  const rounds = await measureInTurns(own, floor, ROUNDS, ROUND_MS);
  const millisecondsOf = (which: "own" | "floor") => median(rounds.map((one) => 1000 / one[which]!.perSecond));
  return { own: millisecondsOf("own"), floor: millisecondsOf("floor") };
};

const throughputRow = async ({ service, http, floors }: Served): Promise<Row> => {
  const client = await service.newOrganization("throughput");
  const { id: pipelineId } = await makePipeline(client);
  const agents = await Promise.all(Array.from({ length: AGENTS }, (_, n) => registerAgent(client, http, `mill-${n}`)));
  const own = (agent: number) => runBuild(http, { token: client.token, pipelineId }, agents[agent]!);
  const bare = () => runFloorBuild(floors.build.http);
  return {
    name: "a build, where 16 agents share the service",
    unit: "ms",
    async measure() {
      for (const run of [bare, own]) await round(run, ROUND_MS);
      const of = (run: typeof own) => async () => 1000 / (await round(run)).perSecond;
      return inTurns(ROUNDS, { floor: of(bare), own: of(own) });
    },
  };
};

const requestRows = async ({ service, http, floors: { api } }: Served): Promise<Row[]> => {
  const client = await service.newOrganization("requests");
  await createResources(client, "requests");
  await copyRows(service.db, api.db, "requests");
  const agent = await registerAgent(client, http, "mill");
  const own = (method: string, path: string, token: string) => () => expectSuccess(http.send(method, path, { token }));
  const bare = (method: string, path: string) => () => expectSuccess(api.http.send(method, path));
  return [
    {
      name: "list of 50 variables",
      unit: "ms",
      measure: () => requestsInTurns(own("GET", "/secrets/variables", client.token), bare("GET", "/variables")),
    },
    {
      name: "heartbeat",
      unit: "ms",
      measure: () =>
        requestsInTurns(own("POST", `/buildagent/${agent.id}/heartbeat`, agent.token), bare("POST", "/heartbeat")),
    },
  ];
};

const deliveryRow = async ({ service, http, floors }: Served): Promise<Row> => {
  const { hook, connection } = await connectHook(service);
  await copyTables(service.db, floors.hook.db);
  const more = { Secret: hook.secret, Organization: connection.orgId, Connection: connection.id };
  const own = async () => median(await deliver(http, hook, {}, DELIVERY_BYTES, DELIVERIES));
  const bare = async () => median(await deliver(floors.hook.http, hook, more, DELIVERY_BYTES, DELIVERIES));
  return {
    name: "a push delivery of 30 KB",
    unit: "ms",
    async measure() {
      for (const run of [bare, own]) await run();
      return inTurns(ROUNDS, { floor: bare, own });
    },
  };
};

const hintRow = async ({ service, http, floors: { build: floor } }: Served): Promise<Row> => {
  const client = await service.newOrganization("hints");
  const { id: pipelineId } = await makePipeline(client);
  const agents = await Promise.all(Array.from({ length: AGENTS }, (_, n) => registerAgent(client, http, `mill-${n}`)));
  const body = JSON.stringify({ pipelineId, branch: "main" });
  const trigger = () => http.request("POST", "/build", { token: client.token, body });
  const take = async (agent: RegisteredAgent) => {
    const { token } = agent;
    const job = await http.request<Job>("GET", `/buildagent/${agent.id}/poll?wait=0`, { token });
    await runTaken(http, agent, job);
  };
  return {
    name: "trigger to the hint at a waiting agent",
    unit: "ms",
    async measure() {
      const [waiters, bare] = [new Waiters(), new Waiters()];
      for (const [n, agent] of agents.entries()) {
        await waiters.openSocket(n, `${service.url}/buildagent/${agent.id}/poll`, agent.token);
        await bare.openSocket(n, `${floor.url}/wait?id=${n}`);
      }
      const figure = await inTurns(HINTS, {
        floor: async () => (await bare.wokenBy(() => floor.http.request("POST", "/trigger?id=0"))).took,
        async own() {
          const { index, took } = await waiters.wokenBy(trigger);
          await take(agents[index]!);
          return took;
        },
      });
      waiters.close();
      bare.close();
      return figure;
    },
  };
};

const pageRow = (name: string, { http }: Served, cookie: string, page: string, file: string): Row => ({
  name,
  unit: "ms",
  async measure() {
    const headers = { Cookie: cookie };
    const taken = async (path: string): Promise<number> => {
      const begun = performance.now();
      await expectSuccess(http.send("GET", path, { headers }));
      return performance.now() - begun;
    };
    return inTurns(PAGES, { floor: () => taken(file), own: () => taken(page) });
  },
});

const pageRows = async (served: Served): Promise<Row[]> => {
  const { service, http } = served;
  const client: Client = await service.newOrganization("pages");
  const { token } = client;
  const { id: pipelineId, repoId } = await makePipeline(client);
  const agent = await registerAgent(client, http, "mill");
  for (let n = 0; n < BUILDS; n++) await runBuild(http, { token, pipelineId }, agent);
  const large = await client.call<Pipeline>("POST", "/pipeline", { repoId, name: "large" });
  const maker = { http, token, pipelineId: large.id, agent };
  await runLargeBuild(maker, false);
  const red = await runLargeBuild(maker, true);
  const style: string = JSON.parse(readFileSync(join(ROOT, "dist/assets.json"), "utf8"))["page.css"];
  const cookie = await cookieOf(client);
  return [
    pageRow("page of a red build of 24 jobs, beside a static file", served, cookie, `/app/builds/${red}`, style),
    pageRow("list of builds, beside a static file", served, cookie, "/app/builds", style),
  ];
};

/** Measures requests to one service in memory, beside a bare Worker with the same queries to D1 and its objects. */
export const openServed = async (): Promise<RowGroup> => {
  const withClient = async (entry: string) => {
    const floor = await serveFloor(entry);
    return { ...floor, http: new KeepAliveClient(floor.url) };
  };
  const served = await withStorageIn("memory", async (): Promise<Served> => {
    const service = await serveBundled({ hasAssets: true });
    const [build, api, hook] = await Promise.all(
      ["floor-worker.ts", "api-floor-worker.ts", "hook-floor-worker.ts"].map(withClient),
    );
    return { service, http: new KeepAliveClient(service.url), floors: { build: build!, api: api!, hook: hook! } };
  });
  const rows = [
    await throughputRow(served),
    ...(await requestRows(served)),
    await deliveryRow(served),
    await hintRow(served),
    ...(await pageRows(served)),
  ];
  return {
    rows,
    async close() {
      const { service, http, floors } = served;
      for (const client of [http, ...Object.values(floors).map((floor) => floor.http)]) client.close();
      await Promise.all([service, ...Object.values(floors)].map((one) => one.stop()));
    },
  };
};
