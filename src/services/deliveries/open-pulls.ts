import { and, eq, lt, sql } from "drizzle-orm";
import type { Database, Query } from "../../db/query.ts";
import { openPull } from "../../db/schema.ts";
import type { Arrival } from "../../githosts/core/arrival.ts";
import { type OpenPull, refOfPull } from "../../githosts/core/effect-facts.ts";
import { DAY_MS } from "../../protocol/units.ts";
import type { OpenPullRow } from "./arrival-rows.ts";

type PullChange = Extract<Arrival, { kind: "pull" }>;

/**
 * The ref in a closed pull request's row, which equals no branch. The row keeps late events from reopening the pull
 * request.
 */
const CLOSED = "";
/** Milliseconds for which the service keeps a closed pull request's row. Hosts redeliver for three days. */
const KEPT_MS = 4 * DAY_MS;
/** The time of a pull request whose host never sends a time. It precedes all other times. */
const NEVER = new Date(0).toISOString();

const isClosed = ({ ref }: OpenPullRow): boolean => ref === CLOSED;

/** Returns the open pull requests, as `decideEffects` accepts them. */
export const toOpenPulls = (rows: OpenPullRow[]): OpenPull[] =>
  rows
    .filter((row) => !isClosed(row))
    .map(({ number, ref, base, headSha, draft, labels, author, title }) => ({
      number,
      ref,
      base,
      sha: headSha,
      isDraft: draft,
      labels,
      author,
      title: title ?? "",
    }));

const findRow = (rows: OpenPullRow[], { pull }: PullChange): OpenPullRow | undefined =>
  rows.find(({ number }) => number === pull.number);

/** Adds the author that an earlier change named. GitLab names authors only in their own changes. */
export const withAuthor = (rows: OpenPullRow[], arrival: Arrival): Arrival => {
  if (arrival.kind !== "pull" || arrival.pull.author !== null) return arrival;
  return { ...arrival, pull: { ...arrival.pull, author: findRow(rows, arrival)?.author ?? null } };
};

/**
 * Reports whether the service knows a later change of the pull request. If two changes have the same second, the close
 * counts.
 */
export const isLate = (rows: OpenPullRow[], change: PullChange): boolean => {
  const { updatedAt } = change.pull;
  const row = findRow(rows, change);
  if (!row || updatedAt === null) return false;
  if (updatedAt !== row.updatedAt) return updatedAt < row.updatedAt;
  return isClosed(row) && change.action !== "reopened" && change.action !== "closed";
};

/**
 * Creates statements that store a change of a pull request. They can run in any order and repeatedly, because the
 * host's latest time counts.
 */
export const storePull = (
  db: Database,
  repoId: string,
  rows: OpenPullRow[],
  change: PullChange,
  now: Date,
): Query[] => {
  const { sha, action, pull } = change;
  const isClose = action === "closed";
  const row: OpenPullRow = {
    repoId,
    number: pull.number,
    ref: isClose ? CLOSED : refOfPull(change),
    base: pull.base,
    headSha: sha,
    draft: pull.isDraft,
    labels: pull.labels,
    author: pull.author,
    title: pull.title,
    updatedAt: pull.updatedAt ?? findRow(rows, change)?.updatedAt ?? NEVER,
  };
  const { repoId: _, number: __, ...changed } = row;
  const isNewer = sql`excluded.updated_at > ${openPull.updatedAt}`;
  const isOfSameTime = sql`excluded.updated_at = ${openPull.updatedAt}`;
  const mayFollow = isClose || action === "reopened" ? sql`1` : sql`${openPull.ref} <> ${CLOSED}`;
  const upsert = db
    .insert(openPull)
    .values(row)
    .onConflictDoUpdate({
      target: [openPull.repoId, openPull.number],
      set: changed,
      setWhere: sql`${isNewer} OR (${isOfSameTime} AND ${mayFollow})`,
    });
  if (!isClose) return [upsert];
  const before = new Date(now.getTime() - KEPT_MS).toISOString();
  const isForgotten = and(eq(openPull.repoId, repoId), eq(openPull.ref, CLOSED), lt(openPull.updatedAt, before));
  return [upsert, db.delete(openPull).where(isForgotten)];
};
