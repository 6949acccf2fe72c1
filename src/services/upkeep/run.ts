import { type SQL, sql } from "drizzle-orm";
import { upkeepFailure } from "../../db/schema.ts";
import type { DatabaseSession } from "../../db/session.ts";
import { isOfOtherRelease } from "../../domain/durable-objects.ts";
import { log } from "../../log.ts";
import { MINUTE_MS, SECOND_MS } from "../../protocol/units.ts";

/** Minutes since 1970: upkeep runs once in each. */
export const toMinute = (at: number): number => Math.floor(at / MINUTE_MS);

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

/** The longest time until something that failed is tried again. */
const LONGEST_BACKOFF_MINUTES = 60;
const REASON_CHARACTERS = 200;

/**
 * What upkeep tries, each subject by itself: a chore, a pool (its organization), the builds of a pool, a schedule, the
 * removal of an organization, the count of its cache.
 */
type FailureKind = "chore" | "sweep" | "removal" | "reconcile" | "schedule" | "count";

export interface Subject {
  kind: FailureKind;
  subject: string;
  orgId: string | null;
  /** The longest time until it is tried again, where that is less than an hour. */
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

/** Why something failed, without values: a parser quotes what it read, and a message what it was given. */
const describeError = (error: unknown): string => {
  if (!(error instanceof Error)) return "It failed without a reason.";
  if (error.name === "SyntaxError" || /\bJSON\b/.test(error.message)) return "What is stored does not parse.";
  const message = error.message.replaceAll(/"[^"]*"|'[^']*'|`[^`]*`/g, "...");
  return `${error.name}: ${message}`.slice(0, REASON_CHARACTERS);
};

/**
 * Sets aside what fails or is slow, so that it holds up nothing else, and tries it again after a growing time. Each
 * subject is tried by itself; `save` writes down what came of it.
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

  /** The condition of a query that a row's subject is not set aside now. */
  isDue(kind: FailureKind, subject: SQL): SQL {
    return sql`NOT EXISTS (SELECT 1 FROM ${upkeepFailure} f
      WHERE f.kind = ${kind} AND f.subject = ${subject} AND f.next_at > ${this.#now})`;
  }

  /** Runs work of at most `ms` milliseconds. @returns its value; null where it failed, or an object is of another release */
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
