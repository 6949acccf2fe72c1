import type { Push } from "../domain/pool/decision.ts";
import { HINT_PING, HINT_PONG } from "../protocol/jobs.ts";
import { LIMITS } from "../protocol/limits.ts";

/** What a socket remembers while the object sleeps. `until` is null for a socket of an agent's own. */
interface Attachment {
  agentId: string;
  until: number | null;
  openedAt: number;
}

const POLICY_VIOLATION = 1008;

/** The sockets on which agents, and Workers that poll for them, wait for a hint while the object sleeps. */
export class HintSockets {
  readonly #ctx: DurableObjectState;

  constructor(ctx: DurableObjectState) {
    this.#ctx = ctx;
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair(HINT_PING, HINT_PONG));
  }

  /** Opens a socket that may sleep in the place of the agent's oldest, and gives the end that goes to the client. */
  accept(attachment: Attachment): WebSocket {
    const others = this.#open(attachment.agentId, attachment.openedAt);
    others.sort((one, other) => attachmentOf(other).openedAt - attachmentOf(one).openedAt);
    for (const socket of others.slice(LIMITS.agentSockets - 1))
      socket.close(POLICY_VIOLATION, "A newer socket took its place");
    const { 0: client, 1: server } = new WebSocketPair();
    this.#ctx.acceptWebSocket(server, [attachment.agentId]);
    server.serializeAttachment(attachment);
    return client;
  }

  /** Sends each hint to the sockets of its agent. One that cannot be sent is lost, which costs nothing. */
  push(pushes: readonly Push[], now: number): void {
    for (const { agentId, hint } of pushes) {
      for (const socket of this.#open(agentId, now)) {
        const isOwn = attachmentOf(socket).until === null;
        if (hint.type === "look" || isOwn) this.#send(socket, JSON.stringify(hint));
      }
    }
  }

  #send(socket: WebSocket, text: string): void {
    try {
      socket.send(text);
    } catch (error) {
      console.warn("pool: a hint could not be sent", error);
    }
  }

  /** Until when an agent can be reached: null for as long as its own socket is open, undefined where not at all. */
  reachableUntil(agentId: string, now: number, besides?: WebSocket): number | null | undefined {
    const others = this.#open(agentId, now).filter((socket) => socket !== besides);
    return others.map((socket) => attachmentOf(socket).until).reduce(later, undefined);
  }

  /** Everyone who waits, after the object woke: each socket is looked at once. */
  waiting(now: number): Map<string, number | null> {
    const ends = new Map<string, number | null>();
    for (const socket of this.#ctx.getWebSockets()) {
      const { agentId, until } = attachmentOf(socket);
      if (isOpen(socket, until, now)) ends.set(agentId, later(ends.get(agentId), until));
    }
    return ends;
  }

  /** The last sign of life on an agent's own sockets, in milliseconds since 1970; 0 where there is none. */
  pingedAt(agentId: string): number {
    const signs = this.#ctx.getWebSockets(agentId).map((socket) => {
      const { until, openedAt } = attachmentOf(socket);
      const ping = this.#ctx.getWebSocketAutoResponseTimestamp(socket)?.getTime() ?? 0;
      return until === null ? Math.max(openedAt, ping) : 0;
    });
    return Math.max(0, ...signs);
  }

  /** Closes a socket that sent what is no message of the protocol. Gives whether it was open until then. */
  refuse(socket: WebSocket): boolean {
    if (socket.readyState !== WebSocket.OPEN) return false;
    socket.close(POLICY_VIOLATION, "Only pings are taken here");
    return true;
  }

  /** Closes what is left of an agent that was removed. */
  dismiss(agentId: string): void {
    for (const socket of this.#ctx.getWebSockets(agentId)) socket.close(4401, "The agent was removed");
  }

  #open(agentId: string, now: number): WebSocket[] {
    return this.#ctx.getWebSockets(agentId).filter((socket) => isOpen(socket, attachmentOf(socket).until, now));
  }
}

export const attachmentOf = (socket: WebSocket): Attachment => socket.deserializeAttachment() as Attachment;

const isOpen = (socket: WebSocket, until: number | null, now: number): boolean =>
  socket.readyState === WebSocket.OPEN && (until === null || until > now);

const later = (known: number | null | undefined, until: number | null): number | null =>
  known === null || until === null ? null : Math.max(known ?? 0, until);
