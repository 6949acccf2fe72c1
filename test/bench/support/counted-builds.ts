import { join } from "node:path";
import type { Client } from "../../../src/local/client.ts";
import type { Pipeline } from "../../../src/protocol/pipeline.ts";
import { serveBundled } from "../../support/served-worker.ts";
import { withStorageIn } from "../../support/storage-in.ts";
import { AgentSocket } from "./agent-socket.ts";
import { makePipeline, type RegisteredAgent, registerAgent } from "./build-requests.ts";
import { type Counts, difference, times } from "./counts.ts";
import { countedWhile, passTime, waitUntilIdle } from "./idle-hour.ts";
import { KeepAliveClient } from "./keep-alive.ts";
import { buildThatLeaves, keptTrigger, type Leave, pollInVain } from "./left-behind.ts";
import { PlayedPushes } from "./played-pushes.ts";
import { buildRows, bytesOfABuild, logBytes } from "./stored-bytes.ts";
import { type BuildTrigger, triggerBuild, typicalBuilds, typicalJobs } from "./typical-build.ts";
import { inParallel } from "./waiters.ts";

/** Seconds until a build's log is in the archive, and its object is gone. */
const ARCHIVED_AFTER = 3 * 3600;
const DAY_MS = 86_400_000;
/** Number of cron runs in which the service removes all old builds of a sample. */
const UPKEEP_ROUNDS = 10;

/** A counted service's organization, with a pipeline and an agent whose socket is open. */
export interface CountedTenant {
  orgId: string;
  trigger: BuildTrigger;
  agent: RegisteredAgent;
  socket: AgentSocket;
  register(name: string): Promise<RegisteredAgent>;
}

/** A build's cost. */
export interface BuildCost {
  /** Until the log is in the archive and its object is gone. */
  counts: Counts;
  /** Bytes that the log's object keeps afterwards. */
  objectBytes: number;
}

/** The service with its counters. */
export class CountedService {
  readonly http: KeepAliveClient;
  readonly #service: Awaited<ReturnType<typeof serveBundled>>;
  readonly #sockets: AgentSocket[] = [];
  readonly #hosts: PlayedPushes[] = [];

  constructor(service: Awaited<ReturnType<typeof serveBundled>>) {
    this.#service = service;
    this.http = new KeepAliveClient(service.url);
  }

  static async start(): Promise<CountedService> {
    const entry = join(import.meta.dirname, "counted-worker.ts");
    // The git hosts are on loopback.
    const vars = { CLONE_PROTOCOLS: "https,http" };
    return new CountedService(await withStorageIn("memory", () => serveBundled({ entry, vars })));
  }

  /** Creates an organization with so many variables. If the definition is null, the file is in the repository. */
  async tenant(orgId: string, variables: number, definition?: string | null): Promise<CountedTenant> {
    const client = await this.#service.newOrganization(orgId);
    return this.#furnish(client, { orgId, variables }, () => makePipeline(client, definition));
  }

  /** Creates the same, and connects its repository to a git host: pushes create its builds. */
  async connectedTenant(orgId: string, variables: number): Promise<CountedTenant & { pushes: PlayedPushes }> {
    const client = await this.#service.newOrganization(orgId);
    const pushes = await PlayedPushes.connect(client);
    this.#hosts.push(pushes);
    const tenant = await this.#furnish(client, { orgId, variables }, () => pushes.makePipeline());
    return { ...tenant, trigger: { ...tenant.trigger, push: () => pushes.push() }, pushes };
  }

