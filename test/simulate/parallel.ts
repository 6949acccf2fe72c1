import { availableParallelism } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { MUTANTS } from "./mutants.ts";
import { merge, type Summary } from "./run.ts";
import type { Task } from "./worker.ts";

const HISTORIES_PER_TASK = 500;

/** Runs errands on every core, each worker taking the next one as soon as it is free. */
const runInParallel = async (errands: readonly Task[], done: (errand: Task, tally: Summary) => void): Promise<void> => {
  const left = errands[Symbol.iterator]();
  const hand = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const worker = new Worker(join(import.meta.dirname, "worker.ts"));
      let errand: Task | undefined;
      const next = () => {
        errand = left.next().value;
        if (errand) worker.postMessage(errand);
        else worker.terminate().then(() => resolve(), reject);
      };
      worker.on("message", (tally: Summary) => {
        done(errand!, tally);
        next();
      });
      worker.on("error", reject);
      next();
    });
  await Promise.all(Array.from({ length: availableParallelism() }, hand));
};

/** Plays so many histories of a seed, and adds up what happened in them. */
export const simulate = async (seed: number, histories: number, told = (_so_far: Summary) => {}): Promise<Summary> => {
  const errands: Task[] = [];
  for (let from = 0; from < histories; from += HISTORIES_PER_TASK) {
    errands.push({ seed, from, to: Math.min(from + HISTORIES_PER_TASK, histories) });
  }
  let sum = merge([]);
  await runInParallel(errands, (_errand, tally) => {
    sum = merge([sum, tally]);
    told(sum);
  });
  return sum;
};

export interface MutantResult {
  name: string;
  /** How many histories it took to see the mutant, or null where it was not seen. */
  killedAfter: number | null;
  what: string | null;
}

/** Plays every mutant until the checks see it, for at most so many histories. */
export const testMutants = async (seed: number, histories: number): Promise<MutantResult[]> => {
  const hunts: MutantResult[] = [];
  const errands = MUTANTS.map((_, mutant) => ({ seed, from: 0, to: histories, mutant }));
  await runInParallel(errands, ({ mutant }, { failures, histories: played }) => {
    const { name } = MUTANTS[mutant!]!;
    hunts[mutant!] = { name, killedAfter: failures.length > 0 ? played : null, what: failures[0]?.message ?? null };
  });
  return hunts;
};
