import { readFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { bundleWorker } from "../../src/assets/worker.ts";
import type { Client } from "../../src/local/client.ts";
import { type ServedWorker, serveBundled } from "../support/served-worker.ts";
import { withStorageIn } from "../support/storage-in.ts";
import { serveFloor } from "./support/floor.ts";
import { type Answer, KeepAliveClient, type RequestOptions } from "./support/keep-alive.ts";
import { startUpCpu } from "./support/start-up.ts";
import { median, ms, quantile } from "./support/statistics.ts";

const CONNECTIONS = 16;
const ROUNDS = 3;
const ROUND_MS = 2_000;
const VARIABLES = 50;
const AGENTS = 1_000;

type Ask = () => Promise<unknown>;

interface Measured {
  perSecond: number;
  times: number[];
}

/** Measures requests per second over CONNECTIONS connections. Each connection has one request at a time. */
const measure = async (ask: Ask, milliseconds: number): Promise<Measured> => {
  const times: number[] = [];
  const begun = performance.now();
  const runConnection = async () => {
    for (let now = begun; now - begun < milliseconds; ) {
      await ask();
      const after = performance.now();
      times.push(after - now);
      now = after;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, runConnection));
  return { perSecond: times.length / ((performance.now() - begun) / 1000), times };
};

/** Measures the service and its floor in turns, so that the machine's load is the same for both. */
export const measureInTurns = async (own: Ask, floor: Ask | null, count = ROUNDS, milliseconds = ROUND_MS) => {
  await own();
  await floor?.();
  const rounds: { own: Measured; floor: Measured | null }[] = [];
  for (let n = 0; n < count; n++)
    rounds.push({ floor: floor && (await measure(floor, milliseconds)), own: await measure(own, milliseconds) });
  return rounds;
};

const compare = async (name: string, own: Ask, floor: Ask | null, goal?: number): Promise<void> => {
  const rounds = await measureInTurns(own, floor);
  const perSecond = median(rounds.map((one) => one.own.perSecond));
  const times = rounds.flatMap((one) => one.own.times);
  const text = `${name.padEnd(38)} ${perSecond.toFixed(0).padStart(6)} per second, p50 ${ms(quantile(times, 0.5))}, p99 ${ms(quantile(times, 0.99))}`;
  if (!floor) return console.log(text);
  const bare = median(rounds.map((one) => one.floor?.perSecond ?? Number.NaN));
  const ratio = median(rounds.map((one) => one.own.perSecond / (one.floor?.perSecond ?? Number.NaN)));
  console.log(`${text}; floor ${bare.toFixed(0)}, ratio ${ratio.toFixed(2)}${goal ? ` (goal ${goal})` : ""}`);
};

/** Returns a request's D1 cost from its Server-Timing header. */
const cost = async (url: string, token: string, method: string, path: string, body?: string): Promise<string> => {
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  const response = await fetch(url + path, { method, headers, body });
  return /desc="(.*)"/.exec(response.headers.get("Server-Timing") ?? "")?.[1] ?? `status ${response.status}`;
};

export const copyRows = async (from: D1Database, to: D1Database, orgId: string): Promise<void> => {
  for (const table of ["token", "variable"]) {
    const { results } = await from.prepare(`SELECT * FROM ${table} WHERE org_id = ?`).bind(orgId).all<object>();
    const schema = await from
      .prepare("SELECT sql FROM sqlite_master WHERE tbl_name = ? AND type IN ('table', 'index') AND sql IS NOT NULL")
      .bind(table)
      .all<{ sql: string }>();
    for (const { sql } of schema.results) await to.prepare(sql).run();
    for (const row of results) {
      const change = table === "token" ? { ...row, hash: "hash" } : { ...row, org_id: "acme" };
      const marks = Object.keys(change)
        .map(() => "?")
        .join(", ");
      await to
        .prepare(`INSERT OR IGNORE INTO ${table} VALUES (${marks})`)
        .bind(...Object.values(change))
        .run();
    }
  }
};

export const expectSuccess = async (asked: Promise<Answer>): Promise<void> => {
  const { status, text } = await asked;
  if (status >= 300) throw new Error(`${status} ${text}`);
};

/** Creates variables and a pipeline. */
export const createResources = async (client: Client, orgId: string) => {
  for (let n = 0; n < VARIABLES; n++) {
    const body = { key: `KEY_${n}`, value: `value ${n}`, isSecret: n % 5 === 0, scope: "organization", orgId };
    await client.call("POST", "/secrets/variables", body);
  }
  const repository = { gitHostRepoId: 1, fullName: "acme/app", cloneUrl: "https://git.example/acme/app.git" };
  const { id: repoId } = await client.call<{ id: string }>("POST", "/repository", repository);
  const { id: pipelineId } = await client.call<{ id: string }>("POST", "/pipeline", { repoId, name: "ci" });
  return { repoId, pipelineId };
};

const register = (client: Client, n: number) =>
  client.call<{ id: string; token: string }>("POST", "/buildagent/register", {
    name: `agent-${n}`,
    platform: 2,
    canBuildIOS: false,
    canBuildAndroid: true,
    canBuildWeb: true,
  });

const printCosts = async (
  { url }: ServedWorker,
  token: string,
  requests: [method: string, path: string, body?: string][],
): Promise<void> => {
  console.log("D1 cost of one request each:");
  for (const [method, path, body] of requests) {
    console.log(`  ${method} ${path}: ${await cost(url, token, method, path, body)}`);
  }
};

/** Packages and layers. The bench measures how much smaller the bundle is without each of them. */
const PARTS = [
  ..."@actions croner drizzle-orm hono yaml zod".split(" ").map((name) => `node_modules/${name}`),
  ..."api dashboard db domain githosts mask objects pipeline protocol queue services"
    .split(" ")
    .map((name) => `src/${name}`),
];

const kilobytes = (path: string): number => gzipSync(readFileSync(path), { level: 9 }).length / 1000;

const printSize = async (service: ServedWorker): Promise<void> => {
  const whole = kilobytes(service.script);
  console.log(`bundle: ${whole.toFixed(1)} kB gzipped (goal 380), of them`);
  for (const part of PARTS) {
    const rest = kilobytes(await bundleWorker(join(service.folder, "rest"), undefined, [new RegExp(`/${part}/`)]));
    console.log(`  ${part.padEnd(26)} ${(whole - rest).toFixed(1).padStart(6)} kB`);
  }
  console.log(`start-up: ${ms(startUpCpu(service.folder))} of CPU`);
};

/** Compares requests to the bundled Worker with the same requests to a bare one. */
export const benchApi = async (): Promise<void> => {
  const load = loadavg()[0]?.toFixed(1);
  console.log(
    `${CONNECTIONS} connections, medians of ${ROUNDS} rounds of ${ROUND_MS / 1000} s (load before: ${load}):`,
  );
  const [service, floor] = await withStorageIn("memory", () =>
    Promise.all([serveBundled(), serveFloor("api-floor-worker.ts")]),
  );
  const client = await service.newOrganization("bench");
  const manyAgents = await service.newOrganization("many-agents");
  const { pipelineId } = await createResources(client, "bench");
  const agent = await register(client, 0);
  for (let n = 0; n < AGENTS; n += 50) {
    await Promise.all(Array.from({ length: 50 }, (_, at) => register(manyAgents, n + at)));
  }
  await copyRows(service.db, floor.db, "bench");
  const http = new KeepAliveClient(service.url);
  const bare = new KeepAliveClient(floor.url);
  const own = (method: string, path: string, asked: RequestOptions) => () =>
    expectSuccess(http.send(method, path, asked));
  const under = (method: string, path: string) => () => expectSuccess(bare.send(method, path));
  const { token } = client;
  let count = 0;
  const secret = () =>
    JSON.stringify({ key: `S${++count}`, value: "a secret", isSecret: true, scope: "pipeline", pipelineId });
  const trigger = JSON.stringify({ pipelineId, branch: "main" });

  await compare("hello, the floor alone", under("GET", "/hello"), null);
  await compare(
    `GET /secrets/variables, ${VARIABLES} of them`,
    own("GET", "/secrets/variables", { token }),
    under("GET", "/variables"),
    0.7,
  );
  await compare(
    "the same, beside a floor with rate limits",
    own("GET", "/secrets/variables", { token }),
    under("GET", "/limited/variables"),
  );
  const beat = own("POST", `/buildagent/${agent.id}/heartbeat`, { token: agent.token });
  await compare("POST /buildagent/{id}/heartbeat", beat, under("POST", "/heartbeat"), 0.6);
  await compare("the same, beside a floor with rate limits", beat, under("POST", "/limited/heartbeat"));
  await compare(`GET /buildagent, ${AGENTS} agents`, own("GET", "/buildagent", { token: manyAgents.token }), null);
  await compare(
    "POST /secrets/variables, a secret",
    () => expectSuccess(http.send("POST", "/secrets/variables", { token, body: secret() })),
    null,
  );
  await compare("POST /build", own("POST", "/build", { token, body: trigger }), null);

  await printCosts(service, token, [
    ["GET", "/secrets/variables?scope=organization"],
    ["GET", "/buildagent"],
    ["POST", "/secrets/variables", secret()],
    ["POST", "/build", trigger],
  ]);
  await printSize(service);
  http.close();
  bare.close();
  await Promise.all([service.stop(), floor.stop()]);
};

if (import.meta.main) await benchApi();
