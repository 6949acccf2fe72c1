import type { Result } from "../../src/queue/commands/commands.ts";
import type { Command } from "../../src/queue/commands/step.ts";
import type { Push } from "../../src/queue/state/decision.ts";
import type { Change } from "../../src/queue/state/facts.ts";
import type { Fault } from "./faults.ts";
import type { SimStorage } from "./storage.ts";

export interface AnsweredCall {
  now: number;
  command: Command;
  input: unknown;
  answer: Result<unknown>;
  pushes: readonly Push[];
}

/** Watches a history as it runs: for a trace, or to repeat its calls against the real object. Changes nothing. */
export interface Observer {
  /** Before the pool decides: the last sign of a call that violates an invariant. */
  onCall?(now: number, command: Command, input: unknown): void;
  /** Before the changes are stored: `storage` still has the old rows. */
  onCommit?(changes: readonly Change[], storage: SimStorage): void;
  onAnswer?(call: AnsweredCall, storage: SimStorage): void;
  /** The object was evicted and restarts, after a crash without its sockets. */
  onWake?(now: number, isCrash: boolean): void;
  /** `about` names the agent or the command that the fault hits, if there is one. */
  onFault?(now: number, fault: Fault, about: string): void;
  onNote?(now: number, text: string): void;
}
