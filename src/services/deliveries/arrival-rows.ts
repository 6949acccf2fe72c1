import { and, desc, eq, getTableColumns, inArray, or, sql } from "drizzle-orm";
import { compiled } from "../../db/compiled.ts";
import type { Database, Query } from "../../db/query.ts";
import { connection, listedPush, openPull, pipeline, repository } from "../../db/schema.ts";
import { type Arrival, repositoryOf } from "../../githosts/core/arrival.ts";
import { refOfPull } from "../../githosts/core/effect-facts.ts";
import { filterListed, findPlaces, learnPushers, type PushedBy } from "../../githosts/core/source-trust.ts";
import { DAY_MS } from "../../protocol/units.ts";
import type { ConnectionRow } from "../connections/host-access.ts";
import type { Context } from "../core/context.ts";

/**
 * A repository's row for a delivery. `pushedBy` has the stored authors of the delivery's ref and commits, as JSON; it
 * is null if they would decide nothing.
 */
export type RepositoryRow = typeof repository.$inferSelect & { hasCredential: number; pushedBy: string | null };
export type PipelineRow = typeof pipeline.$inferSelect;
export type OpenPullRow = typeof openPull.$inferSelect;

/** D1's rows about a delivery. `repository` is null if nobody added it, or if it was added for another connection. */
export interface ArrivalRows {
  connection: ConnectionRow | null;
  repository: RepositoryRow | null;
  /** The repository's active pipelines, the oldest first. */
  pipelines: PipelineRow[];
  /** Pull requests with the delivery's ref or number. */
  pulls: OpenPullRow[];
}

const parameter = (name: string) => sql.placeholder(name);

const connectionRows = compiled(getTableColumns(connection), (db) =>
  db
    .select()
    .from(connection)
    .where(and(eq(connection.orgId, parameter("orgId")), eq(connection.id, parameter("connectionId")))),
);

const isTold = and(
  eq(repository.orgId, parameter("orgId")),
  eq(repository.connectionId, parameter("connectionId")),
  eq(repository.gitHostRepoId, parameter("hostRepoId")),
  eq(repository.isActive, true),
);
const idsOfTold = (db: Database) => db.select({ id: repository.id }).from(repository).where(isTold);

const isOfPlaces = and(
  eq(listedPush.repoId, repository.id),
  inArray(listedPush.name, [parameter("ref"), parameter("sha"), parameter("before")]),
);
/** Selects the authors as one value instead of rows, so that repositories without a list read nothing more. */
const PUSHED_BY = sql<
  string | null
>`CASE WHEN ${repository.untrustedAuthors} IS NOT NULL OR ${repository.forks} = 'members'
  THEN (SELECT json_group_array(json_object('name', ${listedPush.name}, 'login', ${listedPush.login}))
    FROM ${listedPush} WHERE ${isOfPlaces}) END`;

const REPOSITORY = {
  ...getTableColumns(repository),
  hasCredential: sql<number>`EXISTS (SELECT 1 FROM credential AS c WHERE c.repo_id = repository.id)`.as(
    "has_credential",
  ),
  pushedBy: PUSHED_BY.as("pushed_by"),
};
const repositoryRows = compiled(REPOSITORY, (db) => db.select(REPOSITORY).from(repository).where(isTold));

const pipelineRows = compiled(getTableColumns(pipeline), (db) =>
  db
    .select()
    .from(pipeline)
    .where(
      and(eq(pipeline.orgId, parameter("orgId")), inArray(pipeline.repoId, idsOfTold(db)), eq(pipeline.isActive, true)),
    )
    .orderBy(pipeline.id),
);

/** Pull requests of one ref that a delivery reads at most. Anyone who can push can open one into each other branch. */
const MOST_PULLS = 100;

/**
 * Finds the pull requests with the ref, and the pull request with the number, if the number is known. The pull request
 * with the number comes first.
 */
