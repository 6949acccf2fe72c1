import { and, eq, isNull, sql } from "drizzle-orm";
import type { Query } from "../../db/query.ts";
import { pipeline, repository } from "../../db/schema.ts";
import type { Arrival } from "../../domain/githost/arrival.ts";
import { hostContextOf } from "../../domain/githost/host-target.ts";
import type { Planned } from "../../domain/githost/plan-facts.ts";
import type { Context } from "../core/context.ts";
import type { ConnectionRow } from "../host-access.ts";
import type { ArrivalRows, PipelineRow, RepositoryRow } from "./arrival-rows.ts";
import { storePushers } from "./listed-pushes.ts";
import { storePull } from "./open-pulls.ts";
import { renameStatements } from "./renames.ts";

/** Commits of a repository that are remembered for their skip marker. */
const SKIPPED_HEADS = 50;

/** Remembers a pushed commit whose author asked for no build: its pull request does not say so. */
const rememberSkip = ({ db }: Context, { id }: RepositoryRow, sha: string): Query => {
  const known = sql`SELECT value FROM json_each(coalesce(${repository.skippedHeads}, '[]')) WHERE value <> ${sha}`;
  const newest = sql`SELECT ${sha} AS value UNION ALL SELECT * FROM (${known}) LIMIT ${SKIPPED_HEADS}`;
  return db.sql
    .update(repository)
    .set({ skippedHeads: sql`(SELECT json_group_array(value) FROM (${newest}))` })
    .where(eq(repository.id, id));
};

/** Keeps the names of the states of pipelines that were made before they had one. */
const nameContexts = ({ db }: Context, pipelines: PipelineRow[], planned: Planned): Query[] =>
  pipelines
    .filter(({ id, hostContext }) => hostContext === null && planned.builds.some((one) => one.pipelineId === id))
    .map(({ id, name }) =>
      db.sql
        .update(pipeline)
        .set({ hostContext: hostContextOf(name) })
        .where(and(eq(pipeline.id, id), isNull(pipeline.hostContext))),
    );

interface After extends ArrivalRows {
  connection: ConnectionRow;
  repository: RepositoryRow;
}

/**
 * What D1 keeps of a delivery, once the pool has taken it. Each statement may be repeated, and run in any order with
 * those of other deliveries.
 * @param isAgain A person takes a delivery of an earlier time once more: it says nothing of names today.
 */
export const afterArrival = (
  context: Context,
  { connection, repository, pipelines, pulls }: After,
  arrival: Arrival,
  planned: Planned,
  isAgain: boolean,
): Query[] => {
  const statements = [...nameContexts(context, pipelines, planned), ...storePushers(context, repository, arrival)];
  if ("repository" in arrival && !isAgain) {
    statements.push(...renameStatements(context, repository, connection, arrival));
  }
  if (arrival.kind === "push" && arrival.isSkipped) statements.push(rememberSkip(context, repository, arrival.sha));
  if (arrival.kind === "pull" && planned.openPull) {
    statements.push(...storePull(context.db.sql, repository.id, pulls, arrival, context.now));
  }
  return statements;
};
