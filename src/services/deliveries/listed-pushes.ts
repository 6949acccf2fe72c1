import { and, eq, inArray, sql } from "drizzle-orm";
import type { Database, Query } from "../../db/query.ts";
import { listedPush } from "../../db/schema.ts";
import type { Arrival } from "../../githosts/core/arrival.ts";
import { learnPushers, type PushedBy } from "../../githosts/core/pushed-by.ts";
import { listedOf } from "../../githosts/core/source.ts";
import type { Context } from "../core/context.ts";
import type { RepositoryRow } from "./arrival-rows.ts";

/** How long a commit is known whose branch may be gone: its pull request can be opened again, with the branch. */
const COMMIT_MS = 365 * 86_400_000;

/** What is remembered of a delivery's ref and commits. */
export const pushedByOf = ({ pushedBy }: RepositoryRow): PushedBy[] => JSON.parse(pushedBy ?? "[]") as PushedBy[];

/** What a repository says of whose code may be built, and how. */
export const rulesOf = ({ defaultBranch, forks, untrustedAuthors }: RepositoryRow) => ({
  ...{ defaultBranch, forks, untrustedAuthors: untrustedAuthors ?? [] },
});

/** Statements that store what a delivery says of who pushed what. */
export const storePushers = ({ db, now }: Context, row: RepositoryRow, arrival: Arrival): Query[] => {
  const { added, forgotten } = learnPushers(arrival, pushedByOf(row), rulesOf(row));
  const until = new Date(now.getTime() + COMMIT_MS).toISOString();
  const rows = added.map((one) => ({ ...one, until: one.name.startsWith("refs/") ? null : until }));
  // Each value by itself would be too many: a statement binds a hundred.
  const listed = sql`SELECT ${row.id}, value ->> 'name', value ->> 'login', value ->> 'until'
    FROM json_each(${JSON.stringify(rows)}) WHERE true`;
  const isForgotten = and(eq(listedPush.repoId, row.id), inArray(listedPush.name, forgotten));
  return [
    ...(rows.length > 0 ? [db.sql.insert(listedPush).select(listed).onConflictDoNothing()] : []),
    ...(forgotten.length > 0 ? [db.sql.delete(listedPush).where(isForgotten)] : []),
  ];
};

/** What an author pushed is trusted once a maintainer takes them off the list, also where they are listed again. */
export const forgetUnlisted = (
  db: Database,
  { id, untrustedAuthors }: Pick<RepositoryRow, "id" | "untrustedAuthors">,
  listed: string[],
): Query[] => {
  const before = untrustedAuthors ?? [];
  const still = listedOf({ untrustedAuthors: listed }, before);
  const unlisted = before.map((login) => login.toLowerCase()).filter((login) => !still.includes(login));
  if (unlisted.length === 0) return [];
  return [db.delete(listedPush).where(and(eq(listedPush.repoId, id), inArray(listedPush.login, unlisted)))];
};
