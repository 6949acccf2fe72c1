import { RULES } from "../../src/queue/state/rules.ts";
import { History } from "./history.ts";
import type { Invariant } from "./invariants.ts";
import { MUTANTS } from "./mutants.ts";
import { Violation } from "./violation.ts";

export interface Failure {
  history: number;
  /** Null if the state machine itself threw. */
  invariant: Invariant | null;
  message: string;
}

/** A range of histories to run, with the real rules or with those of one mutant. */
export interface Task {
  seed: number;
  from: number;
  to: number;
  /** Index in MUTANTS. Its task ends at the first violation of the invariant that it breaks. */
  mutant?: number;
}

export interface Summary {
  histories: number;
  commands: number;
  faults: Record<string, number>;
  failures: Failure[];
}

/** Runs one history to its end or its first violation. Other errors become a failure, too. */
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

/** Runs the histories of a seed `from` up to `to`, exclusive. */
export const runTask = ({ seed, from, to, mutant }: Task): Summary => {
  const { rules, breaks } = MUTANTS[mutant ?? -1] ?? { rules: RULES, breaks: null };
  const summary: Summary = { histories: 0, commands: 0, faults: {}, failures: [] };
  for (let index = from; index < to; index++) {
    const history = new History(seed, index, rules);
    const failure = runHistory(history, index);
    const { pool, faults } = history.simulator;
    summary.histories++;
    summary.commands += pool.commands;
    for (const [fault, count] of faults) summary.faults[fault] = (summary.faults[fault] ?? 0) + count;
    if (failure) summary.failures.push(failure);
    if (failure && failure.invariant === breaks) break;
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
