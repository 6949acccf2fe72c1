import { asc, gt, sql } from "drizzle-orm";
import { organization } from "../../db/schema.ts";
import type { Context } from "../core/context.ts";

/** The number of pools, or of one pool's logs, that a walk calls at the same time. */
const AT_ONCE = 10;

/**
 * Calls to objects after which a walk begins no other organization. Each organization takes two calls, and one for each
 * open log.
 */
const CALLS = 900;

/** The number of values in objects by the id of the key that sealed them. */
export type ObjectCounts = Record<string, { inputs: number; logs: number }>;

export const addCounts = (to: ObjectCounts, more: ObjectCounts): void => {
  for (const [keyId, { inputs, logs }] of Object.entries(more)) {
    to[keyId] ??= { inputs: 0, logs: 0 };
    to[keyId].inputs += inputs;
    to[keyId].logs += logs;
  }
};

export interface Walk {
  /** The counts of all visited organizations, after resealing. */
  counts: ObjectCounts;
  rewrapped: number;
  unopenable: string[];
  /** The last visited organization; null if no other organization follows. */
  after: string | null;
  /** The organization up to which every value that opens is sealed with the current key, with the counts up to it. */
  done: { after: string; counts: ObjectCounts; isAll: boolean };
}

const each = async <T, R>(items: readonly T[], act: (item: T) => Promise<R>): Promise<R[]> => {
  const results: R[] = [];
  for (let from = 0; from < items.length; from += AT_ONCE)
    results.push(...(await Promise.all(items.slice(from, from + AT_ONCE).map(act))));
  return results;
};

/** A walk through the objects of organizations, in the order of their ids. */
class Walker {
  readonly #context: Context;
  readonly #keyId: string;
  #rest: number;
  #calls = 0;
  readonly unopenable: string[] = [];
  rewrapped = 0;

  constructor(context: Context, keyId: string, limit: number) {
    this.#context = context;
    this.#keyId = keyId;
    this.#rest = limit;
  }

  get isTired(): boolean {
    return this.#calls >= CALLS;
  }

  /**
   * Returns the inputs by key, and the ids of logs that may hold sealed masks, which are logs of active jobs after
   * their hand-out.
   */
  async ask(orgId: string) {
    const pool = this.#context.objects.pool(orgId);
    this.#calls += 2;
    const [inputs, logs] = await Promise.all([pool.sealedInputs(), pool.handedOutBuilds()]);
    return { orgId, inputs, logs };
  }

