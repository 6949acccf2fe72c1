import type { AgentSockets, RenewedLease } from "../../src/queue/commands/wake.ts";

interface SimSocket {
  /** When a poll's socket closes; null for the agent's own. */
  until: number | null;
  kept: RenewedLease | null;
  /** The agent is dead, and the pool does not know. */
  isHalfOpen: boolean;
}

/** The newest socket of each agent, as the pool sees it. It survives the eviction of the object, except in a crash. */
export class SimSockets {
  readonly #sockets = new Map<string, SimSocket>();

  open(agentId: string, until: number | null): void {
    const kept = until === null ? (this.#sockets.get(agentId)?.kept ?? null) : null;
    this.#sockets.set(agentId, { until, kept, isHalfOpen: false });
  }

  /** Reports whether the agent has an open socket. */
  has(agentId: string): boolean {
    return this.#sockets.get(agentId)?.isHalfOpen === false;
  }

  /** Reports whether the agent has its own open socket, on which it may send heartbeats. */
  hasOwn(agentId: string): boolean {
    return this.has(agentId) && this.#sockets.get(agentId)!.until === null;
  }

  /** The agent's machine dies without closing the socket. */
  breakOff(agentId: string): void {
    const socket = this.#sockets.get(agentId);
    if (socket) socket.isHalfOpen = true;
  }

  /** Closes the socket. @returns whether there was one */
  delete(agentId: string): boolean {
    return this.#sockets.delete(agentId);
  }

  clear(): void {
    this.#sockets.clear();
  }

  /** The pool remembers the lease that a heartbeat on the agent's own socket renewed. */
  keep(agentId: string, kept: RenewedLease): void {
    const socket = this.#sockets.get(agentId);
    if (socket?.until === null) socket.kept = kept;
  }

  /** Returns agents whose polls are over. */
  overdue(now: number): string[] {
    return [...this.#sockets].flatMap(([id, { until }]) => (until !== null && until <= now ? [id] : []));
  }

  /** Returns the sockets that an object finds when it wakes. */
  found(): Map<string, AgentSockets> {
    return new Map([...this.#sockets].map(([id, { until, kept }]) => [id, { until, hasOwn: until === null, kept }]));
  }
}
