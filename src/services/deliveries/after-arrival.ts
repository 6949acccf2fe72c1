import { and, eq, isNull, notExists, sql } from "drizzle-orm";
import type { Query } from "../../db/query.ts";
import { auditLog, pipeline, repository } from "../../db/schema.ts";
import { cloneOrigin } from "../../domain/clone-url.ts";
import { firstIdAt } from "../../domain/id-range.ts";
import { type Arrival, repositoryOf } from "../../githosts/core/arrival.ts";
import { nameHostContext } from "../../githosts/core/build-origin.ts";
import type { Effects } from "../../githosts/core/effect-facts.ts";
import { DAY_MS } from "../../protocol/units.ts";
import type { ConnectionRow } from "../connections/host-access.ts";
import type { Context } from "../core/context.ts";
import { type ArrivalRows, type PipelineRow, type RepositoryRow, storePushers } from "./arrival-rows.ts";
import { storePull } from "./open-pulls.ts";

/** Milliseconds for which a delivery may be late. Hosts redeliver for three days. */
const LATE_MS = 4 * DAY_MS;

/**
 * Returns the clone address under the new name. Returns null if the address may not follow the new name, or need not.
 */
const movedUrl = ({ cloneUrl, fullName, hasCredential }: RepositoryRow, origin: string, to: string): string | null => {
  if (hasCredential === 1 || cloneOrigin(cloneUrl) !== origin) return null;
  const end = [`/${fullName}.git`, `/${fullName}`].find((one) => cloneUrl.endsWith(one));
  return end === undefined ? null : cloneUrl.slice(0, -end.length) + end.replace(fullName, () => to);
};

const formerOf = (arrival: Arrival) => (arrival.kind === "renamed" ? arrival.from : undefined);

/** Returns the default branch after a change at the host. A default branch that a person chose here stays. */
const newDefault = ({ defaultBranch }: RepositoryRow, arrival: Arrival): string | null =>
  formerOf(arrival)?.defaultBranch === defaultBranch ? (repositoryOf(arrival)?.defaultBranch ?? null) : null;

/** Returns the record with the host's changes; null if the record already matches. */
const findChange = (row: RepositoryRow, { cloneOrigin: origin }: ConnectionRow, arrival: Arrival) => {
  const { fullName = row.fullName } = repositoryOf(arrival) ?? {};
  const defaultBranch = newDefault(row, arrival) ?? row.defaultBranch;
  if (fullName !== row.fullName) {
    const cloneUrl = movedUrl(row, origin, fullName) ?? row.cloneUrl;
    return { set: { fullName, cloneUrl, defaultBranch }, formerName: row.fullName };
  }
  return defaultBranch === row.defaultBranch ? null : { set: { fullName, cloneUrl: row.cloneUrl, defaultBranch } };
};

/** Returns the names that identify a late delivery: the name in the delivery, and the previous name. */
const namesInDoubt = ({ fullName }: RepositoryRow, name: string, arrival: Arrival): string[] => {
  const from = formerOf(arrival)?.fullName ?? null;
  if (name === fullName || from === fullName) return [];
  return from === null ? [name] : [name, from];
};

/**
 * Creates statements that set the repository's name and default branch to the host's, with an audit row. Creates none
 * if both match. A delivery cannot restore a name that the repository lost in the last days, unless the delivery
 * reports a rename from the current name. The clone address follows the name if it is on the connection's host, and if
 * no credential could be sent to another place.
 */
const renameStatements = (
  context: Context,
  row: RepositoryRow,
  connection: ConnectionRow,
  arrival: Arrival,
): Query[] => {
  const change = findChange(row, connection, arrival);
  if (!change) return [];
  const db = context.db.sql;
  const { set, ...former } = change;
  const inDoubt = JSON.stringify(namesInDoubt(row, set.fullName, arrival));
  const isLeft = and(
    eq(auditLog.orgId, context.orgId),
    eq(auditLog.subject, row.id),
    sql`${auditLog.id} > ${firstIdAt(context.now.getTime() - LATE_MS)}`,
    sql`${auditLog.detail} ->> '$.formerName' IN (SELECT value FROM json_each(${inDoubt}))`,
  );
  const mayChange = and(
    eq(repository.id, row.id),
    eq(repository.version, row.version),
    notExists(db.select({ id: auditLog.id }).from(auditLog).where(isLeft)),
  );
  const detail = JSON.stringify({ ...set, isActive: row.isActive, ...former });
  const audit = sql`SELECT ${context.orgId}, ${context.newId()}, ${context.at}, ${context.admitted.actor},
    ${"repository.update"}, ${row.id}, ${context.requestId}, ${detail} FROM ${repository} WHERE ${mayChange}`;
  return [
    db.insert(auditLog).select(audit),
    db
      .update(repository)
      .set({ ...set, version: row.version + 1, updatedAt: context.at })
      .where(mayChange),
  ];
};

/** Commits with a skip marker that a repository remembers. */
const SKIPPED_HEADS = 50;

/**
 * Remembers a pushed commit whose author skipped the build, because the deliveries of the commit's pull request do not
 * contain the skip marker.
 */
const rememberSkip = ({ db }: Context, { id }: RepositoryRow, sha: string): Query => {
  const others = sql`SELECT value FROM json_each(coalesce(${repository.skippedHeads}, '[]')) WHERE value <> ${sha}`;
  const newest = sql`SELECT ${sha} AS value UNION ALL SELECT * FROM (${others}) LIMIT ${SKIPPED_HEADS}`;
  return db.sql
    .update(repository)
    .set({ skippedHeads: sql`(SELECT json_group_array(value) FROM (${newest}))` })
    .where(eq(repository.id, id));
};

/** Stores status names for pipelines that were created before status names existed. */
const nameContexts = ({ db }: Context, pipelines: PipelineRow[], effects: Effects): Query[] =>
  pipelines
    .filter(({ id, hostContext }) => hostContext === null && effects.builds.some((one) => one.pipelineId === id))
    .map(({ id, name }) =>
      db.sql
        .update(pipeline)
        .set({ hostContext: nameHostContext(name) })
        .where(and(eq(pipeline.id, id), isNull(pipeline.hostContext))),
    );

interface RowsOfRepository extends ArrivalRows {
  connection: ConnectionRow;
  repository: RepositoryRow;
}

/**
 * Returns the statements that store a delivery in D1, after the pool has accepted the delivery. The service can repeat
 * each statement, and can run the statements in any order with other deliveries' statements.
 * @param isAgain whether a person redelivers an earlier delivery, which says nothing about names today
 */
export const afterArrival = (
  context: Context,
  { connection, repository, pipelines, pulls }: RowsOfRepository,
  arrival: Arrival,
  effects: Effects,
  isAgain: boolean,
): Query[] => {
  const statements = [...nameContexts(context, pipelines, effects), ...storePushers(context, repository, arrival)];
  if ("repository" in arrival && !isAgain) {
    statements.push(...renameStatements(context, repository, connection, arrival));
  }
  if (arrival.kind === "push" && arrival.isSkipped) statements.push(rememberSkip(context, repository, arrival.sha));
  if (arrival.kind === "pull" && effects.openPull) {
    statements.push(...storePull(context.db.sql, repository.id, pulls, arrival, context.now));
  }
  return statements;
};
