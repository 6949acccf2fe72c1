import type { Unclaim } from "./commands.ts";
import type { JobFacts, Pause } from "./facts.ts";

/** Milliseconds of the first pause, and of the longest. */
const FIRST_MS = 1_000;
const MOST_MS = 60_000;

/** The rules of a pool that pauses while every hand-out fails. The simulation replaces one at a time. */
export interface PauseRules {
  /** Whether a hand-out that was taken back shows that every other one would fail too. */
  failsForAll(request: Pick<Unclaim, "isAway">): boolean;
  /** Milliseconds until the next try, after so many hand-outs in a row that failed. */
  pauseMs(failures: number): number;
  /** Whether nothing is handed out. */
  isPaused(pause: Pause | null, now: number): boolean;
  /** Whether one build at a time is handed out, to see whether that works again. */
  triesOne(pause: Pause | null): boolean;
  /** The pause of a pool that was evicted: that of the job which was tried last. */
  foundPause(jobs: Iterable<JobFacts>): Pause | null;
}

export const PAUSE_RULES: PauseRules = {
  failsForAll: ({ isAway }) => isAway === true,
  pauseMs: (failures) => Math.min(FIRST_MS * 2 ** (failures - 1), MOST_MS),
  isPaused: (pause, now) => pause !== null && now < pause.until,
  triesOne: (pause) => pause !== null,
  foundPause: (jobs) => {
    let found: Pause | null = null;
    for (const { pause, lease } of jobs) {
      if (pause && (!found || found.until < pause.until)) found = { ...pause, fence: lease?.fence ?? null };
    }
    return found;
  },
};
