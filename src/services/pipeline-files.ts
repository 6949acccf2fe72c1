import { and, eq, isNull, sql } from "drizzle-orm";
import { sha256Hex } from "../crypto/digest.ts";
import { ensure, explainRollback, PreconditionFailed } from "../db/guard.ts";
import { pipeline, repository } from "../db/schema.ts";
import { refOf } from "../domain/git-ref.ts";
import { type FileSnapshot, readSnapshot, snapshotAfter } from "../domain/githost/file-snapshot.ts";
import type { Build } from "../protocol/build.ts";
import { auditRow } from "./core/commit.ts";
import type { Context } from "./core/context.ts";
import { Refusal, settled } from "./core/refusal.ts";
import { holderOf } from "./jobs.ts";
import { shownTriggers } from "./pipeline-triggers.ts";

type Row = typeof pipeline.$inferSelect;

/** The snapshot of a definition that stands in the record; null for a pipeline with a file, which an agent sends. */
export const snapshotOfDefinition = async (
  context: Context,
  definition: string | null,
): Promise<FileSnapshot | null> =>
  definition === null
    ? null
    : snapshotAfter(null, {
        ...{ text: definition, hash: await sha256Hex(definition), number: 0, commitSha: null, at: context.at },
      });

/**
 * Whether the build may say what its pipeline's file is: it builds the head of the default branch, where only those
 * write who may, and no later build said it.
 */
export const saysFile = (
  build: Pick<Build, "branch" | "trigger" | "number">,
  { definition, fileSnapshot }: Pick<Row, "definition" | "fileSnapshot">,
  { defaultBranch }: { defaultBranch: string },
): boolean =>
  definition === null &&
  build.trigger !== "retry" &&
  refOf(build.branch) === refOf(defaultBranch) &&
  build.number > (readSnapshot(fileSnapshot)?.number ?? 0);

/** A build that the caller holds, once it has begun. */
const heldBuild = async (context: Context, buildId: string): Promise<Build> => {
  const holder = await holderOf(context, buildId);
  const pool = context.objects.pool(context.orgId);
  settled(await pool.progress(holder));
  return settled(await pool.getBuild(buildId));
};

const pipelineOf = async (context: Context, { pipelineId, repoId }: Build) => {
  const [[found]] = await context.db.run(
    context.db.sql
      .select({ pipeline, repository })
      .from(pipeline)
      .innerJoin(repository, eq(repository.id, pipeline.repoId))
      .where(and(eq(pipeline.id, pipelineId ?? ""), eq(pipeline.orgId, context.orgId), eq(pipeline.repoId, repoId))),
  );
  return found;
};

/** Stores what was read, unless the pipeline has another file by now or a later build was faster. */
const store = async (context: Context, row: Row, build: Build, snapshot: FileSnapshot): Promise<void> => {
  const db = context.db.sql;
  const isSame = and(
    ...[eq(pipeline.id, row.id), eq(pipeline.configPath, row.configPath), isNull(pipeline.definition)],
    sql`coalesce(json_extract(${pipeline.fileSnapshot}, '$.number'), 0) < ${build.number}`,
  );
  const { source, builds, mistake } = shownTriggers({ ...row, fileSnapshot: snapshot });
  const { id: buildId, number, agentId } = build;
  const { commitSha, hash } = snapshot;
  const detail = { buildId, number, commitSha, hash, source, builds, mistake };
  try {
    await context.db.run(
      ensure(db, "unchanged", sql`EXISTS (SELECT 1 FROM ${pipeline} WHERE ${isSame})`),
      db.update(pipeline).set({ fileSnapshot: snapshot }).where(isSame),
      auditRow(context, { action: "pipeline.read-file", subject: row.id, detail, actor: `agent:${agentId}` }),
    );
  } catch (error) {
    if (!(explainRollback(error) instanceof PreconditionFailed)) throw error;
  }
};

/**
 * Takes the pipeline file that an agent found on the default branch, and keeps what it says of when the pipeline is
 * built. An empty text says that the commit has no such file. A file with mistakes leaves that as it was.
 * @throws Refusal conflict where the build is none that says it
 */
export const takeFile = async (context: Context, buildId: string, text: string): Promise<void> => {
  const build = await heldBuild(context, buildId);
  const found = await pipelineOf(context, build);
  if (!found || !saysFile(build, found.pipeline, found.repository))
    throw new Refusal("conflict", "This build does not say what its pipeline's file is.");
  const before = readSnapshot(found.pipeline.fileSnapshot);
  const hash = await sha256Hex(text);
  if (hash === before?.hash) return;
  const { number, commitSha } = build;
  const snapshot = snapshotAfter(before, { text, hash, number, commitSha, at: context.at });
  await store(context, found.pipeline, build, snapshot);
};
