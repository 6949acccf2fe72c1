import { type SQL, sql } from "drizzle-orm";
import { upkeepFailure } from "../../db/schema.ts";
import type { DatabaseSession } from "../../db/session.ts";
import { isOfOtherRelease } from "../../domain/durable-objects.ts";
import { log } from "../../log.ts";
import { MINUTE_MS, SECOND_MS } from "../../protocol/units.ts";

/** Returns minutes since 1970. Upkeep runs once in each minute. */
export const toMinute = (at: number): number => Math.floor(at / MINUTE_MS);

/** The state that a chore keeps from one run to the next. */
export interface Turn {
  /** The place where the next run continues, in the chore's own format; empty at the beginning. */
  place: string;
  /** Whether the next run continues at once, instead of after the chore's period. */
  goesOn: boolean;
}

/** The values that the chores of one run work with. */
export interface Upkeep {
  env: Env;
  db: DatabaseSession;
  /** Milliseconds since 1970. */
  now: number;
  /** The times before which ended builds, and audit entries, are past their retention. */
  buildsBefore: number;
  auditBefore: number;
  failures: Failures;
  /** The chore's turn, which the chore sets. A failed run continues where this one stopped. */
  turn: Turn;
}

/**
 * Returns a condition that holds while nobody is deleting the organization. A call would wake the organization's pool,
 * which is already deleted or will be soon.
 */
export const isKept = (orgId: SQL): SQL =>
  sql`NOT EXISTS (SELECT 1 FROM organization o WHERE o.id = ${orgId} AND o.deleting_at IS NOT NULL)`;

/** A chore's results for the log: numbers by name. */
export type Done = Record<string, number>;
export const NOTHING: Done = {};

/**
 * A part of upkeep. Interrupting it, repeating it, or running it twice at once does no harm. All chores of a run
 * together stay below a Worker's 10,000 subrequests and D1's 1,000 statements: each chore names its share as a
 * constant.
 */
export type Chore = (run: Upkeep) => Promise<Done>;

/** Minutes that a failed task waits at most before its next attempt. */
const LONGEST_BACKOFF_MINUTES = 60;
const REASON_CHARACTERS = 200;

/**
 * The tasks of upkeep, each of which is retried separately: a chore, a pool (its organization), a pool's builds, a
 * schedule, an organization's removal, and its cache's count.
 */
type FailureKind = "chore" | "sweep" | "removal" | "reconcile" | "schedule" | "count";

export interface Subject {
  kind: FailureKind;
  subject: string;
  orgId: string | null;
  /** The longest time before a retry, if it is less than an hour. */
  mostMinutes?: number;
}

class TooSlow extends Error {
  override name = "TooSlow";
}

const within = async <T>(ms: number, work: Promise<T>): Promise<T> => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TooSlow(`It took longer than ${ms / SECOND_MS} seconds.`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
};

/** Describes an error without values. A parser's error quotes its text, and a message its input. */
const describeError = (error: unknown): string => {
  if (!(error instanceof Error)) return "It failed without an error message.";
  if (error.name === "SyntaxError" || /\bJSON\b/.test(error.message)) return "The stored data does not parse.";
  const message = error.message.replaceAll(/"[^"]*"|'[^']*'|`[^`]*`/g, "...");
  return `${error.name}: ${message}`.slice(0, REASON_CHARACTERS);
};

/**
 * Sets aside tasks that fail or are slow, so that they block nothing else. Retries each subject separately, after a
 * growing time. `save` stores the results.
 */
export class Failures {
  readonly #db: DatabaseSession;
  readonly #now: number;
  readonly #failed: (Subject & { reason: string })[] = [];
  readonly #mended: Subject[] = [];

  constructor(db: DatabaseSession, now: number) {
    this.#db = db;
    this.#now = now;
  }

  /** Returns a query's condition. It holds for a row whose subject is not set aside now. */
  isDue(kind: FailureKind, subject: SQL): SQL {
    return sql`NOT EXISTS (SELECT 1 FROM ${upkeepFailure} f
      WHERE f.kind = ${kind} AND f.subject = ${subject} AND f.next_at > ${this.#now})`;
  }

  /**
   * Runs work for at most `ms` milliseconds.
   * @returns the work's value; null if it failed, or if an object runs another release
   */
  async attempt<T>(task: Subject, ms: number, work: () => Promise<T>): Promise<T | null> {
    try {
      const value = await within(ms, work());
      this.#mended.push(task);
      return value;
    } catch (error) {
      if (isOfOtherRelease(error)) return null;
      const reason = describeError(error);
      const { kind, subject, orgId } = task;
      log.error("upkeep.set_aside", { orgId, kind, subject, reason });
      this.#failed.push({ ...task, reason });
      return null;
    }
  }

  get count(): number {
    return this.#failed.length;
  }

  async save(): Promise<void> {
    const failed = JSON.stringify(this.#failed);
    const mended = JSON.stringify(this.#mended);
    const most = sql`coalesce(value ->> 'mostMinutes', ${LONGEST_BACKOFF_MINUTES})`;
    const tries = sql`coalesce(f.tries, 0)`;
    const queries = [
      this.#failed.length > 0 &&
        this.#db.statement(sql`INSERT INTO upkeep_failure (kind, subject, org_id, tries, next_at, reason)
          SELECT value ->> 'kind', value ->> 'subject', value ->> 'orgId', ${tries} + 1,
            ${this.#now} + min(${most}, 1 << min(${tries}, 10)) * ${MINUTE_MS}, value ->> 'reason'
          FROM json_each(${failed})
          LEFT JOIN upkeep_failure f ON f.kind = value ->> 'kind' AND f.subject = value ->> 'subject' WHERE true
          ON CONFLICT (kind, subject) DO UPDATE
            SET tries = excluded.tries, next_at = excluded.next_at, reason = excluded.reason`),
      this.#mended.length > 0 &&
        this.#db.statement(sql`DELETE FROM upkeep_failure WHERE (kind, subject) IN
          (SELECT value ->> 'kind', value ->> 'subject' FROM json_each(${mended}))`),
    ].filter((query) => query !== false);
    if (queries.length > 0) await this.#db.run(...queries);
  }
}
