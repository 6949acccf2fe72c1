import { RULES, type Rules } from "../../src/domain/pool/rules.ts";
import { History } from "./history.ts";
import { Violation } from "./violation.ts";

export interface Failure {
  history: number;
  invariant: number;
  message: string;
}

export interface Summary {
  histories: number;
  commands: number;
  faults: Record<string, number>;
  failures: Failure[];
}

/** Plays the histories `from` to below `to` of a seed. With `untilFirst` it stops at the first failure. */
export const runHistories = (
  seed: number,
  from: number,
  to: number,
  { rules = RULES, untilFirst = false }: { rules?: Rules; untilFirst?: boolean } = {},
): Summary => {
  const tally: Summary = { histories: 0, commands: 0, faults: {}, failures: [] };
  for (let index = from; index < to; index++) {
    const failure = runOne(seed, index, rules, tally);
    if (failure) tally.failures.push(failure);
    if (failure && untilFirst) break;
  }
  return tally;
};

const runOne = (seed: number, index: number, rules: Rules, tally: Summary): Failure | undefined => {
  const history = new History(seed, index, rules);
  tally.histories++;
  try {
    history.run();
  } catch (error) {
    if (error instanceof Violation) return { history: index, invariant: error.invariant, message: error.message };
    return {
      history: index,
      invariant: 0,
      message: error instanceof Error ? (error.stack ?? error.message) : String(error),
    };
  } finally {
    const { pool, faults } = history.simulator;
    tally.commands += pool.commands;
    for (const [fault, count] of faults) tally.faults[fault] = (tally.faults[fault] ?? 0) + count;
  }
  return undefined;
};

export const merge = (tallies: readonly Summary[]): Summary => {
  const sum: Summary = { histories: 0, commands: 0, faults: {}, failures: [] };
  for (const { histories, commands, faults, failures } of tallies) {
    sum.histories += histories;
    sum.commands += commands;
    sum.failures.push(...failures);
    for (const [fault, count] of Object.entries(faults)) sum.faults[fault] = (sum.faults[fault] ?? 0) + count;
  }
  return sum;
};
