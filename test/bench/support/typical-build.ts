import { QUIET_PACE, quietPauseAfter } from "../../../src/agent/log/log-sender.ts";
import { SETTLE } from "../../../src/agent/wire/progress-report.ts";
import { type Job, LEASE_HEADER } from "../../../src/protocol/jobs.ts";
import type { AgentSocket } from "./agent-socket.ts";
import { LOG, type RegisteredAgent, SAID } from "./build-requests.ts";
import { passTime } from "./idle-hour.ts";
import type { KeepAliveClient } from "./keep-alive.ts";

export const BUILD_SECONDS = 300;
/** Seconds during which the build's steps write output, from the first on. */
const WRITING_SECONDS = 60;
const STEPS = 5;
/** The agent merges its reports, so each may include the commit. */
const COMMIT = "0123456789".repeat(4);

interface StepSaid {
  name: string;
  status: string;
}

const PENDING = { id: null, status: "pending", exitCode: null, startedAt: null, finishedAt: null, logOffset: null };

/** The way to create a build: a request, or a push that a git host delivers. */
export interface BuildTrigger {
  token: string;
  pipelineId: string;
  push?: () => Promise<unknown>;
}

interface TypicalBuilds {
  trigger: BuildTrigger;
  /** The agents that build at once, with their sockets. */
  crowd: { agent: RegisteredAgent; socket: AgentSocket }[];
  /** Maximum milliseconds between two log chunks, after the first few. */
  pace?: number;
}

/**
 * Runs builds that last five minutes on the counted Worker's clock, as agents with a socket do while nobody follows
 * them: a trigger, a poll, five steps, one minute of log, heartbeats. They begin a second apart.
 * @returns the builds' ids
 */
export const typicalBuilds = async (
  http: KeepAliveClient,
  { trigger, crowd, pace = QUIET_PACE }: TypicalBuilds,
): Promise<string[]> => {
  const running: RunningBuild[] = [];
  for (let second = 0; second <= BUILD_SECONDS + crowd.length; second++) {
    const next = crowd[second];
    if (next) running.push(await RunningBuild.begin(http, trigger, { ...next, pace, begunAt: second }));
    for (const build of running) await build.live(second);
    await passTime(http, 1);
  }
  return running.map(({ id }) => id);
};

interface TypicalJobs {
  trigger: BuildTrigger;
  agent: RegisteredAgent;
  socket: AgentSocket;
  jobs: number;
}

/** Runs one build with so many of these jobs: an agent plans it, then runs them one after the other. */
export const typicalJobs = async (http: KeepAliveClient, { trigger, agent, socket, jobs }: TypicalJobs) => {
  await triggerBuild(http, trigger);
  await planBuild(http, agent, fileOf(jobs));
  await passTime(http, 1);
  for (let job = 0; job < jobs; job++) {
    const running = await RunningBuild.take(http, { agent, socket, pace: QUIET_PACE, begunAt: 0 });
    for (let second = 0; second <= BUILD_SECONDS; second++) {
      await running.live(second);
      await passTime(http, 1);
    }
  }
};

const fileOf = (jobs: number): string =>
  ["jobs:", ...Array.from({ length: jobs }, (_, index) => `  job-${index}: { steps: [{ run: echo }] }`)].join("\n");

/** Plans a build with several jobs, like an agent: reads the file, and reports that in two parts of the log. */
const planBuild = async (http: KeepAliveClient, { id, token }: RegisteredAgent, text: string): Promise<void> => {
  const job = await http.request<Job>("GET", `/buildagent/${id}/poll?wait=0`, { token, headers: SAID });
  const headers = { [LEASE_HEADER]: String(job.lease) };
  const path = `/build/${job.build.id}`;
  const log = async (offset: number, body: string, query = "") =>
    http.request("PUT", `${path}/log?offset=${offset}${query}`, {
      ...{ token, body },
      headers: { ...headers, "Content-Type": "application/octet-stream" },
    });
  await http.request("POST", `${path}/start`, { token, headers });
  await log(0, LOG);
  const body = JSON.stringify({ commitSha: COMMIT, path: job.pipeline.configPath, text });
  await http.request("PUT", `${path}/plan`, { token, headers, body });
  await log(LOG.length, LOG, "&final=true");
};

export const triggerBuild = async (http: KeepAliveClient, trigger: BuildTrigger): Promise<void> => {
  const body = JSON.stringify({ pipelineId: trigger.pipelineId, branch: "main" });
  if (trigger.push) await trigger.push();
  else await http.request("POST", "/build", { token: trigger.token, body });
};

interface Run {
  agent: RegisteredAgent;
  socket: AgentSocket;
  pace: number;
  begunAt: number;
}

/** A build under way, from its agent's view. Its times are milliseconds since its start. */
class RunningBuild {
  readonly #http: KeepAliveClient;
  readonly #run: Run;
  readonly #job: Job;
  readonly #headers: Record<string, string>;
  #written = "";
  #offset = 0;
  #chunks = 0;
  #nextChunkAt = 0;
  #told: StepSaid[] = [];
  #steps: StepSaid[] = Array.from({ length: STEPS }, (_, index) => ({ ...PENDING, name: `step ${index}` }));
  #stepsDueAt = Number.POSITIVE_INFINITY;
  #reportedAt = Number.NEGATIVE_INFINITY;

