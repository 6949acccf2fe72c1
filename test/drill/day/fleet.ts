import { WebSocket } from "ws";
import { type Job, LEASE_HEADER } from "../../../src/protocol/jobs.ts";
import { LOG, type RegisteredAgent, SAID } from "../../bench/support/build-requests.ts";
import type { KeepAliveClient, RequestOptions } from "../../bench/support/keep-alive.ts";
import type { Random } from "../../simulate/random.ts";
import type { Clockwork } from "./clockwork.ts";

const SECOND = 1_000;
/** The agent polls every ten minutes while its socket is open. */
const LOOK_MS = 600 * SECOND;
const AGAIN_MS = 5 * SECOND;
/** A file with several jobs. */
const FILE = ["jobs:", ...["a", "b", "c"].map((key) => `  ${key}: { steps: [{ run: echo }] }`)].join("\n");
const COMMIT = "0123456789".repeat(4);

export interface FleetFindings {
  taken: number;
  ended: number;
  /** Leases that the service withdrew. */
  leasesLost: number;
  /** Answers that told an agent to retry, by status. */
  refused: Record<string, number>;
}

export interface Place {
  clock: Clockwork;
  http: KeepAliveClient;
  url: string;
  random: Random;
}

/** An agent without a machine. It sends an agent's calls, and its steps take only simulated time. */
export class VirtualAgent {
  readonly #place: Place;
  readonly #agent: RegisteredAgent;
  readonly #findings: FleetFindings;
  readonly #buildMs: () => number;
  #socket: WebSocket | null = null;
  #isHinted = false;
  #wake: (() => void) | null = null;

  constructor(place: Place, agent: RegisteredAgent, findings: FleetFindings, buildMs: () => number) {
    this.#place = place;
    this.#agent = agent;
    this.#findings = findings;
    this.#buildMs = buildMs;
  }

  /** Builds until the day is over. */
  async live(): Promise<never> {
    for (;;) {
      if (this.#socket === null) await this.#connect();
      this.#isHinted = false;
      const answer = await this.#ask("GET", `/buildagent/${this.#agent.id}/poll?wait=0`, { headers: SAID });
      if (answer.status === 200) await this.#build(JSON.parse(answer.text) as Job);
      else if (answer.status === 204) await this.#idle();
      else await this.#place.clock.sleep(AGAIN_MS);
    }
  }

  close(): void {
    this.#socket?.terminate();
  }

  async #connect(): Promise<void> {
    const { url, clock } = this.#place;
    const headers = { Authorization: `Bearer ${this.#agent.token}`, ...SAID };
    const socket = new WebSocket(`${url.replace(/^http/, "ws")}/buildagent/${this.#agent.id}/poll`, { headers });
    socket.on("error", () => {});
    const opening = new Promise<boolean>((resolve) => {
      socket.once("open", () => resolve(true)).once("close", () => resolve(false));
    });
    const opened = await clock.ask(opening);
    if (!opened) return clock.sleep(AGAIN_MS);
    this.#socket = socket;
    socket.on("message", (data) => {
      if (String(data).includes('"look"')) this.#hint();
    });
    socket.on("close", () => {
      if (this.#socket === socket) this.#socket = null;
      this.#hint();
    });
  }

  #hint(): void {
    this.#isHinted = true;
    this.#wake?.();
  }

