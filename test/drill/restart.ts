import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JobAnswer } from "../../src/agent/wire/answers.ts";
import { AutoResetEvent } from "../../src/agent/wire/auto-reset-event.ts";
import { ApiClient as AgentClient } from "../../src/agent/wire/client.ts";
import { keepLease } from "../../src/agent/wire/heartbeat.ts";
import { HintSocket, nextJob } from "../../src/agent/wire/next-job.ts";
import { Client } from "../../src/local/client.ts";
import { freshKeyset } from "../../src/local/service.ts";
import type { Build } from "../../src/protocol/build.ts";
import { makePipeline, type RegisteredAgent, registerAgent } from "../bench/support/build-requests.ts";
import { KeepAliveClient } from "../bench/support/keep-alive.ts";
import { inParallel } from "../bench/support/waiters.ts";
import { type ServedWorker, serveBundled } from "../support/served-worker.ts";
import { CountingProxy } from "./counting-proxy.ts";

const GOAL_CALLS = 1_000;
const AT_ONCE = 32;
/** One agent in so many has no socket, and waits by long poll. */
const POLLER = 10;

const sleep = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

const until = async (isSo: () => boolean): Promise<void> => {
  while (!isSo()) await sleep(50);
};

/** An agent with the program's own socket, polls, heartbeats and waits, but without steps. */
class LightAgent {
  readonly hints: HintSocket;
  readonly isPoller: boolean;
  job: JobAnswer | null = null;
  lost = false;
  readonly #client: AgentClient;
  readonly #agent: RegisteredAgent;
  readonly #signal: AbortSignal;

