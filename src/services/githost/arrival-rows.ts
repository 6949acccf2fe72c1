import { and, eq, inArray, or, type SQL, sql } from "drizzle-orm";
import { connection, openPull, pipeline, repository } from "../../db/schema.ts";
import { refOf } from "../../domain/git-ref.ts";
import type { Arrival, HostRepository } from "../../domain/githost/arrival.ts";
import type { Context } from "../core/context.ts";

export type ConnectionRow = typeof connection.$inferSelect;
export type RepositoryRow = typeof repository.$inferSelect & { hasCredential: number };
export type PipelineRow = typeof pipeline.$inferSelect;
export type OpenPullRow = typeof openPull.$inferSelect;

/** What D1 knows of what a delivery tells of. `repository` is null where nobody added it, or not for this connection. */
export interface ArrivalRows {
  connection: ConnectionRow | null;
  repository: RepositoryRow | null;
  /** The active ones of the repository, the oldest first. */
  pipelines: PipelineRow[];
  /** Of the ref of the delivery, and the one of its number. */
  pulls: OpenPullRow[];
}

const hasCredential = sql<number>`EXISTS (SELECT 1 FROM credential AS c WHERE c.repo_id = repository.id)`;

/** The repository that a delivery tells of; null where it tells of none. */
export const repositoryOf = (arrival: Arrival): HostRepository | null =>
  "repository" in arrival ? arrival.repository : null;

const pullsOf = (arrival: Arrival): SQL | undefined => {
  if (arrival.kind === "pull") {
    return or(eq(openPull.ref, refOf(arrival.pull.branch)), eq(openPull.number, arrival.pull.number));
  }
  return arrival.kind === "push" ? eq(openPull.ref, arrival.ref) : undefined;
};

/** Reads all of it in one batch. */
export const readArrivalRows = async (
  { db, orgId }: Context,
  connectionId: string,
  arrival: Arrival,
): Promise<ArrivalRows> => {
  const ofConnection = db.sql
    .select()
    .from(connection)
    .where(and(eq(connection.orgId, orgId), eq(connection.id, connectionId)));
  const told = repositoryOf(arrival);
  if (told === null) {
    const [[found]] = await db.run(ofConnection);
    return { connection: found ?? null, repository: null, pipelines: [], pulls: [] };
  }
  const isTold = and(
    ...[eq(repository.orgId, orgId), eq(repository.connectionId, connectionId)],
    ...[eq(repository.gitHostRepoId, told.id), eq(repository.isActive, true)],
  );
  const ids = db.sql.select({ id: repository.id }).from(repository).where(isTold);
  const isOfRef = pullsOf(arrival);
  const [[found], [foundRepository], pipelines, pulls] = await db.run(
    ofConnection,
    db.sql.select({ row: repository, hasCredential }).from(repository).where(isTold),
    db.sql
      .select()
      .from(pipeline)
      .where(and(eq(pipeline.orgId, orgId), inArray(pipeline.repoId, ids), eq(pipeline.isActive, true)))
      .orderBy(pipeline.id),
    db.sql
      .select()
      .from(openPull)
      .where(isOfRef ? and(inArray(openPull.repoId, ids), isOfRef) : sql`0`),
  );
  return {
    connection: found ?? null,
    repository: foundRepository ? { ...foundRepository.row, hasCredential: foundRepository.hasCredential } : null,
    pipelines,
    pulls,
  };
};
