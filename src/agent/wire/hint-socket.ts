import { WebSocket } from "ws";
import { HINT_PING } from "../../protocol/jobs.ts";
import { logger } from "../cli/logger.ts";
import { HintMessage } from "./answers.ts";
import { AutoResetEvent } from "./auto-reset-event.ts";
import { type BackOff, backOffDelay, DEFAULT_BACK_OFF } from "./back-off.ts";
import type { Client } from "./client.ts";

/** Milliseconds before a service that speaks no WebSocket is asked again. */
const UNSUPPORTED = 5 * 60_000;

export interface HintSocketOptions {
  client: Client;
  agentId: string;
  heartbeatSeconds: number;
  signal: AbortSignal;
  backOff?: BackOff;
}

/**
 * The socket on which the service says that there is something to look at. It carries hints only: one that is lost,
 * late or doubled costs nothing, and while it is down the agent polls as if there were none.
 */
export class HintSocket {
  readonly lookHint = new AutoResetEvent();
  readonly cancelHint = new AutoResetEvent();
  #isOpen = false;
  readonly #settled = new AutoResetEvent();
  readonly #options: HintSocketOptions;

  constructor(options: HintSocketOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Until the first try has opened the socket or failed, `milliseconds` at most. */
  firstAttempt(milliseconds: number): Promise<void> {
    return this.#settled.wait(milliseconds, this.#options.signal);
  }

  /** Keeps the socket open until the signal is aborted. */
  async run(): Promise<void> {
    const { signal, backOff = DEFAULT_BACK_OFF } = this.#options;
    for (let failures = 0; !signal.aborted; ) {
      const end = await this.#connection();
      this.#isOpen = false;
      this.#settled.set();
      this.lookHint.set();
      failures = end.opened ? 0 : failures + 1;
      if (end.status !== null && failures === 1)
        logger.info(`no hints by WebSocket (status ${end.status}): polling instead`);
      const wait =
        end.status !== null && end.status < 500 ? UNSUPPORTED : backOffDelay(failures, backOff, Math.random());
      await new AutoResetEvent().wait(wait, signal);
    }
  }

  #connection(): Promise<{ opened: boolean; status: number | null }> {
    const { client, agentId, heartbeatSeconds, signal } = this.#options;
    const url = `${client.url.replace(/^http/, "ws")}/buildagent/${agentId}/poll`;
    return new Promise((resolve) => {
      const socket = new WebSocket(url, { headers: client.headers(), handshakeTimeout: 10_000, maxPayload: 65_536 });
      let opened = false;
      let status: number | null = null;
      let isHeard = true;
      const beat = setInterval(() => {
        if (!opened) return;
        if (!isHeard) return socket.terminate();
        isHeard = false;
        socket.send(HINT_PING);
      }, heartbeatSeconds * 1000);
      const close = (): void => socket.terminate();
      signal.addEventListener("abort", close, { once: true });
      socket.on("open", () => {
        opened = true;
        this.#isOpen = true;
        socket.send(HINT_PING);
        this.#settled.set();
        this.lookHint.set();
      });
      socket.on("message", (data) => {
        isHeard = true;
        this.#receive(String(data));
      });
      socket.on("unexpected-response", (request, response) => {
        status = response.statusCode ?? null;
        request.destroy();
        socket.terminate();
      });
      // A "close" always follows, and says all that is needed.
      socket.on("error", () => {});
      socket.on("close", () => {
        clearInterval(beat);
        signal.removeEventListener("abort", close);
        resolve({ opened, status });
      });
      if (signal.aborted) close();
    });
  }

  #receive(text: string): void {
    const hint = HintMessage.safeParse(jsonOf(text)).data;
    if (hint?.type === "look") this.lookHint.set();
    if (hint?.type === "cancel") this.cancelHint.set();
  }
}

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};
