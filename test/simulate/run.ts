import { RULES, type Rules } from "../../src/domain/pool/rules.ts";
import { History } from "./history.ts";
import type { Invariant } from "./invariants.ts";
import { Violation } from "./violation.ts";

export interface Failure {
  history: number;
  /** Null if the state machine itself threw. */
  invariant: Invariant | null;
  message: string;
}

export interface Summary {
  histories: number;
  commands: number;
  faults: Record<string, number>;
  failures: Failure[];
}

/** Runs one history to its end or its first violation. Errors that are no violation become a failure, too. */
export const runHistory = (history: History, index: number): Failure | undefined => {
  try {
    history.run();
    return undefined;
  } catch (error) {
    if (error instanceof Violation) return { history: index, invariant: error.invariant, message: error.message };
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { history: index, invariant: null, message };
  }
};

/** Runs the histories `from` to below `to` of a seed, or only until one violates the invariant `until`. */
export const runHistories = (
  seed: number,
  from: number,
  to: number,
  { rules = RULES, until = null }: { rules?: Rules; until?: Invariant | null } = {},
): Summary => {
  const summary: Summary = { histories: 0, commands: 0, faults: {}, failures: [] };
  for (let index = from; index < to; index++) {
    const history = new History(seed, index, rules);
    const failure = runHistory(history, index);
    const { pool, faults } = history.simulator;
    summary.histories++;
    summary.commands += pool.commands;
    for (const [fault, count] of faults) summary.faults[fault] = (summary.faults[fault] ?? 0) + count;
    if (failure) summary.failures.push(failure);
    if (failure && failure.invariant === until) break;
  }
  return summary;
};

export const merge = (summaries: readonly Summary[]): Summary => {
  const sum: Summary = { histories: 0, commands: 0, faults: {}, failures: [] };
  for (const { histories, commands, faults, failures } of summaries) {
    sum.histories += histories;
    sum.commands += commands;
    sum.failures.push(...failures);
    for (const [fault, count] of Object.entries(faults)) sum.faults[fault] = (sum.faults[fault] ?? 0) + count;
  }
  return sum;
};
