import { logger } from "../cli/logger.ts";
import { Cancel, type CancelReason } from "./failure.ts";

/** Decides when a build stops early, and remembers why. */
export class BuildControl {
  /** Aborted with a Cancel, or with the error that makes the build pointless. The build's steps then stop. */
  readonly cancel = new AbortController();
  readonly #lease = new AbortController();
  readonly #leaseHold = new AbortController();
  readonly #name: string;
  readonly #interrupt: AbortSignal;
  #error: unknown = null;

  /** `interrupt` is aborted when the agent itself must stop at once. */
  constructor(name: string, interrupt: AbortSignal) {
    this.#name = name;
    this.#interrupt = interrupt;
    interrupt.addEventListener("abort", this.#onInterrupt, { once: true });
    if (interrupt.aborted) this.#onInterrupt();
  }

  /** Aborted when this agent no longer holds the build's lease. The agent's calls about the build then end. */
  get leaseEnd(): AbortSignal {
    return this.#lease.signal;
  }

  /** Aborted when the agent need not send heartbeats for the lease any more. */
  get holdEnd(): AbortSignal {
    return AbortSignal.any([this.#lease.signal, this.#leaseHold.signal]);
  }

  /**
   * Ends the heartbeats, because the lease is over and the build continues without this agent. The agent still sends
   * reports.
   */
  letGo(): void {
    this.#leaseHold.abort();
  }

  readonly stop = (reason: CancelReason): void => {
    if (!this.cancel.signal.aborted && reason !== "lease-lost") logger.warn(`stopping ${this.#name}: ${reason}`);
    this.cancel.abort(new Cancel(reason));
    if (reason === "lease-lost") this.#lease.abort(new Cancel(reason));
  };

  /** Drops the build, because the agent can no longer reach the service about it. */
  readonly fail = (error: unknown): void => {
    if (this.leaseEnd.aborted) return;
    this.#error = error;
    this.cancel.abort(new Cancel("lease-lost"));
    this.#lease.abort(error);
  };

  throwIfFailed(): void {
    if (this.#error !== null) throw this.#error;
  }

  /** Ends the build. Ignores later failures. */
  close(): void {
    this.#interrupt.removeEventListener("abort", this.#onInterrupt);
    this.#lease.abort(new Cancel("lease-lost"));
  }

  readonly #onInterrupt = (): void => this.stop("interrupted");
}