  async #furnish(
    client: Client,
    { orgId, variables }: { orgId: string; variables: number },
    make: () => Promise<Pipeline>,
  ): Promise<CountedTenant> {
    for (let n = 0; n < variables; n++) {
      const variable = {
        key: `SETTING_${n}`,
        value: `value ${n}`,
        isSecret: n % 2 === 0,
        scope: "organization",
        orgId,
      };
      await client.call("POST", "/secrets/variables", variable);
    }
    const { id: pipelineId } = await make();
    const register = (name: string) => registerAgent(client, this.http, name);
    const agent = await register("mill");
    const socket = await this.openSocket(agent);
    return { orgId, trigger: { token: client.token, pipelineId }, agent, socket, register };
  }

  async openSocket(agent: RegisteredAgent): Promise<AgentSocket> {
    const socket = await AgentSocket.open(this.#service.url, agent);
    this.#sockets.push(socket);
    return socket;
  }

  /** Returns the second of two builds' cost: an organization's first build pays for lasting data. */
  async buildCost({ orgId, trigger, agent, socket }: CountedTenant, pace?: number): Promise<BuildCost> {
    let buildId = "";
    const counts = await this.#secondCost(trigger, async () => {
      [buildId = ""] = await typicalBuilds(this.http, { trigger, crowd: [{ agent, socket }], pace });
    });
    return { counts, objectBytes: await logBytes(this.http, orgId, buildId) };
  }

  /** Returns each job's cost in a build with several, and that build's cost without its jobs. */
  async severalCost({ trigger, agent, socket }: CountedTenant, jobs: number): Promise<{ job: Counts; plan: Counts }> {
    const of = (count: number) => typicalJobs(this.http, { trigger, agent, socket, jobs: count });
    const one = await this.#secondCost(trigger, () => of(1));
    const many = await this.#secondCost(trigger, () => of(jobs + 1));
    const job = times(difference(many, one), 1 / jobs);
    return { job, plan: difference(one, job) };
  }

  /** Returns the additional cost of a build whose agent sends this before the end. */
  async leftCost({ trigger, agent }: CountedTenant, leave: Leave): Promise<Counts> {
    const of = (left: Leave) => this.#secondCost(trigger, () => buildThatLeaves(this.http, { trigger, agent }, left));
    const nothing = await of(async () => {});
    return difference(await of(leave), nothing);
  }

  /** Returns the additional cost of a push whose delivery arrives while D1 is unavailable. */
  async keptCost({ trigger, agent }: CountedTenant): Promise<Counts> {
    const of = (one: BuildTrigger) =>
      this.#secondCost(trigger, () => buildThatLeaves(this.http, { trigger: one, agent }, async () => {}));
    const taken = await of(trigger);
    return difference(await of(keptTrigger(this.http, trigger)), taken);
  }

  /** Returns the cost of each poll that finds a build while D1 is unavailable. */
  async vainPollCost({ trigger, agent }: CountedTenant, polls: number): Promise<Counts> {
    await triggerBuild(this.http, trigger);
    await waitUntilIdle(this.http);
    const counts = await countedWhile(this.http, () => pollInVain(this.http, agent, polls));
    return times(counts, 1 / polls);
  }

  /** Returns the cost of the second run of `work` on one day. */
  async #secondCost(trigger: BuildTrigger, work: () => Promise<unknown>): Promise<Counts> {
    await this.#untilMidnight();
    await work();
    await this.settle(ARCHIVED_AFTER);
    // The service writes a token's last use only from time to time, not for each build.
    await this.http.request("GET", "/token/self", { token: trigger.token });
    await waitUntilIdle(this.http);
    return countedWhile(this.http, async () => {
      await work();
      await this.settle(ARCHIVED_AFTER);
    });
  }

  /**
   * Waits for the next day (UTC), so that compared builds run on one day. The service stores a variable's first use on
   * a day.
   */
  async #untilMidnight(): Promise<void> {
    const now = await this.http.request<number>("GET", "/now");
    await this.settle((DAY_MS - (now % DAY_MS)) / 1000);
  }

  /** Returns each build's cost if so many agents in one organization build at once, and share its alarms. */
  async crowdCost({ trigger, register }: CountedTenant, builds: number): Promise<Counts> {
    const crowd = await inParallel(builds, builds, async (n) => {
      const agent = await register(`crowd-${n}`);
      return { agent, socket: await this.openSocket(agent) };
    });
    await this.#untilMidnight();
    await this.http.request("GET", "/token/self", { token: trigger.token });
    const counts = await countedWhile(this.http, async () => {
      await typicalBuilds(this.http, { trigger, crowd });
      await this.settle(ARCHIVED_AFTER);
    });
    for (const { socket } of crowd) socket.close();
    return times(counts, 1 / builds);
  }

  /** Returns the number of rows that the pool keeps for builds. */
  rowsOfBuilds({ orgId }: CountedTenant): Promise<number> {
    return buildRows(this.http, orgId);
  }

  /** Returns the bytes in D1 for each of `builds`. */
  databaseBytes({ trigger, agent }: CountedTenant, builds: number): Promise<number> {
    return bytesOfABuild(this.http, this.#service.db, { trigger, agent, builds });
  }

  /** Returns retention's cost for each of the `builds` that have ended so far. */
  async removalCost(days: number, builds: number): Promise<Counts> {
    // The cron trigger runs every minute. It leaves the pool with an alarm for agents that stop sending.
    await this.http.request("POST", "/upkeep");
    await this.settle((days + 2) * 86_400);
    const counts = await countedWhile(this.http, async () => {
      for (let round = 0; round < UPKEEP_ROUNDS; round++) await this.http.request("POST", "/upkeep");
      await waitUntilIdle(this.http);
    });
    return times(counts, 1 / builds);
  }

  /** Moves the clock forward, and waits until the service has done all due work. */
  async settle(seconds: number): Promise<void> {
    await passTime(this.http, 1);
    await waitUntilIdle(this.http);
    await passTime(this.http, seconds);
    await waitUntilIdle(this.http);
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.close();
    for (const host of this.#hosts) host.close();
    this.http.close();
    await this.#service.stop();
  }
}
