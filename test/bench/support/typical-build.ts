import { BURST, QUIET_PACE } from "../../../src/agent/log/log-sender.ts";
import { SETTLE, QUIET_PACE as STEPS_PACE } from "../../../src/agent/wire/progress-report.ts";
import { type Job, LEASE_HEADER } from "../../../src/protocol/jobs.ts";
import type { AgentSocket } from "./agent-socket.ts";
import { LOG, type RegisteredAgent } from "./build-requests.ts";
import { passTime } from "./idle-hour.ts";
import type { KeepAliveClient } from "./keep-alive.ts";

export const BUILD_SECONDS = 300;
/** Seconds in which its steps write output, from the first on. */
const WRITING_SECONDS = 60;
const STEPS = 5;

interface TypicalBuildOptions {
  trigger: { token: string; pipelineId: string };
  agent: RegisteredAgent;
  socket: AgentSocket;
  /** Milliseconds between two chunks of the log, after the first few. */
  pace?: number;
}

/**
 * Runs a build of five minutes by the clock of the counted Worker, as the agent with a socket does while nobody follows
 * it: a trigger, a poll, five steps, one minute of log, heartbeats. @returns the build's id
 */
export const typicalBuild = async (
  http: KeepAliveClient,
  { trigger, agent, socket, pace = QUIET_PACE }: TypicalBuildOptions,
): Promise<string> => {
  const body = JSON.stringify({ pipelineId: trigger.pipelineId, branch: "main" });
  await http.request("POST", "/build", { token: trigger.token, body });
  const { token } = agent;
  const job = await http.request<Job>("GET", `/buildagent/${agent.id}/poll?wait=0`, { token });
  const running = new RunningBuild(http, agent, job, pace);
  await running.begin();
  for (let second = 0; second < BUILD_SECONDS; second++) {
    if (second % (BUILD_SECONDS / STEPS) === 0) running.beginStep(second / (BUILD_SECONDS / STEPS), second);
    for (let part = 0; part < Math.max(1, 1000 / pace); part++) {
      if (second < WRITING_SECONDS) running.write(LOG);
      await running.sendLog(second);
    }
    await running.reportSteps(second);
    await passTime(http, 1);
    if ((second + 1) % agent.heartbeatSeconds === 0) await running.beat(socket);
  }
  await running.finish();
  return job.build.id;
};

/** A build under way, as its agent sees it. */
class RunningBuild {
  readonly #http: KeepAliveClient;
  readonly #agent: RegisteredAgent;
  readonly #job: Job;
  readonly #headers: Record<string, string>;
  readonly #pace: number;
  #written = "";
  #offset = 0;
  #chunks = 0;
  #nextChunkAt = 0;
  #steps: object[] = [];
  #stepsDueAt = Number.POSITIVE_INFINITY;
  #reportedAt = 0;

  constructor(http: KeepAliveClient, agent: RegisteredAgent, job: Job, pace: number) {
    this.#http = http;
    this.#agent = agent;
    this.#job = job;
    this.#pace = pace;
    this.#headers = { [LEASE_HEADER]: String(job.lease) };
  }

  async begin(): Promise<void> {
    await this.#tell("start");
    await this.#tell("progress", { commitSha: "0123456789".repeat(4) });
  }

  /** Sends a heartbeat as the job allows it: on the socket, or by HTTP. */
  async beat({ heartbeats }: AgentSocket): Promise<void> {
    const { id, heartbeatSeconds } = this.#agent;
    const bySocket =
      this.#job.heartbeat === "socket" && (await heartbeats.heartbeat(this.#job.lease, heartbeatSeconds));
    if (!bySocket) await this.#post(`/buildagent/${id}/heartbeat`);
  }

  write(text: string): void {
    this.#written += text;
  }

  /** Ends the step before and begins another: writes its title, and reports both soon. */
  beginStep(index: number, second: number): void {
    this.write(`--- step ${index}\n`);
    const times = { startedAt: new Date().toISOString(), finishedAt: null };
    const step = { id: null, name: `step ${index}`, ...times, logOffset: this.#written.length };
    const ended = this.#steps.map((one) => ({ ...one, status: "succeeded", exitCode: 0 }));
    this.#steps = [...ended, { ...step, status: "running", exitCode: null }];
    this.#stepsDueAt = Math.max(second * 1000 + SETTLE, this.#reportedAt + STEPS_PACE);
  }

  /** Sends what was written since the last chunk, where the pace of the agent allows it in this second. */
  async sendLog(second: number): Promise<void> {
    if (this.#written.length === this.#offset || second * 1000 < this.#nextChunkAt) return;
    const path = `/build/${this.#job.build.id}/log?offset=${this.#offset}`;
    const headers = { ...this.#headers, "Content-Type": "application/octet-stream" };
    const body = this.#written.slice(this.#offset);
    const { token } = this.#agent;
    const { next } = await this.#http.request<{ next: number }>("PUT", path, { token, headers, body });
    this.#offset = next;
    this.#chunks += 1;
    this.#nextChunkAt = this.#chunks < BURST ? 0 : second * 1000 + this.#pace;
  }

  async reportSteps(second: number): Promise<void> {
    if (second * 1000 < this.#stepsDueAt) return;
    this.#reportedAt = second * 1000;
    this.#stepsDueAt = Number.POSITIVE_INFINITY;
    await this.#tell("progress", { steps: this.#steps });
  }

  async finish(): Promise<void> {
    await this.#tell("progress", { steps: this.#steps });
    await this.#tell("finish", { status: "succeeded", exitCode: 0 });
  }

  #tell(verb: string, words?: object): Promise<unknown> {
    return this.#post(`/build/${this.#job.build.id}/${verb}`, words);
  }

  #post(path: string, words?: object): Promise<unknown> {
    const body = words && JSON.stringify(words);
    return this.#http.request("POST", path, { token: this.#agent.token, headers: this.#headers, body });
  }
}