  constructor(agent: RegisteredAgent, url: string, isPoller: boolean, signal: AbortSignal) {
    this.#agent = agent;
    this.#signal = signal;
    this.isPoller = isPoller;
    this.#client = new AgentClient({ url, token: agent.token, bootId: crypto.randomUUID() });
    const heartbeatSeconds = 15;
    this.hints = new HintSocket({ client: this.#client, agentId: agent.id, heartbeatSeconds, signal });
  }

  async run(): Promise<void> {
    const socketEnd = this.isPoller ? null : this.hints.run();
    if (socketEnd) await this.hints.firstAttempt(30_000);
    const options = { client: this.#client, agentId: this.#agent.id, hintSocket: this.hints, pollSeconds: 50 };
    this.job = await nextJob({ ...options, signal: this.#signal });
    await this.#build(this.job);
    await socketEnd;
  }

  async #build({ build, lease, heartbeat }: JobAnswer): Promise<void> {
    const [client, signal] = [this.#client, this.#signal];
    await client.send({ method: "POST", path: `/build/${build.id}/start`, lease, signal });
    await keepLease({
      client,
      agentId: this.#agent.id,
      lease,
      heartbeatSeconds: 15,
      socket: heartbeat === "socket" ? this.hints.heartbeats : null,
      cancelHint: new AutoResetEvent(),
      onCancel: () => {
        this.lost = true;
      },
      signal,
    });
  }
}

export interface RestartFigures {
  /** Calls that reached the service in its busiest second after the start. */
  peak: number;
  calls: number;
  leasesLost: number;
  /** Seconds from the service's start until every agent waits or builds again. */
  secondsUntilAllWait: number;
}

/** Stops a service while agents wait and build, and restarts it. Takes about 45 s more than the restart. */
export const restartUnder = async (agentCount: number, buildCount: number): Promise<RestartFigures> => {
  const stateFolder = mkdtempSync(join(tmpdir(), "millrace-restart-"));
  const keys = freshKeyset();
  const proxy = new CountingProxy();
  const url = await proxy.listen();
  const serve = async (): Promise<ServedWorker> => {
    const served = await serveBundled({ stateFolder, vars: keys });
    proxy.target = Number(new URL(served.url).port);
    return served;
  };
  const end = new AbortController();
  const http = new KeepAliveClient(url);
  let service = await serve();
  try {
    const operator = new Client(url, keys.OPERATOR_TOKEN);
    const { token } = await operator.call<{ token: string }>("POST", "/organization", { id: "herd", name: "herd" });
    const member = new Client(url, token);
    const agents = await inParallel(agentCount, AT_ONCE, async (n) => {
      const registered = await registerAgent(member, http, `mill-${n}`);
      return new LightAgent(registered, url, n % POLLER === POLLER - 1, end.signal);
    });
    const running = await startAll(agents, proxy);
    const { id: pipelineId } = await makePipeline(member);
    for (let n = 0; n < buildCount; n++) await member.call("POST", "/build", { pipelineId, branch: "main" });
    await until(() => agents.filter(({ job }) => job).length === buildCount);
    await until(() => allWait(agents, proxy));

    proxy.target = null;
    await service.stop();
    proxy.calls = [];
    service = await serve();
    const begun = performance.now();
    await until(() => !agents.some(({ hints, isPoller }) => !isPoller && hints.isOpen) || proxy.calls.length > 0);
    await until(() => allWait(agents, proxy));
    const seconds = (performance.now() - begun) / 1000;
    // Wait for one more heartbeat from each build: it reveals a lost lease.
    await sleep(16_000);
    const builds = await member.call<Build[]>("GET", "/build?status=running&limit=100");
    const figures = {
      peak: peakOf(proxy.calls),
      calls: proxy.calls.length,
      leasesLost: buildCount - builds.filter(({ attempt }) => attempt === 1).length,
      secondsUntilAllWait: seconds,
    };
    end.abort();
    await Promise.allSettled(running);
    return figures;
  } finally {
    end.abort();
    http.close();
    proxy.close();
    await service.stop();
    rmSync(stateFolder, { recursive: true, force: true });
  }
};

/** Starts a few agents at a time, so that they do not all begin to wait at once. */
const startAll = async (agents: LightAgent[], proxy: CountingProxy): Promise<Promise<void>[]> => {
  const running: Promise<void>[] = [];
  await inParallel(agents.length, AT_ONCE, async (n) => {
    const agent = agents[n]!;
    running.push(agent.run().catch(() => {}));
    await until(() => agent.hints.isOpen || (agent.isPoller && proxy.pendingPolls > 0));
  });
  return running;
};

/** Reports whether each agent has an open socket, or its poll at the service. */
const allWait = (agents: LightAgent[], { pendingPolls }: CountingProxy): boolean => {
  const polling = agents.filter(({ isPoller, job }) => isPoller && !job);
  const apart = agents.filter(({ isPoller, hints }) => !isPoller && !hints.isOpen);
  return apart.length === 0 && pendingPolls >= polling.length;
};

const peakOf = (times: number[]): number => {
  let [peak, first] = [0, 0];
  for (let last = 0; last < times.length; last++) {
    while (times[last]! - times[first]! >= 1_000) first++;
    peak = Math.max(peak, last - first + 1);
  }
  return peak;
};

/** Restarts a service under 2,000 agents. Some of them build. */
export const drill = async ({ agents = 2_000 }: { agents?: number }): Promise<boolean> => {
  const builds = Math.min(30, Math.floor(agents / 10));
  const figures = await restartUnder(agents, builds);
  const { peak, calls, leasesLost, secondsUntilAllWait } = figures;
  console.log(`${agents} agents wait, one in ${POLLER} by long poll; ${builds} of them build. The service restarts:`);
  console.log(`  ${peak} calls in the fullest second (goal: less than ${GOAL_CALLS}), ${calls} in all`);
  console.log(`  ${leasesLost} of ${builds} leases lost (goal: none)`);
  console.log(`  all agents wait again after ${secondsUntilAllWait.toFixed(1)} s`);
  return peak < GOAL_CALLS && leasesLost === 0;
};
