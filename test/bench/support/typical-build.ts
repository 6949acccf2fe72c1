import { BURST, PACE } from "../../../src/agent/log/log-sender.ts";
import { type Job, LEASE_HEADER } from "../../../src/protocol/jobs.ts";
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
  /** Milliseconds between two chunks of the log. */
  pace?: number;
}

/**
 * Runs a build of five minutes by the clock of the counted Worker, as the agent with a socket does: a trigger, a poll,
 * five steps, one minute of log that nobody follows, heartbeats. @returns the build's id
 */
export const typicalBuild = async (
  http: KeepAliveClient,
  { trigger, agent, pace = PACE }: TypicalBuildOptions,
): Promise<string> => {
  const body = JSON.stringify({ pipelineId: trigger.pipelineId, branch: "main" });
  await http.request("POST", "/build", { token: trigger.token, body });
  const { token } = agent;
  const job = await http.request<Job>("GET", `/buildagent/${agent.id}/poll?wait=0`, { token });
  const running = new RunningBuild(http, agent, job);
  await running.tell("start");
  for (let second = 0; second < BUILD_SECONDS; second++) {
    if (second % (BUILD_SECONDS / STEPS) === 0) await running.beginStep(second / (BUILD_SECONDS / STEPS));
    const parts = Math.max(1, 1000 / pace);
    for (let part = 0; second < WRITING_SECONDS && part < parts; part++) {
      running.write(LOG);
      if (second < BURST || (second * 1000) % pace < 1000) await running.sendLog();
    }
    if (second >= WRITING_SECONDS && running.hasUnsent) await running.sendLog();
    await passTime(http, 1);
    if ((second + 1) % agent.heartbeatSeconds === 0) await running.beat();
  }
  await running.tell("finish", { status: "succeeded", exitCode: 0 });
  return job.build.id;
};

/** A build under way, as its agent sees it. */
class RunningBuild {
  readonly #http: KeepAliveClient;
  readonly #agent: RegisteredAgent;
  readonly #job: Job;
  readonly #headers: Record<string, string>;
  #written = "";
  #offset = 0;

  constructor(http: KeepAliveClient, agent: RegisteredAgent, job: Job) {
    this.#http = http;
    this.#agent = agent;
    this.#job = job;
    this.#headers = { [LEASE_HEADER]: String(job.lease) };
  }

  tell(verb: string, words?: object): Promise<unknown> {
    return this.#post(`/build/${this.#job.build.id}/${verb}`, words);
  }

  beat(): Promise<unknown> {
    return this.#post(`/buildagent/${this.#agent.id}/heartbeat`);
  }

  /** Writes the step's title, and reports it. */
  beginStep(index: number): Promise<unknown> {
    this.write(`--- step ${index}\n`);
    const times = { startedAt: new Date().toISOString(), finishedAt: null };
    const step = { id: null, name: `step ${index}`, status: "running", exitCode: null, ...times, logOffset: null };
    return this.tell("progress", { steps: [step] });
  }

  write(text: string): void {
    this.#written += text;
  }

  get hasUnsent(): boolean {
    return this.#written.length > this.#offset;
  }

  /** Sends what was written since the last chunk. */
  async sendLog(): Promise<void> {
    const path = `/build/${this.#job.build.id}/log?offset=${this.#offset}`;
    const headers = { ...this.#headers, "Content-Type": "application/octet-stream" };
    const body = this.#written.slice(this.#offset);
    const { next } = await this.#http.request<{ next: number }>("PUT", path, {
      token: this.#agent.token,
      headers,
      body,
    });
    this.#offset = next;
  }

  #post(path: string, words?: object): Promise<unknown> {
    const body = words && JSON.stringify(words);
    return this.#http.request("POST", path, { token: this.#agent.token, headers: this.#headers, body });
  }
}
