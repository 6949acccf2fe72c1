import { log } from "../../log.ts";
import { type HeartbeatReply, HINT_PING, HINT_PONG } from "../../protocol/jobs.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { MINUTE_MS } from "../../protocol/units.ts";
import type { AgentSockets, RenewedLease } from "../../queue/commands/wake.ts";
import type { Push } from "../../queue/state/decision.ts";
import type { Report } from "../../queue/state/facts.ts";
import { organizationIn } from "./rows.ts";

/**
 * The data that the object stores with a socket while it hibernates. `until` is a poll's deadline; null for the agent's
 * own socket.
 */
interface Attachment {
  agentId: string;
  until: number | null;
  openedAt: number;
  tokenHash: string;
  /** The lease that the last heartbeat on one of the agent's own sockets renewed. */
  kept?: RenewedLease;
  steps?: KeptSteps;
}

/** The latest steps that the agent reported under this lease, which no row has yet. */
export interface KeptSteps {
  jobId: string;
  fence: number;
  steps: Report["steps"];
}

const POLICY_VIOLATION = 1008;

/** Hibernating sockets on which agents, and Workers in a long poll, wait for hints. */
export class HintSockets {
  readonly #ctx: DurableObjectState;
  /** Each socket's messages in the present minute. */
  readonly #messageCounts = new WeakMap<WebSocket, { since: number; count: number }>();