  private constructor(http: KeepAliveClient, run: Run, job: Job) {
    this.#http = http;
    this.#run = run;
    this.#job = job;
    this.#headers = { [LEASE_HEADER]: String(job.lease) };
  }

  static async begin(http: KeepAliveClient, trigger: TypicalBuilds["trigger"], run: Run): Promise<RunningBuild> {
    await triggerBuild(http, trigger);
    return RunningBuild.take(http, run);
  }

  /** Takes the waiting build, which fits its agent. */
  static async take(http: KeepAliveClient, run: Run): Promise<RunningBuild> {
    const { id, token } = run.agent;
    const build = new RunningBuild(
      http,
      run,
      await http.request<Job>("GET", `/buildagent/${id}/poll?wait=0`, { token, headers: SAID }),
    );
    await build.#tell("start");
    if (build.#job.needsEnvironment) await build.#askForEnvironment();
    return build;
  }

  /** Requests the environment. This is also the first report about the steps. */
  async #askForEnvironment(): Promise<void> {
    this.#told = this.#steps.map((step, index) => (index === 0 ? { ...step, status: "running" } : step));
    await this.#tell("environment", { commitSha: COMMIT, steps: this.#told });
    this.#reportedAt = 0;
  }

  get id(): string {
    return this.#job.job?.id ?? this.#job.build.id;
  }

  /** Does the agent's work for this second. */
  async live(second: number): Promise<void> {
    const { agent, pace, begunAt } = this.#run;
    const age = second - begunAt;
    if (age > 0 && age <= BUILD_SECONDS && age % agent.heartbeatSeconds === 0) await this.#beat();
    if (age === BUILD_SECONDS) await this.#finish();
    if (age >= BUILD_SECONDS) return;
    if (age % (BUILD_SECONDS / STEPS) === 0) this.#beginStep(age / (BUILD_SECONDS / STEPS), age * 1000);
    for (let part = 0; part < Math.max(1, 1000 / pace); part++) {
      if (age < WRITING_SECONDS) this.#written += LOG;
      await this.#sendLog(age * 1000);
    }
    await this.#reportSteps(age * 1000);
  }

  /** Sends a heartbeat over the job's channel: the socket or HTTP. */
  async #beat(): Promise<void> {
    const { id, heartbeatSeconds } = this.#run.agent;
    const { heartbeats } = this.#run.socket;
    const bySocket =
      this.#job.heartbeat === "socket" && (await heartbeats.heartbeat(this.#job.lease, heartbeatSeconds));
    if (!bySocket) await this.#post(`/buildagent/${id}/heartbeat`);
  }

  /** Ends the previous step and begins another: writes its title, and reports both soon. */
  #beginStep(index: number, at: number): void {
    this.#written += `--- step ${index}\n`;
    const now = new Date().toISOString();
    const ended = { status: "succeeded", exitCode: 0, finishedAt: now };
    const running = { status: "running", startedAt: now, logOffset: this.#written.length };
    this.#steps = this.#steps.map((step, at) => {
      if (at === index) return { ...step, ...running };
      return at === index - 1 ? { ...step, ...ended } : step;
    });
    const isTold = this.#steps.every(({ status }, at) => status === this.#told[at]?.status);
    if (!isTold) this.#stepsDueAt = Math.max(at + SETTLE, this.#reportedAt + QUIET_PACE);
  }

  /** Sends the output since the last chunk, if the agent's pace allows it at this time. */
  async #sendLog(at: number): Promise<void> {
    if (this.#written.length === this.#offset || at < this.#nextChunkAt) return;
    const path = `/build/${this.id}/log?offset=${this.#offset}`;
    const headers = { ...this.#headers, "Content-Type": "application/octet-stream" };
    const body = this.#written.slice(this.#offset);
    const { token } = this.#run.agent;
    const { next } = await this.#http.request<{ next: number }>("PUT", path, { token, headers, body });
    this.#offset = next;
    this.#chunks += 1;
    this.#nextChunkAt = at + quietPauseAfter(this.#chunks, this.#run.pace);
  }

  async #reportSteps(at: number): Promise<void> {
    if (at < this.#stepsDueAt) return;
    this.#reportedAt = at;
    this.#stepsDueAt = Number.POSITIVE_INFINITY;
    const { commitSha } = this.#job.build;
    await this.#tell("progress", { commitSha: commitSha ?? COMMIT, steps: this.#steps });
  }

  async #finish(): Promise<void> {
    await this.#tell("progress", { steps: this.#steps });
    await this.#tell("finish", { status: "succeeded", exitCode: 0 });
  }

  #tell(verb: string, words?: object): Promise<unknown> {
    return this.#post(`/build/${this.id}/${verb}`, words);
  }

  #post(path: string, words?: object): Promise<unknown> {
    const body = words && JSON.stringify(words);
    return this.#http.request("POST", path, { token: this.#run.agent.token, headers: this.#headers, body });
  }
}
