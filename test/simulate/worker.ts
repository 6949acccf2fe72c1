import { parentPort } from "node:worker_threads";
import { MUTANTS } from "./mutants.ts";
import { runHistories } from "./run.ts";

/** A range of histories to run, with the real rules or with those of one mutant. */
export interface Task {
  seed: number;
  from: number;
  to: number;
  /** Index in MUTANTS. Its task ends at the first violation of the invariant that it breaks. */
  mutant?: number;
}

parentPort?.on("message", ({ seed, from, to, mutant }: Task) => {
  const { rules, breaks } = (mutant === undefined ? undefined : MUTANTS[mutant]) ?? {};
  parentPort?.postMessage(runHistories(seed, from, to, { rules, until: breaks }));
});
