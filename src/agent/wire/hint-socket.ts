import { WebSocket } from "ws";
import { HINT_PING } from "../../protocol/jobs.ts";
import { logger } from "../cli/logger.ts";
import { parseJson } from "../parse-json.ts";
import { HintMessage } from "./answers.ts";
import { Audience } from "./audience.ts";
import { AutoResetEvent, sleep } from "./auto-reset-event.ts";
import { type BackOff, backOffDelay, DEFAULT_BACK_OFF } from "./back-off.ts";
import type { Client } from "./client.ts";

/** Milliseconds before the next try when the service refuses a WebSocket. */
const REFUSED_WAIT = 5 * 60_000;

export interface HintSocketOptions {
  client: Client;
  agentId: string;
  heartbeatSeconds: number;
  signal: AbortSignal;
  backOff?: BackOff;
}

/**
 * The WebSocket on which the service sends hints: poll now, or look for a cancel. A lost, late or repeated hint does no
 * harm. While the socket is closed, the agent long-polls.
 */
export class HintSocket {
  /** Set when the agent should poll. */
  readonly lookHint = new AutoResetEvent();
  /** Set when the agent should ask with a heartbeat whether its build is canceled. */
  readonly cancelHint = new AutoResetEvent();
  readonly audience = new Audience(() => this.#isOpen);
  #isOpen = false;
  readonly #attempted = new AutoResetEvent();
  readonly #options: HintSocketOptions;

  constructor(options: HintSocketOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Resolves when the first try has opened the socket or failed, after `milliseconds` at the latest. */
  firstAttempt(milliseconds: number): Promise<void> {
    return this.#attempted.wait(milliseconds, this.#options.signal);
  }

  /** Keeps the socket open until the signal is aborted. */
  async run(): Promise<void> {
    const { signal, backOff = DEFAULT_BACK_OFF } = this.#options;
    for (let failures = 0; !signal.aborted; ) {
      const end = await this.#connection();
      this.#isOpen = false;
      this.#attempted.set();
      this.lookHint.set();
      failures = end.opened ? 0 : failures + 1;
      if (end.status !== null && failures === 1)
        logger.info(`no WebSocket for hints (status ${end.status}): polling instead`);
      const wait =
        end.status !== null && end.status < 500 ? REFUSED_WAIT : backOffDelay(failures, backOff, Math.random());
      await sleep(wait, signal);
    }
  }

  #connection(): Promise<{ opened: boolean; status: number | null }> {
    const { client, agentId, heartbeatSeconds, signal } = this.#options;
    const url = `${client.url.replace(/^http/, "ws")}/buildagent/${agentId}/poll`;
    return new Promise((resolve) => {
      const socket = new WebSocket(url, { headers: client.headers(), handshakeTimeout: 10_000, maxPayload: 65_536 });
      let opened = false;
      let status: number | null = null;
      let hasAnswered = true;
      const pinger = setInterval(() => {
        if (!opened) return;
        if (!hasAnswered) return socket.terminate();
        hasAnswered = false;
        socket.send(HINT_PING);
      }, heartbeatSeconds * 1000);
      const close = (): void => socket.terminate();
      signal.addEventListener("abort", close, { once: true });
      socket.on("open", () => {
        opened = true;
        this.#isOpen = true;
        socket.send(HINT_PING);
        this.#attempted.set();
        this.lookHint.set();
      });
      socket.on("message", (data) => {
        hasAnswered = true;
        this.#receive(String(data));
      });
      socket.on("unexpected-response", (request, response) => {
        status = response.statusCode ?? null;
        request.destroy();
        socket.terminate();
      });
      // A "close" event always follows.
      socket.on("error", () => {});
      socket.on("close", () => {
        clearInterval(pinger);
        signal.removeEventListener("abort", close);
        resolve({ opened, status });
      });
      if (signal.aborted) close();
    });
  }

  #receive(text: string): void {
    const hint = HintMessage.safeParse(parseJson(text)).data;
    if (hint?.type === "look") this.lookHint.set();
    if (hint?.type === "cancel") this.cancelHint.set();
    if (hint?.type === "followed") this.audience.note();
  }
}
