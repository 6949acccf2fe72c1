import { WebSocket } from "ws";
import { isAway } from "../../protocol/coming-back.ts";
import { HINT_PING } from "../../protocol/jobs.ts";
import { KIB, MINUTE_MS, SECOND_MS } from "../../protocol/units.ts";
import { logger } from "../cli/logger.ts";
import { parseJson } from "../parse-json.ts";
import { HintMessage, JobAnswer, SocketReply } from "./answers.ts";
import { Audience } from "./audience.ts";
import { AutoResetEvent, sleep } from "./auto-reset-event.ts";
import { type BackOff, DEFAULT_BACK_OFF, parseRetryAfter, reopenDelay, type SocketEnd } from "./back-off.ts";
import { type ApiClient, describeAnswer, TokenRefused } from "./client.ts";
import { HeartbeatSocket } from "./heartbeat.ts";

/** The close code for a message that the service does not accept on the socket. */
const POLICY_VIOLATION = 1008;

interface HintSocketOptions {
  client: ApiClient;
  agentId: string;
  heartbeatSeconds: number;
  signal: AbortSignal;
  backOff?: BackOff;
}

/**
 * The WebSocket for the service's hints to poll now, or to check for a cancel. A lost, late or repeated hint does no
 * harm. While the socket is closed, the agent long-polls.
 */
export class HintSocket {
  /** Set when the agent should poll. */
  readonly lookHint = new AutoResetEvent();
  /** Set when the agent should check with a heartbeat whether its build is canceled. */
  readonly cancelHint = new AutoResetEvent();
  readonly audience = new Audience(() => this.#isOpen);
  readonly heartbeats: HeartbeatSocket;
  #isOpen = false;
  readonly #attempted = new AutoResetEvent();
  readonly #options: HintSocketOptions;

  constructor(options: HintSocketOptions) {
    this.#options = options;
    this.heartbeats = new HeartbeatSocket(options.client.bootId);
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Waits until the first try has opened the socket or failed, for at most `milliseconds`. */
  firstAttempt(milliseconds: number): Promise<void> {
    return this.#attempted.wait(milliseconds, this.#options.signal);
  }

  /** Keeps the socket open until the signal is aborted. */
  async run(): Promise<void> {
    const { signal, backOff = DEFAULT_BACK_OFF } = this.#options;
    for (let failures = 0; !signal.aborted; ) {
      const end = await this.#connection();
      this.#isOpen = false;
      failures = end.opened ? 0 : failures + 1;
      if (end.status !== null && failures === 1)
        logger.info(`cannot open a WebSocket for hints (status ${end.status}): polling instead`);
      this.#attempted.set();
      // Without a socket the agent polls. If the service cut all sockets, the agent does not poll at once.
      if (!end.isCut) this.lookHint.set();
      await sleep(reopenDelay({ ...end, failures, backOff, random: Math.random() }), signal);
    }
  }

  #connection(): Promise<SocketEnd> {
    const { client, agentId, heartbeatSeconds, signal } = this.#options;
    const url = `${client.url.replace(/^http/, "ws")}/buildagent/${agentId}/poll`;
    return new Promise((resolve) => {
      const socket = new WebSocket(url, {
        headers: client.headers(),
        handshakeTimeout: 10 * SECOND_MS,
        maxPayload: 64 * KIB,
        // The messages are only a few words long.
        perMessageDeflate: false,
      });
      let opened = false;
      let status: number | null = null;
      let retryAfter: number | null = null;
      let hasAnswered = true;
      let isGivenUp = false;
      const pinger = setInterval(() => {
        if (!opened) return;
        isGivenUp = !hasAnswered;
        if (isGivenUp) return socket.terminate();
        hasAnswered = false;
        socket.send(HINT_PING);
      }, heartbeatSeconds * SECOND_MS);
      const close = (): void => socket.terminate();
      signal.addEventListener("abort", close, { once: true });
      socket.on("open", () => {
        opened = true;
        this.#isOpen = true;
        socket.send(HINT_PING);
        this.heartbeats.opened(socket);
        this.#attempted.set();
        this.lookHint.set();
      });
      socket.on("message", (data) => {
        hasAnswered = true;
        this.#receive(String(data));
      });
      socket.on("unexpected-response", (request, response) => {
        status = response.statusCode ?? null;
        retryAfter = parseRetryAfter(response.headers["retry-after"] ?? null, Date.now());
        request.destroy();
        socket.terminate();
      });
      // A "close" event always follows.
      socket.on("error", () => {});
      socket.on("close", (code) => {
        clearInterval(pinger);
        signal.removeEventListener("abort", close);
        this.heartbeats.closed({ isRefused: code === POLICY_VIOLATION });
        resolve({ isCut: opened && !isGivenUp && isAway(code), opened, status, retryAfter });
      });
      if (signal.aborted) close();
    });
  }

  #receive(text: string): void {
    const message = parseJson(text);
    const reply = SocketReply.safeParse(message).data;
    if (reply) this.heartbeats.received(reply);
    const hint = HintMessage.safeParse(message).data;
    if (hint?.type === "look") this.lookHint.set();
    if (hint?.type === "cancel") this.cancelHint.set();
    if (hint?.type === "followed") this.audience.note();
  }
}

/** Milliseconds before the next poll after an unreadable answer. */
const UNREADABLE_WAIT = 10 * SECOND_MS;
/** Milliseconds before the next poll without a hint. Hints are rarely lost. */
const NO_HINT_WAIT = 10 * MINUTE_MS;

interface NextJobOptions {
  client: ApiClient;
  agentId: string;
  hintSocket: HintSocket;
  pollSeconds: number;
  signal: AbortSignal;
}

/**
 * Waits for a job. While the hint socket is open, polls once for each hint. Without the socket, long-polls for
 * `pollSeconds`. A heartbeat after failed polls notifies the service that this agent accepts jobs again.
 * @throws TokenRefused, or the signal's reason
 */
export const nextJob = async (options: NextJobOptions): Promise<JobAnswer> => {
  const { client, agentId, hintSocket, pollSeconds, signal } = options;
  for (;;) {
    signal.throwIfAborted();
    const wait = hintSocket.isOpen ? 0 : Math.min(60, pollSeconds);
    // This poll answers every earlier hint.
    hintSocket.lookHint.reset();
    const answer = await client.send({
      method: "GET",
      path: `/buildagent/${agentId}/poll?wait=${wait}`,
      signal,
      timeout: (wait + 20) * SECOND_MS,
      isLongPoll: wait > 0,
    });
    if (answer.status === 403 || answer.status === 404) throw new TokenRefused(client.url);
    const job = answer.status === 200 ? JobAnswer.safeParse(answer.body) : null;
    if (job?.success) return job.data;
    if (answer.status !== 204) {
      logger.error(
        `cannot read the service's answer to a poll (${describeAnswer(answer)}): the agent may be too old: update it`,
      );
      await sleep(UNREADABLE_WAIT, signal);
    } else if (answer.failures > 0) {
      await client.send({ method: "POST", path: `/buildagent/${agentId}/heartbeat`, signal });
    } else if (hintSocket.isOpen) {
      await hintSocket.lookHint.wait(NO_HINT_WAIT, signal);
    }
  }
};
