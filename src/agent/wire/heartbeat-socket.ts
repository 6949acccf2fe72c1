import type { HeartbeatMessage } from "../../protocol/jobs.ts";
import type { HeartbeatAnswer, SocketReply } from "./answers.ts";

/** Milliseconds that an answer may take, of however long an interval. */
const MAX_WAIT = 5_000;

/** The part of a WebSocket that heartbeats need. */
interface Line {
  send(text: string): void;
}

/**
 * Heartbeats on the agent's WebSocket, with their answers. A beat without an answer in time makes the socket `silent`:
 * beats are still sent there, but nobody waits for the answer, until one arrives or another socket opens.
 */
export class HeartbeatSocket {
  readonly #boot: string | undefined;
  #line: Line | null = null;
  #isSilent = false;
  #isRefused = false;
  #waiting: { lease: number; end: (reply: SocketReply | null) => void } | null = null;

  constructor(boot: string | undefined) {
    this.#boot = boot;
  }

  opened(line: Line): void {
    this.#line = line;
    this.#isSilent = false;
  }

  /** `isRefused`: the service accepts no heartbeats here, as one of an older release. */
  closed({ isRefused }: { isRefused: boolean }): void {
    this.#line = null;
    this.#isRefused ||= isRefused;
    this.#waiting?.end(null);
  }

  received(reply: SocketReply): void {
    this.#isSilent = false;
    if (this.#waiting?.lease === reply.lease) this.#waiting.end(reply);
  }

  /** A new job says again that heartbeats are accepted. */
  allow(): this {
    this.#isRefused = false;
    return this;
  }

  /** Sends one heartbeat. @returns the answer; null where it has to be sent by HTTP */
  async heartbeat(lease: number, heartbeatSeconds: number): Promise<HeartbeatAnswer | null> {
    if (!this.#line || this.#isRefused) return null;
    const message: HeartbeatMessage = { type: "heartbeat", lease, boot: this.#boot };
    const answered = this.#isSilent ? null : this.#answer(lease, Math.min(MAX_WAIT, heartbeatSeconds * 500));
    this.#line.send(JSON.stringify(message));
    return (await answered) ?? null;
  }

  #answer(lease: number, milliseconds: number): Promise<SocketReply | null> {
    return new Promise((resolve) => {
      const end = (reply: SocketReply | null): void => {
        clearTimeout(timer);
        this.#waiting = null;
        resolve(reply);
      };
      const timer = setTimeout(() => {
        this.#isSilent = true;
        end(null);
      }, milliseconds);
      this.#waiting = { lease, end };
    });
  }
}
