import { type SQL, sql } from "drizzle-orm";
import type { DatabaseSession } from "../../db/session.ts";
import type { Failures } from "./failures.ts";

/** Minutes since 1970: upkeep runs once in each. */
export const minuteOf = (at: number): number => Math.floor(at / 60_000);

/** What a chore remembers from one run to the next. */
export interface Turn {
  /** Where the next run goes on, in the chore's own words; empty at the beginning. */
  place: string;
  /** Whether the next run goes on at once, and not after the chore's period. */
  goesOn: boolean;
}

/** What the chores of one run work with. */
export interface Upkeep {
  env: Env;
  db: DatabaseSession;
  /** Milliseconds since 1970. */
  now: number;
  /** Builds that ended before this time, and audit entries written before that one, are past their retention. */
  buildsBefore: number;
  auditBefore: number;
  failures: Failures;
  /** The chore sets it. A run that fails goes on where this one did. */
  turn: Turn;
}

/** The condition of a query that nobody deletes the organization: a call would wake its pool, which is gone or about to be. */
export const isKept = (orgId: SQL): SQL =>
  sql`NOT EXISTS (SELECT 1 FROM organization o WHERE o.id = ${orgId} AND o.deleting_at IS NOT NULL)`;

/** What a chore did, for the log: numbers by name. */
export type Done = Record<string, number>;
export const NOTHING: Done = {};

/**
 * A part of upkeep. It may be interrupted, repeated, and run twice at once. All chores of a run together stay below
 * the 10,000 subrequests of a Worker and the 1,000 statements of D1: each names its share as a constant.
 */
export type Chore = (run: Upkeep) => Promise<Done>;
