import { createHash } from "node:crypto";
import { type WebSocket, WebSocketServer } from "ws";
import type { Identity } from "../../../src/agent/cli/identity.ts";
import type { HandedEnvironment, HeartbeatMessage, Job, JobToRun, PlanToAccept } from "../../../src/protocol/jobs.ts";
import { type ReceivedRequest, type StubResponse, type StubServer, startStubServer } from "./stub-server.ts";

const AGENT = "01900000-0000-7000-8000-0000000000a1";
const NOW = "2026-01-01T00:00:00.000Z";

const agentRecord = {
  id: AGENT,
  name: "wheel",
  platform: 2,
  status: 1,
  isOnline: true,
  canBuildIOS: false,
  canBuildAndroid: false,
  canBuildWeb: true,
  lastHeartbeatAt: NOW,
  orgId: "acme",
  labels: ["big"],
  version: null,
  isDraining: false,
  isEphemeral: false,
  currentBuildId: null,
  createdAt: NOW,
};

/** The registered agent. */
export const IDENTITY: Omit<Identity, "url"> = {
  id: AGENT,
  orgId: "acme",
  name: "wheel",
  token: "mra_acme_token",
  isEphemeral: false,
  canBuildIOS: false,
  canBuildAndroid: false,
  canBuildWeb: true,
  labels: ["big"],
  heartbeatSeconds: 1,
  pollSeconds: 1,
};

/** Unique for each test file: two agents on one machine with the same build id end each other's processes. */
const BUILDS = `01900000-0000-7000-8000-${crypto.randomUUID().slice(0, 8)}`;

export const makeJob = (cloneUrl: string, number: number, change: Partial<Job> = {}): Job => ({
  build: {
    id: `${BUILDS}${String(number).padStart(4, "0")}`,
    number,
    orgId: "acme",
    repoId: "01900000-0000-7000-8000-0000000000b1",
    pipelineId: null,
    branch: "main",
    commitSha: null,
    status: "assigned",
    ref: "refs/heads/main",
    event: "api",
    trigger: "api",
    trust: "trusted",
    approval: null,
    priority: 0,
    agentId: AGENT,
    attempt: 0,
    exitCode: null,
    reason: null,
    message: null,
    leak: false,
    environment: null,
    steps: [],
    summary: null,
    retryOf: null,
    createdBy: null,
    tag: null,
    pull: null,
    base: null,
    subject: null,
    author: null,
    schedule: null,
    supersededBy: null,
    jobs: null,
    waitsFor: [],
    jobCounts: null,
    failedLine: null,
    tests: null,
    queuedAt: NOW,
    startedAt: null,
    finishedAt: null,
  },
  lease: 1000 + number,
  leaseExpiresAt: NOW,
  repository: { fullName: "acme/mill", cloneUrl },
  pipeline: { name: "main", configPath: ".millrace.yml", definition: null },
  env: {},
  secretKeys: [],
  runKeys: [],
  requires: {},
  timeoutSeconds: 600,
  ...change,
});

/** Creates a job that was planned from `text`. */
export const makePlannedJob = (
  cloneUrl: string,
  number: number,
  { text, ...one }: Partial<JobToRun> & { text: string },
  change: Partial<Job> = {},
): Job => {
  const job = makeJob(cloneUrl, number, change);
  const known = { key: "test", definition: "test", name: "test", matrix: null, attempt: 1, needs: {} };
  const file = { hash: createHash("sha256").update(text).digest("hex"), path: ".millrace.yml" };
  return { ...job, job: { id: crypto.randomUUID(), ...known, ...file, ...one } };
};

