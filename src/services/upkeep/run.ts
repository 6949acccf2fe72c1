import type { DatabaseSession } from "../../db/session.ts";
import type { Failures } from "./failures.ts";

/** Minutes since 1970: upkeep runs once in each. */
export const minuteOf = (at: number): number => Math.floor(at / 60_000);

/** What the chores of one run work with. */
export interface Run {
  env: Env;
  db: DatabaseSession;
  /** Milliseconds since 1970. */
  now: number;
  /** Builds that ended before this time, and audit entries written before that one, are past their retention. */
  buildsBefore: number;
  auditBefore: number;
  failures: Failures;
}

/** What a chore did, for the log: numbers by name. */
export type Done = Record<string, number>;
export const NOTHING: Done = {};

/**
 * A part of upkeep. It may be interrupted, repeated, and run twice at once. All chores of a run together stay below
 * the 1,000 subrequests of a Worker: each names its share as a constant.
 */
export type Chore = (run: Run) => Promise<Done>;
