import { WebSocket } from "ws";
import { HINT_PING } from "../../protocol/jobs.ts";
import { announce } from "../cli/logger.ts";
import { HintMessage } from "./answers.ts";
import { Bell } from "./auto-reset-event.ts";
import { type BackOff, delayOf, PATIENT } from "./back-off.ts";
import type { Client } from "./client.ts";

/** Milliseconds before a service that speaks no WebSocket is asked again. */
const UNSUPPORTED = 5 * 60_000;

export interface HintOptions {
  client: Client;
  agentId: string;
  everySeconds: number;
  signal: AbortSignal;
  backOff?: BackOff;
}

/**
 * The socket on which the service says that there is something to look at. It carries hints only: one that is lost,
 * late or doubled costs nothing, and while it is down the agent polls as if there were none.
 */
export class Hints {
  readonly look = new Bell();
  readonly cancel = new Bell();
  #isOpen = false;
  readonly #settled = new Bell();
  readonly #options: HintOptions;

  constructor(options: HintOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Until the first try has opened the socket or failed, `milliseconds` at most. */
  settled(milliseconds: number): Promise<void> {
    return this.#settled.wait(milliseconds, this.#options.signal);
  }

  /** Keeps the socket open until the signal is aborted. */
  async run(): Promise<void> {
    const { signal, backOff = PATIENT } = this.#options;
    for (let failures = 0; !signal.aborted; ) {
      const end = await this.#connection();
      this.#isOpen = false;
      this.#settled.ring();
      this.look.ring();
      failures = end.opened ? 0 : failures + 1;
      if (end.status !== null && failures === 1)
        announce.info(`no hints by WebSocket (status ${end.status}): polling instead`);
      const wait = end.status !== null && end.status < 500 ? UNSUPPORTED : delayOf(failures, backOff, Math.random());
      await new Bell().wait(wait, signal);
    }
  }

  #connection(): Promise<{ opened: boolean; status: number | null }> {
    const { client, agentId, everySeconds, signal } = this.#options;
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
      }, everySeconds * 1000);
      const close = (): void => socket.terminate();
      signal.addEventListener("abort", close, { once: true });
      socket.on("open", () => {
        opened = true;
        this.#isOpen = true;
        socket.send(HINT_PING);
        this.#settled.ring();
        this.look.ring();
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
    if (hint?.type === "look") this.look.ring();
    if (hint?.type === "cancel") this.cancel.ring();
  }
}

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};