  async #idle(): Promise<void> {
    if (this.#isHinted) return;
    const { clock } = this.#place;
    const hinted = new Promise<void>((resolve) => {
      this.#wake = () => {
        clock.stir();
        resolve();
      };
    });
    await Promise.race([hinted, clock.sleep(LOOK_MS)]);
    this.#wake = null;
  }

  async #build({ build, job, lease, paths, pipeline }: Job): Promise<void> {
    this.#findings.taken += 1;
    const { clock } = this.#place;
    const path = `/build/${job?.id ?? build.id}`;
    const headers = { [LEASE_HEADER]: String(lease) };
    const tell = (method: string, verb: string, body?: object | string) =>
      this.#insist(method, `${path}/${verb}`, {
        body: typeof body === "object" ? JSON.stringify(body) : body,
        headers: { ...headers, ...(typeof body === "string" && { "Content-Type": "application/octet-stream" }) },
      });
    if (!(await tell("POST", "start"))) return;
    if (pipeline.definition === null && !job) {
      await tell("PUT", "log?offset=0&final=true", LOG);
      await tell("PUT", "plan", { commitSha: build.commitSha ?? COMMIT, path: pipeline.configPath, text: FILE });
      return;
    }
    await tell("PUT", "log?offset=0", LOG);
    // Most of the monorepo's pipelines find that a pull request changes none of their files.
    const isSkipped = paths !== undefined && this.#place.random.chance(0.95);
    const isHeld = isSkipped || (await this.#work(lease, this.#buildMs()));
    if (!isHeld) return;
    const step = { name: "echo", id: null, exitCode: 0, startedAt: null, finishedAt: null, logOffset: 0 };
    const commitSha = build.commitSha ?? COMMIT;
    if (!isSkipped) await tell("POST", "progress", { commitSha, steps: [{ ...step, status: "succeeded" }] });
    await tell("PUT", `log?offset=${LOG.length}&final=true`, LOG);
    const end = isSkipped
      ? { status: "canceled", exitCode: null, reason: "skipped", message: "no changed file matches" }
      : this.#place.random.chance(0.1)
        ? { status: "failed", exitCode: 1 }
        : { status: "succeeded", exitCode: 0 };
    if (await tell("POST", "finish", end)) this.#findings.ended += 1;
    await clock.sleep(SECOND);
  }

  /** Lets a build's time pass, with a regular heartbeat on the socket. @returns whether the lease holds */
  async #work(lease: number, milliseconds: number): Promise<boolean> {
    const { clock } = this.#place;
    const until = clock.now + milliseconds;
    const pace = this.#agent.heartbeatSeconds * SECOND;
    while (clock.now < until) {
      await clock.sleep(Math.min(pace, until - clock.now));
      if (this.#socket === null) await this.#connect();
      const reply = await this.#beat(lease);
      if (reply?.reason === "lease-lost") {
        this.#findings.leasesLost += 1;
        return false;
      }
      if (reply?.cancel) return true;
    }
    return true;
  }

  async #beat(lease: number): Promise<{ cancel?: boolean; reason?: string } | null> {
    const socket = this.#socket;
    if (socket === null) return null;
    const answered = new Promise<{ cancel?: boolean; reason?: string } | null>((resolve) => {
      const listen = (data: unknown): void => {
        const message = JSON.parse(String(data)) as { type?: string; lease?: number };
        if (message.type !== "heartbeat" || message.lease !== lease) return;
        end(message);
      };
      const close = () => end(null);
      const end = (reply: object | null): void => {
        socket.off("message", listen).off("close", close);
        resolve(reply);
      };
      socket.on("message", listen).on("close", close);
    });
    socket.send(JSON.stringify({ type: "heartbeat", lease }));
    return this.#place.clock.ask(answered);
  }

  /** Repeats a request until the service has accepted it. @returns whether the lease holds */
  async #insist(method: string, path: string, options: RequestOptions): Promise<boolean> {
    for (;;) {
      const { status } = await this.#ask(method, path, options);
      if (status < 300) return true;
      if (status < 500 && status !== 429) {
        this.#findings.leasesLost += 1;
        return false;
      }
      await this.#place.clock.sleep(AGAIN_MS);
    }
  }

  async #ask(method: string, path: string, options: RequestOptions) {
    const { clock, http } = this.#place;
    const answer = await clock.ask(
      http
        .send(method, path, { ...options, token: this.#agent.token })
        .catch((error) => ({ status: 599, text: String(error) })),
    );
    const { refused } = this.#findings;
    if (answer.status >= 300) {
      const what = `${method} ${path.replaceAll(/[0-9a-f-]{36}/g, "*").replace(/\?.*/, "")} ${answer.status}`;
      refused[what] = (refused[what] ?? 0) + 1;
    }
    return answer;
  }
}
