import { gitHostName, poolName } from "../../../src/domain/durable-objects.ts";
import type { Client } from "../../../src/local/client.ts";
import { registerAgent } from "../../bench/support/build-requests.ts";
import type { Counts } from "../../bench/support/counts.ts";
import { KeepAliveClient } from "../../bench/support/keep-alive.ts";
import { inParallel } from "../../bench/support/waiters.ts";
import { Random } from "../../simulate/random.ts";
import { freePort } from "../../support/local/free-port.ts";
import { type ServedWorker, serveBundled } from "../../support/served-worker.ts";
import { withStorageIn } from "../../support/storage-in.ts";
import { type HeapUsage, Inspector } from "../inspector.ts";
import { Clockwork } from "./clockwork.ts";
import { type FleetFindings, VirtualAgent } from "./fleet.ts";
import { DayHost } from "./hosted.ts";
import { type DayPlan, HOUR, MINUTE, SECOND } from "./plan.ts";
import { Traffic } from "./traffic.ts";

const DAY = 24 * HOUR;
const SEED = 20_261_123;
/** Time to set up the service's records, with a token that may send 600 requests a minute. */
const LEAD = 30 * MINUTE;
/** Miniflare passes this to the runtime, which ends if live data needs more. All objects share one isolate here. */
const V8_FLAGS = "MINIFLARE_WORKERD_V8_FLAGS";
const MOST_OLD_MB = 80;
const LOOP_AGENTS = 5;
const LOOP_BUILD_MS = 10 * SECOND;
const ACME = "acme";
const LOOP = "loop";

/** The waiting work at one minute of the day. */
export interface Sample {
  at: number;
  heap: number;
  waiting: number;
  running: number;
  /** Changes that D1, the archive and logs have not received. */
  outbox: number;
  states: number;
  /** Deliveries that the service could not process yet. */
  kept: number;
  /** Logs that are not in the archive yet. */
  logs: number;
}

interface PoolState {
  audits: number;
  closes: number;
  ended: number;
  /** Reasons. */
  deadLetters: string[];
  metrics: { builds: Record<string, number> };
}

/** The state that the day's Worker reports. */
interface State {
  pools: PoolState[];
  hosts: { kept: number; health: { waiting: number } }[];
  logs: number;
  counts: Counts;
  failed: Record<string, number>;
  upkeep: { at: number; done: Record<string, number> }[];
  troubles: Record<string, number>;
}

/** A build in D1's lists. */
export interface ListedBuild {
  orgId: string;
  id: string;
  status: string;
  commitSha: string | null;
}

const sum = (numbers: number[]): number => numbers.reduce((total, one) => total + one, 0);

interface Made {
  service: ServedWorker;
  http: KeepAliveClient;
  clock: Clockwork;
  inspector: Inspector;
  midnight: number;
}

/** A deployment's day, on the service's own parts and a clock that jumps. */
export class Day {
  readonly plan: DayPlan;
  readonly midnight: number;
  readonly samples: Sample[] = [];
  /** Each cron's time, whether it succeeded, and the chores set aside after it. */
  readonly crons: { at: number; ok: boolean; aside: string[] }[] = [];
  readonly fleet: FleetFindings = { taken: 0, ended: 0, leasesLost: 0, refused: {} };
  readonly traffic: Traffic;
  host!: DayHost;
  last!: State;
  readonly #made: Made;
  readonly #agents: VirtualAgent[] = [];
  readonly #random = new Random(SEED, 1);

