import { availableParallelism } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { MUTANTS } from "./mutants.ts";
import { merge, type Tally } from "./run.ts";
import type { Errand } from "./worker.ts";

const STRETCH = 500;

/** Runs errands on every core, each worker taking the next one as soon as it is free. */
const workOff = async (errands: readonly Errand[], done: (errand: Errand, tally: Tally) => void): Promise<void> => {
  const left = errands[Symbol.iterator]();
  const hand = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const worker = new Worker(join(import.meta.dirname, "worker.ts"));
      let errand: Errand | undefined;
      const next = () => {
        errand = left.next().value;
        if (errand) worker.postMessage(errand);
        else worker.terminate().then(() => resolve(), reject);
      };
      worker.on("message", (tally: Tally) => {
        done(errand!, tally);
        next();
      });
      worker.on("error", reject);
      next();
    });
  await Promise.all(Array.from({ length: availableParallelism() }, hand));
};

/** Plays so many histories of a seed, and adds up what happened in them. */
export const simulate = async (seed: number, histories: number, told = (_so_far: Tally) => {}): Promise<Tally> => {
  const errands: Errand[] = [];
  for (let from = 0; from < histories; from += STRETCH) {
    errands.push({ seed, from, to: Math.min(from + STRETCH, histories) });
  }
  let sum = merge([]);
  await workOff(errands, (_errand, tally) => {
    sum = merge([sum, tally]);
    told(sum);
  });
  return sum;
};

export interface Hunt {
  name: string;
  /** How many histories it took to see the mutant, or null where it was not seen. */
  caughtAfter: number | null;
  what: string | null;
}

/** Plays every mutant until the checks see it, for at most so many histories. */
export const hunt = async (seed: number, histories: number): Promise<Hunt[]> => {
  const hunts: Hunt[] = [];
  const errands = MUTANTS.map((_, mutant) => ({ seed, from: 0, to: histories, mutant }));
  await workOff(errands, ({ mutant }, { failures, histories: played }) => {
    const { name } = MUTANTS[mutant!]!;
    hunts[mutant!] = { name, caughtAfter: failures.length > 0 ? played : null, what: failures[0]?.what ?? null };
  });
  return hunts;
};