const pullRows = compiled(getTableColumns(openPull), (db, shape) => {
  const isOfRef = eq(openPull.ref, parameter("ref"));
  const isOfNumber = shape.includes("number") ? eq(openPull.number, parameter("number")) : undefined;
  return db
    .select()
    .from(openPull)
    .where(and(inArray(openPull.repoId, idsOfTold(db)), or(isOfRef, isOfNumber)))
    .orderBy(...(isOfNumber ? [desc(isOfNumber)] : []), openPull.number)
    .limit(MOST_PULLS);
});

/** Returns the search key for a delivery's pull requests; null if the delivery has no such key. */
const findPullKey = (arrival: Arrival): { ref: string; number?: number } | null => {
  if (arrival.kind === "pull") return { ref: refOfPull(arrival), number: arrival.pull.number };
  return arrival.kind === "push" ? { ref: arrival.ref } : null;
};

/** Reads all rows for a delivery in one batch. */
export const readArrivalRows = async (
  { db, orgId }: Context,
  connectionId: string,
  arrival: Arrival,
): Promise<ArrivalRows> => {
  const hostRepository = repositoryOf(arrival);
  const key = findPullKey(arrival);
  const values = { orgId, connectionId, hostRepoId: hostRepository?.id };
  const [connections, [repositories, pipelines], [pulls]] = await Promise.all([
    db.run(db.bind(connectionRows, values)),
    hostRepository
      ? db.run(db.bind(repositoryRows, { ...values, ...findPlaces(arrival) }), db.bind(pipelineRows, values))
      : [[], []],
    hostRepository && key ? db.run(db.bind(pullRows, { ...values, ...key }, Object.keys(key))) : [[]],
  ]);
  return { connection: connections[0][0] ?? null, repository: repositories[0] ?? null, pipelines, pulls };
};

/**
 * Milliseconds for which the service remembers a commit, even if its branch was deleted: a person can reopen its pull
 * request, with the branch.
 */
const COMMIT_MS = 365 * DAY_MS;

/** Returns the stored authors of a delivery's ref and commits. */
export const readPushedBy = ({ pushedBy }: RepositoryRow): PushedBy[] => JSON.parse(pushedBy ?? "[]") as PushedBy[];

/** Returns the repository's rules about whose code may be built, and how. */
export const readRules = ({ defaultBranch, forks, untrustedAuthors }: RepositoryRow) => ({
  defaultBranch,
  forks,
  untrustedAuthors: untrustedAuthors ?? [],
});

/** Creates statements that store who pushed which refs and commits, according to a delivery. */
export const storePushers = ({ db, now }: Context, row: RepositoryRow, arrival: Arrival): Query[] => {
  const { added, forgotten } = learnPushers(arrival, readPushedBy(row), readRules(row));
  const until = new Date(now.getTime() + COMMIT_MS).toISOString();
  const rows = added.map((one) => ({ ...one, until: one.name.startsWith("refs/") ? null : until }));
  // One parameter for each value would be too many, because a statement binds at most a hundred.
  const listed = sql`SELECT ${row.id}, value ->> 'name', value ->> 'login', value ->> 'until'
    FROM json_each(${JSON.stringify(rows)}) WHERE true`;
  const isForgotten = and(eq(listedPush.repoId, row.id), inArray(listedPush.name, forgotten));
  return [
    ...(rows.length > 0 ? [db.sql.insert(listedPush).select(listed).onConflictDoNothing()] : []),
    ...(forgotten.length > 0 ? [db.sql.delete(listedPush).where(isForgotten)] : []),
  ];
};

/**
 * Creates statements that trust an author's earlier pushes once a maintainer takes the author off the list. If the
 * maintainer lists the author again, these pushes stay trusted.
 */
export const forgetUnlisted = (
  db: Database,
  { id, untrustedAuthors }: Pick<RepositoryRow, "id" | "untrustedAuthors">,
  listed: string[],
): Query[] => {
  const before = untrustedAuthors ?? [];
  const still = filterListed({ untrustedAuthors: listed }, before);
  const unlisted = before.map((login) => login.toLowerCase()).filter((login) => !still.includes(login));
  if (unlisted.length === 0) return [];
  return [db.delete(listedPush).where(and(eq(listedPush.repoId, id), inArray(listedPush.login, unlisted)))];
};
