import type { JobMutant } from "./job-mutants.ts";

/** Machines that are wrong about pauses of the pool. */
export const PAUSE_MUTANTS: readonly JobMutant[] = [
  [46, "a hand-out that fails for all pauses nothing", { failsForAll: () => false }],
  [12, "a build that fails alone pauses the pool", { failsForAll: () => true }],
  [46, "a pause never gets longer", { pauseMs: () => 1_000 }],
  [12, "a pause lasts for hours", { pauseMs: () => 3_600_000 }],
  [46, "a pause withholds nothing", { isPaused: () => false }],
  [46, "all builds are handed out after a pause", { triesOne: () => false }],
  [46, "an eviction ends a pause", { foundPause: () => null }],
];
