import { WebSocketServer } from "ws";
import type { Identity } from "../../../src/agent/cli/identity.ts";
import type { Job } from "../../../src/protocol/jobs.ts";
import { type Reply, type ScriptedService, type Seen, scriptedService } from "./scripted-service.ts";

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

/** The agent that this service knows. */
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

/** Of this test file alone: agents on one machine end each other's builds where these bear the same id. */
const BUILDS = `01900000-0000-7000-8000-${crypto.randomUUID().slice(0, 8)}`;

export const jobOf = (cloneUrl: string, number: number, change: Partial<Job> = {}): Job => ({
  build: {
    id: `${BUILDS}${String(number).padStart(4, "0")}`,
    number,
    orgId: "acme",
    repoId: "01900000-0000-7000-8000-0000000000b1",
    pipelineId: null,
    branch: "main",
    commitSha: null,
    status: "assigned",
    trigger: "api",
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

export interface AgentService extends ScriptedService {
  /** Jobs to hand out, the next one first. */
  jobs: Job[];
  /** What each build's log has, by build id. */
  logs: Map<string, string>;
  /** Bodies of finish and release, in order. */
  ends: { buildId: string; kind: "finish" | "release"; lease: string; body: Record<string, unknown> }[];
  progress: Record<string, unknown>[];
  /** What the next heartbeats answer. */
  heartbeat: Record<string, unknown>;
  /** Answers before the ordinary ones, where they give something. */
  interfere: (seen: Seen) => Reply | null;
  hint(message: unknown): void;
  sockets(): number;
}

/** The agent's end of the service, played over real HTTP and a real WebSocket by what the wire says. */
export const agentService = async (): Promise<AgentService> => {
  const problem = { type: "/problems/x", title: "No", status: 409, detail: "no", requestId: "r" };
  const script = (seen: Seen): Reply => service.interfere(seen) ?? route(seen);
  const route = ({ method, path, query, headers, body }: Seen): Reply => {
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
      if (offset > log.length) return { status: 409, body: { ...problem, expectedOffset: log.length } };
      service.logs.set(id, log.slice(0, offset) + body.toString("latin1"));
      return { body: { next: offset + body.length } };
    }
    if (action === "progress") {
      service.progress.push(parsed);
      return { status: 204 };
    }
    if (action === "finish" || action === "release")
      service.ends.push({ buildId: id, kind: action, lease: String(headers["x-lease"]), body: parsed });
    return { body: {} };
  };
  const http = await scriptedService(script);
  const sockets = new WebSocketServer({ noServer: true });
  http.server.on("upgrade", (request, socket, head) => {
    if (
      service.interfere({
        method: "UPGRADE",
        path: request.url ?? "",
        query: new URLSearchParams(),
        headers: request.headers,
        body: Buffer.alloc(0),
      })
    )
      return socket.end("HTTP/1.1 426 Upgrade Required\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    sockets.handleUpgrade(request, socket, head, (client) => {
      client.on("message", (data) => String(data) === "ping" && client.send("pong"));
    });
  });
  const service: AgentService = {
    ...http,
    jobs: [],
    logs: new Map(),
    ends: [],
    progress: [],
    heartbeat: { cancel: false, leaseExpiresAt: NOW },
    interfere: () => null,
    hint: (message) => {
      for (const client of sockets.clients) client.send(JSON.stringify(message));
    },
    sockets: () => sockets.clients.size,
  };
  return service;
};