  /** Reseals as many values as it may, and counts the values. @returns `old`: how many values wait for another call */
  async visit({ orgId, inputs: before, logs }: Awaited<ReturnType<Walker["ask"]>>) {
    let [inputs, unopenable] = [before, 0];
    if (this.#rest > 0 && this.#countOld(inputs) > 0) {
      const pool = this.#context.objects.pool(orgId);
      this.#calls += 2;
      const done = await pool.rewrapInputs(orgId, this.#rest);
      this.#note(done.rewrapped, done.unopenable);
      unopenable = done.unopenable.length;
      inputs = await pool.sealedInputs();
    }
    const counts: ObjectCounts = {};
    for (const [keyId, more] of Object.entries(inputs)) addCounts(counts, { [keyId]: { inputs: more, logs: 0 } });
    const sealed = await each(logs, (jobId) => this.#log(orgId, jobId));
    for (const keyId of sealed) if (keyId !== null) addCounts(counts, { [keyId]: { inputs: 0, logs: 1 } });
    const oldLogs = sealed.filter((keyId) => keyId !== null && keyId !== this.#keyId).length;
    return { counts, old: Math.max(0, this.#countOld(inputs) - unopenable) + (this.#rest > 0 ? 0 : oldLogs) };
  }

  #countOld(inputs: Record<string, number>): number {
    return Object.entries(inputs).reduce((sum, [keyId, count]) => sum + (keyId === this.#keyId ? 0 : count), 0);
  }

  #note(rewrapped: number, unopenable: string[]): void {
    this.rewrapped += rewrapped;
    this.#rest -= rewrapped;
    this.unopenable.push(...unopenable);
  }

  /** Reseals a log's masks if necessary. @returns the key of the log's masks afterwards */
  async #log(orgId: string, jobId: string): Promise<string | null> {
    const log = this.#context.objects.log(orgId, jobId);
    this.#calls += 1;
    const keyId = await log.sealedWith();
    if (keyId === null || keyId === this.#keyId || this.#rest <= 0) return keyId;
    this.#calls += 1;
    const done = await log.rewrap();
    this.#note(done.ok && done.value.isChanged ? 1 : 0, done.ok ? [] : [jobId]);
    return done.ok ? done.value.keyId : keyId;
  }
}

/** Continues the walk after `from`, for a bounded number of calls, and reseals up to `limit` values. */
export const walkObjects = async (context: Context, keyId: string, from: string, limit: number): Promise<Walk> => {
  const { sql: db } = context.db;
  const ids = db.select({ id: organization.id }).from(organization).where(gt(organization.id, from));
  const [orgs] = await context.db.run(ids.orderBy(asc(organization.id)).limit(CALLS));
  const walker = new Walker(context, keyId, limit);
  const counts: ObjectCounts = {};
  const done: Walk["done"] = { after: from, counts: {}, isAll: true };
  let visited = 0;
  const visit = async (answers: Awaited<ReturnType<Walker["ask"]>>): Promise<void> => {
    const { counts: more, old } = await walker.visit(answers);
    visited++;
    addCounts(counts, more);
    done.isAll &&= old === 0;
    if (!done.isAll) return;
    addCounts(done.counts, more);
    done.after = answers.orgId;
  };
  while (visited < orgs.length && !walker.isTired) {
    const answers = await Promise.all(orgs.slice(visited, visited + AT_ONCE).map(({ id }) => walker.ask(id)));
    for (const [nth, one] of answers.entries()) if (nth === 0 || !walker.isTired) await visit(one);
  }
  const isEnd = visited === orgs.length && orgs.length < CALLS;
  const { rewrapped, unopenable } = walker;
  return { counts, rewrapped, unopenable, done, after: isEnd ? null : (orgs[visited - 1]?.id ?? null) };
};

/*
 * The progress of a rotation. One call visits a limited number of organizations. If there are more organizations,
 * several calls complete a round together, and the database stores their progress. The next caller needs no knowledge
 * of the round in order to continue it.
 */
interface Round {
  keyId: string;
  /** The organization up to which the round is complete. */
  after: string;
  counts: ObjectCounts;
  /**
   * Whether the round resealed a value. The next round finds values that reached the earlier organizations meanwhile.
   */
  hasSealed: boolean;
}

const newRound = (keyId: string): Round => ({ keyId, after: "", counts: {}, hasSealed: false });

/** Returns the round in progress, with its text in the database. */
export const openRound = async (context: Context, keyId: string): Promise<{ round: Round; text: string }> => {
  const [result] = await context.db.run(
    context.db.statement<{ text: string }>(
      sql`SELECT reason AS text FROM upkeep_failure WHERE kind = 'turn' AND subject = 'rewrap'`,
    ),
  );
  const text = result.results[0]?.text ?? "";
  const before = text === "" ? null : (JSON.parse(text) as Round);
  return { round: before?.keyId === keyId ? before : newRound(keyId), text };
};

/** Returns the round after this walk; null if the walk completed the round, or was all of it. */
export const roundAfter = (round: Round, { done, after, rewrapped }: Walk): Round | null => {
  if (after === null && (done.isAll || round.after === "")) return null;
  const counts = structuredClone(round.counts);
  addCounts(counts, done.counts);
  return { ...round, after: done.after, counts, hasSealed: round.hasSealed || rewrapped > 0 };
};

/** Stores the round, unless another call was faster. @returns whether the round is stored */
export const keepRound = async (context: Context, before: string, round: Round | null): Promise<boolean> => {
  const text = round === null ? "" : JSON.stringify(round);
  if (text === before) return true;
  const [result] = await context.db.run(
    context.db.statement<{
      subject: string;
    }>(sql`INSERT INTO upkeep_failure (kind, subject, org_id, tries, next_at, reason)
      VALUES ('turn', 'rewrap', NULL, 0, 0, ${text})
      ON CONFLICT (kind, subject) DO UPDATE SET reason = excluded.reason WHERE upkeep_failure.reason = ${before}
      RETURNING subject`),
  );
  return result.results.length > 0;
};