export interface FakeService extends StubServer {
  /** Jobs for the next polls. */
  jobs: Job[];
  /** Each build's log, by build id. */
  logs: Map<string, string>;
  /** Bodies of finish and release calls, in order. */
  results: { buildId: string; kind: "finish" | "release"; lease: string; body: Record<string, unknown> }[];
  progress: Record<string, unknown>[];
  plans: PlanToAccept[];
  /** Keys of the jobs that the next plans create. */
  planned: string[];
  /** Answer to the next requests for the environment. */
  environment: HandedEnvironment;
  /** Answer to the next heartbeats. */
  heartbeat: Record<string, unknown>;
  /** Heartbeats that arrived over WebSockets. */
  socketBeats: HeartbeatMessage[];
  /** Answers a heartbeat. By default it sends the usual response. */
  onSocketBeat: (beat: HeartbeatMessage, client: WebSocket) => void;
  /** Replaces the usual response unless it returns null. */
  intercept: (seen: ReceivedRequest) => StubResponse | null | Promise<StubResponse | null>;
  hint(message: unknown): void;
  sockets(): number;
}

const PROBLEM = { type: "/problems/x", title: "No", status: 409, detail: "no", requestId: "r" };

/** Returns the service's usual response. */
const respond = (service: FakeService, { method, path, query, headers, body }: ReceivedRequest): StubResponse => {
  const [, noun, id = "", action] = path.split("/");
  const parsed = headers["content-type"] === "application/json" ? JSON.parse(body.toString()) : null;
  if (noun === "buildagent" && id === "register")
    return {
      status: 201,
      body: {
        ...agentRecord,
        name: parsed.name,
        isEphemeral: parsed.isEphemeral,
        token: "mra_acme_token",
        heartbeatSeconds: 1,
        pollSeconds: 1,
      },
    };
  if (noun === "buildagent" && action === "poll") {
    const job = service.jobs.shift();
    return job ? { body: job } : { status: 204 };
  }
  if (noun === "buildagent" && action === "heartbeat") return { body: service.heartbeat };
  if (noun === "buildagent") return method === "DELETE" ? { status: 204 } : { body: agentRecord };
  if (action === "log") {
    const log = service.logs.get(id) ?? "";
    const offset = Number(query.get("offset"));
    if (offset > log.length) return { status: 409, body: { ...PROBLEM, expectedOffset: log.length } };
    service.logs.set(id, log.slice(0, offset) + body.toString("latin1"));
    return { body: { next: offset + body.length } };
  }
  if (action === "progress") {
    service.progress.push(parsed);
    return { status: 204 };
  }
  if (action === "plan") {
    service.plans.push(parsed);
    return { body: { jobs: service.planned.map((key) => ({ id: crypto.randomUUID(), key })) } };
  }
  if (action === "environment") return { body: service.environment };
  if (action === "finish" || action === "release")
    service.results.push({ buildId: id, kind: action, lease: String(headers["x-lease"]), body: parsed });
  return { body: {} };
};

/** Starts a service with one agent, over real HTTP and a real WebSocket. The test sets its jobs and responses. */
export const startFakeService = async (): Promise<FakeService> => {
  const script = async (request: ReceivedRequest): Promise<StubResponse> =>
    (await service.intercept(request)) ?? respond(service, request);
  const http = await startStubServer(script);
  const sockets = new WebSocketServer({ noServer: true });
  http.server.on("upgrade", async (request, socket, head) => {
    if (
      await service.intercept({
        method: "UPGRADE",
        path: request.url ?? "",
        query: new URLSearchParams(),
        headers: request.headers,
        body: Buffer.alloc(0),
      })
    )
      return socket.end("HTTP/1.1 426 Upgrade Required\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    sockets.handleUpgrade(request, socket, head, (client) => {
      client.on("message", (data) => {
        if (String(data) === "ping") return client.send("pong");
        service.socketBeats.push(JSON.parse(String(data)));
        service.onSocketBeat(JSON.parse(String(data)), client);
      });
    });
  });
  const service: FakeService = {
    ...http,
    jobs: [],
    logs: new Map(),
    results: [],
    progress: [],
    plans: [],
    planned: [],
    environment: { env: {}, secretKeys: [], runKeys: [] },
    heartbeat: { cancel: false, leaseExpiresAt: NOW },
    socketBeats: [],
    onSocketBeat: ({ lease }, client) =>
      client.send(JSON.stringify({ type: "heartbeat", lease, ...service.heartbeat })),
    intercept: () => null,
    hint: (message) => {
      for (const client of sockets.clients) client.send(JSON.stringify(message));
    },
    sockets: () => sockets.clients.size,
  };
  return service;
};
