import { parentPort } from "node:worker_threads";
import { MUTANTS } from "./mutants.ts";
import { runHistories } from "./run.ts";

/** A stretch of histories to play, with the machine as it is or with one of the mutants. */
export interface Task {
  seed: number;
  from: number;
  to: number;
  mutant?: number;
}

parentPort?.on("message", ({ seed, from, to, mutant }: Task) => {
  const options = mutant === undefined ? {} : { rules: MUTANTS[mutant]!.rules, untilFirst: true };
  parentPort?.postMessage(runHistories(seed, from, to, options));
});