  private constructor(plan: DayPlan, made: Made) {
    this.plan = plan;
    this.#made = made;
    this.midnight = made.midnight;
    this.traffic = new Traffic({ ...made, plan, random: this.#random });
  }

  /** @param script the bundled Worker's path */
  static async begin(plan: DayPlan, script: string): Promise<Day> {
    const inspectorPort = await freePort();
    // The git host is on loopback.
    const vars = { CLONE_PROTOCOLS: "https,http" };
    process.env[V8_FLAGS] = `--max-old-space-size=${MOST_OLD_MB}`;
    const service = await withStorageIn("memory", () => serveBundled({ vars, inspectorPort, script })).finally(() => {
      delete process.env[V8_FLAGS];
    });
    const http = new KeepAliveClient(service.url);
    // Later than the platform's own clock ever gets, so that the platform never fires an alarm itself.
    const midnight = (Math.floor(Date.now() / DAY) + 2) * DAY;
    const clock = await Clockwork.begin(http, midnight + plan.from - LEAD);
    const inspector = await Inspector.open(inspectorPort);
    return new Day(plan, { service, http, clock, inspector, midnight });
  }

  /** Creates the records, and runs the day. */
  async pass(note: (line: string) => void): Promise<void> {
    const { plan, midnight } = this;
    const { clock } = this.#made;
    await this.#furnish();
    note(`${sum(plan.repositories)} pipelines`);
    this.#runCrons();
    this.#resetObjects();
    for (let at = plan.from; at <= plan.until; at += MINUTE) {
      await clock.run(midnight + at);
      await this.#sample();
      if (at % HOUR === 0) note(`${at / HOUR}:00`);
    }
  }

  async #furnish(): Promise<void> {
    const { plan, midnight } = this;
    const { service, clock, http } = this.#made;
    const acme = await service.newOrganization(ACME);
    const breathe = () => clock.run(clock.now + 10 * SECOND);
    this.host = await DayHost.connect(acme, "github", plan.repositories, breathe);
    const loop = await service.newOrganization(LOOP);
    const { buildsPerDay } = plan.loop;
    await service.operator.call("PATCH", `/organization/${LOOP}`, { limits: { buildsPerDay } });
    const faults = plan.faults.map((one) => ({ ...one, from: midnight + one.from, until: midnight + one.until }));
    await http.request("POST", "/day/faults", { body: JSON.stringify(faults) });
    const chance = () => this.#random.next();
    await this.#startAgents(acme, plan.agents, () => (30 + chance() * chance() * 600) * SECOND);
    await this.#startAgents(loop, LOOP_AGENTS, () => LOOP_BUILD_MS);
    await clock.run(clock.now + 2 * MINUTE);
    await this.traffic.startPeople(acme);
    this.traffic.startPushes(this.host);
    void this.traffic.startLoop(loop);
  }

  async #startAgents(client: Client, count: number, buildMs: () => number): Promise<void> {
    const { service, clock, http } = this.#made;
    const place = { clock, http, url: service.url, random: this.#random };
    const agents = await inParallel(count, 8, (n) => registerAgent(client, http, `agent-${n}`));
    for (const agent of agents) {
      const virtual = new VirtualAgent(place, agent, this.fleet, buildMs);
      this.#agents.push(virtual);
      void virtual.live();
    }
  }

  #runCrons(): void {
    const { from, until, crons } = this.plan;
    const run = async (meant: number) => {
      const { status, text } = await this.traffic.ask("POST", `/day/cron?at=${this.midnight + meant}`);
      if (status !== 200) throw new Error(`A cron got status ${status}: ${text}`);
      const { ok, aside } = JSON.parse(text) as { ok: boolean; aside: string[] };
      this.crons.push({ at: this.#made.clock.now, ok, aside });
    };
    for (let at = from; at < until; at += MINUTE) {
      const minute = at / MINUTE;
      const wait = crons.late.includes(minute) ? 90 * SECOND : 0;
      const times = crons.none.includes(minute) ? 0 : crons.twice.includes(minute) ? 2 : 1;
      for (let n = 0; n < times; n++) this.traffic.at(at + wait, () => run(at));
    }
  }

  #resetObjects(): void {
    const names = { AGENT_POOL: poolName(ACME), GIT_HOST: gitHostName(ACME, this.host.connection.id) };
    for (const { at, binding } of this.plan.resets) {
      const query = new URLSearchParams({ binding, name: names[binding] });
      this.traffic.at(at, () => this.traffic.ask("POST", `/day/reset?${query}`));
    }
  }

  async #sample(): Promise<void> {
    const { inspector, http, clock, midnight } = this.#made;
    const { usedSize } = await inspector.call<HeapUsage>("Runtime.getHeapUsage");
    const query = new URLSearchParams([ACME, LOOP].map((orgId) => ["pool", poolName(orgId)]));
    query.append("host", gitHostName(ACME, this.host.connection.id));
    this.last = await http.request<State>("GET", `/day/state?${query}`);
    const { pools, hosts, logs } = this.last;
    const { waiting = 0, running = 0 } = pools[0]?.metrics.builds ?? {};
    this.samples.push({
      ...{ at: clock.now - midnight, heap: usedSize, waiting, running, logs },
      outbox: sum(pools.map(({ audits, closes, ended }) => audits + closes + ended)),
      states: sum(hosts.map(({ health }) => health.waiting)),
      kept: sum(hosts.map(({ kept }) => kept)),
    });
  }

  /** Returns every build in D1's lists. */
  async listed(): Promise<ListedBuild[]> {
    const query = "SELECT org_id AS orgId, id, status, commit_sha AS commitSha FROM build_summary";
    const { results } = await this.#made.service.db.prepare(query).all<ListedBuild>();
    return results;
  }

  /** Returns the ids of builds whose record is in the archive. */
  async records(): Promise<Set<string>> {
    const keys = await this.#made.http.request<string[]>("GET", "/day/records");
    return new Set(keys.map((key) => key.slice(key.lastIndexOf("/") + 1, -".json".length)));
  }

  async end(): Promise<void> {
    const { inspector, http, service } = this.#made;
    for (const agent of this.#agents) agent.close();
    this.host?.close();
    inspector.close();
    http.close();
    await service.stop();
  }
}