  constructor(ctx: DurableObjectState) {
    this.#ctx = ctx;
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair(HINT_PING, HINT_PONG));
  }

  /** Opens a socket, and closes the agent's oldest ones past the limit. @returns the client's end */
  accept(attachment: Attachment): WebSocket {
    const others = this.#open(attachment.agentId, attachment.openedAt);
    others.sort((one, other) => readAttachment(other).openedAt - readAttachment(one).openedAt);
    for (const socket of others.slice(LIMITS.agentSockets - 1))
      socket.close(POLICY_VIOLATION, "A newer socket took its place");
    const found = attachment.until === null ? this.#findKept(attachment.agentId) : {};
    const { 0: client, 1: server } = new WebSocketPair();
    this.#ctx.acceptWebSocket(server, [attachment.agentId]);
    server.serializeAttachment({ ...attachment, ...found });
    return client;
  }

  /**
   * Sends each hint to its agent's sockets. If a hint is lost, the agent only waits longer, because agents also poll.
   */
  push(pushes: readonly Push[], now: number): void {
    for (const { agentId, hint } of pushes) {
      for (const socket of this.#open(agentId, now)) {
        const isOwn = readAttachment(socket).until === null;
        if (hint.type === "look" || isOwn) this.#send(socket, JSON.stringify(hint));
      }
    }
  }

  #send(socket: WebSocket, text: string): void {
    try {
      socket.send(text);
    } catch (error) {
      log.warn("pool.hint_failed", { orgId: organizationIn(this.#ctx.storage.sql), error });
    }
  }

  /** Returns until when the agent is reachable: null while its own socket is open, undefined if no socket is open. */
  reachableUntil(agentId: string, now: number, except?: WebSocket): number | null | undefined {
    const others = this.#open(agentId, now).filter((socket) => socket !== except);
    return others.map((socket) => readAttachment(socket).until).reduce(later, undefined);
  }

  /** Finds the remaining sockets, by agent. The pool calls it once, after the object woke up. */
  found(now: number): Map<string, AgentSockets> {
    const all = new Map<string, AgentSockets>();
    for (const socket of this.#ctx.getWebSockets()) {
      const { agentId, until, kept: lease = null } = readAttachment(socket);
      const others = all.get(agentId) ?? { until: undefined, hasOwn: false, kept: null };
      all.set(agentId, {
        until: isOpen(socket, until, now) ? later(others.until, until) : others.until,
        hasOwn: others.hasOwn || until === null,
        kept: lease && (others.kept?.expiresAt ?? 0) < lease.expiresAt ? lease : others.kept,
      });
    }
    return all;
  }

  /** Stores the renewed lease with each of the agent's own sockets, because any of them may outlive the others. */
  keep(agentId: string, lease: RenewedLease): void {
    for (const socket of this.#ctx.getWebSockets(agentId)) {
      const attachment = readAttachment(socket);
      if (attachment.until === null) socket.serializeAttachment({ ...attachment, kept: lease });
    }
  }

  /**
   * Stores steps with each of the agent's own sockets, too.
   * @returns whether a socket has them; the platform limits them to some kilobytes
   */
  keepSteps(agentId: string, steps: KeptSteps): boolean {
    let isKept = false;
    for (const socket of this.#ctx.getWebSockets(agentId)) {
      const { steps: _, ...attachment } = readAttachment(socket);
      if (!isOpen(socket, attachment.until, 0) || attachment.until !== null) continue;
      try {
        socket.serializeAttachment({ ...attachment, steps });
        isKept = true;
      } catch {
        socket.serializeAttachment(attachment);
      }
    }
    return isKept;
  }

  /** Returns the steps that sockets keep. The pool calls it once, after the object woke up. */
  keptSteps(): KeptSteps[] {
    return this.#ctx.getWebSockets().flatMap((socket) => readAttachment(socket).steps ?? []);
  }

  #findKept(agentId: string): Pick<Attachment, "kept" | "steps"> {
    const all = this.#ctx.getWebSockets(agentId).map(readAttachment);
    const kept = all.flatMap((one) => one.kept ?? []).sort((one, other) => other.expiresAt - one.expiresAt)[0];
    const steps = all.flatMap((one) => one.steps ?? []).sort((one, other) => other.fence - one.fence)[0];
    return { ...(kept && { kept }), ...(steps && { steps }) };
  }

  /** Reports whether the socket has sent no more messages than an agent needs. The pool rejects a flood. */
  takesMessage(socket: WebSocket, now: number): boolean {
    const before = this.#messageCounts.get(socket);
    const window = before && now - before.since < MINUTE_MS ? before : { since: now, count: 0 };
    this.#messageCounts.set(socket, { ...window, count: window.count + 1 });
    return window.count < LIMITS.socketMessagesPerMinute;
  }

  reply(socket: WebSocket, reply: HeartbeatReply): void {
    this.#send(socket, JSON.stringify(reply));
  }

  /**
   * Returns the time of the last ping on the agent's own sockets, in milliseconds since 1970; 0 if there was no ping.
   */
  pingedAt(agentId: string): number {
    const pings = this.#ctx.getWebSockets(agentId).map((socket) => {
      const { until, openedAt } = readAttachment(socket);
      const ping = this.#ctx.getWebSocketAutoResponseTimestamp(socket)?.getTime() ?? 0;
      return until === null ? Math.max(openedAt, ping) : 0;
    });
    return Math.max(0, ...pings);
  }

  /** Closes a socket that sent a forbidden message. @returns whether it was open until then */
  rejectMessage(socket: WebSocket): boolean {
    if (socket.readyState !== WebSocket.OPEN) return false;
    socket.close(POLICY_VIOLATION, "Only pings and the agent's heartbeats are accepted here");
    return true;
  }

  /** Closes the sockets of a removed agent, or all sockets if `agentId` is absent. */
  closeAll(agentId?: string): void {
    for (const socket of this.#ctx.getWebSockets(agentId)) socket.close(4401, "The agent was removed");
  }

  #open(agentId: string, now: number): WebSocket[] {
    return this.#ctx.getWebSockets(agentId).filter((socket) => isOpen(socket, readAttachment(socket).until, now));
  }
}

export const readAttachment = (socket: WebSocket): Attachment => socket.deserializeAttachment() as Attachment;

const isOpen = (socket: WebSocket, until: number | null, now: number): boolean =>
  socket.readyState === WebSocket.OPEN && (until === null || until > now);

const later = (one: number | null | undefined, other: number | null): number | null =>
  one === null || other === null ? null : Math.max(one ?? 0, other);
