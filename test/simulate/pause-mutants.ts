import type { JobMutant } from "./job-mutants.ts";
import { planted } from "./planted.ts";

/** Machines with wrong pauses of the pool. */
export const PAUSE_MUTANTS: readonly JobMutant[] = [
  [
    46,
    "a hand-out that fails for all builds pauses nothing",
    planted("queue/commands/claim.ts", "if (request.isAway)", "if (false)"),
  ],
  [
    12,
    "a build that fails alone pauses the pool",
    planted("queue/commands/claim.ts", "if (request.isAway)", "if (true)"),
  ],
  [
    46,
    "a pause never gets longer",
    planted("queue/commands/pause.ts", "Math.min(FIRST_MS * 2 ** (failures - 1), MOST_MS)", "FIRST_MS"),
  ],
  [
    12,
    "a pause lasts for hours",
    planted("queue/commands/pause.ts", "Math.min(FIRST_MS * 2 ** (failures - 1), MOST_MS)", "3_600_000"),
  ],
  [46, "a pause withholds nothing", planted("queue/commands/pause.ts", "pause !== null && now < pause.until", "false")],
  [
    46,
    "all builds are handed out after a pause",
    planted("queue/commands/offers.ts", "this.#jobs.size > 0 && this.#state.pause !== null", "false"),
  ],
  [46, "an eviction ends a pause", planted("queue/commands/wake.ts", "latestPause(state) }", "null }")],
];
