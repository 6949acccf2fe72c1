import { and, eq, isNull, sql } from "drizzle-orm";
import { sha256Hex } from "../../crypto/encoding.ts";
import { ensure, explainRollback, PreconditionFailed } from "../../db/guard.ts";
import { pipeline, repository } from "../../db/schema.ts";
import { refOf } from "../../domain/git-ref.ts";
import { type FileSnapshot, readSnapshot, snapshotAfter } from "../../githosts/core/file-snapshot.ts";
import {
  DEFAULT_TRIGGERS,
  readWrittenOn,
  SUPERSEDE,
  type Triggers,
  triggerWords,
} from "../../pipeline/triggers/triggers.ts";
import type { Build } from "../../protocol/build.ts";
import type { PipelineTriggers } from "../../protocol/pipeline.ts";
import { auditRow } from "../core/commit.ts";
import type { Context } from "../core/context.ts";
import { isOwn } from "../core/record.ts";
import { Refusal, settled } from "../core/refusal.ts";
import { readHolder } from "../jobs/jobs.ts";
import { syncFileSchedules } from "../schedules/schedules-of-file.ts";

type Stored = Pick<typeof pipeline.$inferSelect, "on" | "supersede" | "fileSnapshot">;

/**
 * Returns the triggers that start and end a pipeline's builds. The triggers are in the pipeline's record, or else in
 * its file on the default branch; otherwise the defaults apply. Never throws because of stored values: it ignores
 * unreadable ones.
 */
export const readTriggers = ({ on, supersede, fileSnapshot }: Stored): Triggers => {
  const file: Triggers = readSnapshot(fileSnapshot) ?? DEFAULT_TRIGGERS;
  return {
    on: (on && readWrittenOn(on)) ?? file.on,
    supersede: SUPERSEDE.find((one) => one === supersede) ?? file.supersede,
    schedule: file.schedule,
  };
};

/** Returns the triggers as the pipeline's record shows them, with their source. */
export const shownTriggers = (row: Stored): PipelineTriggers => {
  const { on, supersede } = readTriggers(row);
  const snapshot = readSnapshot(row.fileSnapshot);
  return {
    source: row.on && readWrittenOn(row.on) ? "record" : snapshot?.isRead ? "file" : "default",
    builds: triggerWords(on),
    supersede,
    commitSha: snapshot?.commitSha ?? null,
    readAt: snapshot?.at ?? null,
    mistake: snapshot?.mistake ?? null,
  };
};

type Row = typeof pipeline.$inferSelect;

/**
 * Returns the snapshot of a definition in the record. Returns null for a pipeline with a file, because an agent sends
 * that file.
 */
export const snapshotOfDefinition = async (
  context: Context,
  definition: string | null,
): Promise<FileSnapshot | null> =>
  definition === null
    ? null
    : snapshotAfter(null, {
        text: definition,
        hash: await sha256Hex(definition),
        number: 0,
        commitSha: null,
        at: context.at,
      });

/**
 * Reports whether the build may set its pipeline's file. It must build the head of the default branch, where only
 * authorized people write, and no later build may have set the file.
 */
const saysFile = (
  build: Pick<Build, "branch" | "trigger" | "number" | "trust">,
  { definition, fileSnapshot }: Pick<Row, "definition" | "fileSnapshot">,
  { defaultBranch }: { defaultBranch: string },
): boolean =>
  definition === null &&
  build.trust !== "untrusted" &&
  build.trigger !== "retry" &&
  refOf(build.branch) === refOf(defaultBranch) &&
  build.number > (readSnapshot(fileSnapshot)?.number ?? 0);

/**
 * Reports whether the agent should send the file. Anyone who can trigger a build could name an old commit of the
 * branch, or a commit that a merge added. Only the commit to which the branch was set counts. The host reports this
 * commit, or the agent finds it.
 */
export const isAskedForFile = (
  build: Pick<Build, "branch" | "trigger" | "number" | "trust" | "event" | "commitSha">,
  pipeline: Pick<Row, "definition" | "fileSnapshot">,
  repository: { defaultBranch: string },
): boolean => saysFile(build, pipeline, repository) && (build.commitSha === null || build.event !== "api");

/** Returns a build that the caller holds, once the build has begun. */
const heldBuild = async (context: Context, buildId: string): Promise<Build> => {
  const holder = await readHolder(context, buildId);
  const pool = context.objects.pool(context.orgId);
  settled(await pool.progress(holder));
  return settled(await pool.getBuild(buildId));
};

/** Returns the build's pipeline and its repository; undefined if either was deleted. */
const findOwners = async (context: Context, { pipelineId, repoId }: Build) => {
  const { sql: db } = context.db;
  const [[pipelineRow], [repositoryRow]] = await context.db.run(
    db
      .select()
      .from(pipeline)
      .where(and(isOwn(context, pipeline, pipelineId ?? ""), eq(pipeline.repoId, repoId))),
    db
      .select()
      .from(repository)
      .where(isOwn(context, repository, repoId)),
  );
  return pipelineRow && repositoryRow ? { pipeline: pipelineRow, repository: repositoryRow } : undefined;
};

/** Stores the file, unless the pipeline has another file by now or a later build was faster. */
const store = async (context: Context, row: Row, build: Build, snapshot: FileSnapshot): Promise<void> => {
  const db = context.db.sql;
  const isSame = and(
    eq(pipeline.id, row.id),
    eq(pipeline.configPath, row.configPath),
    isNull(pipeline.definition),
    sql`coalesce(json_extract(${pipeline.fileSnapshot}, '$.number'), 0) < ${build.number}`,
  );
  const { source, builds, mistake } = shownTriggers({ ...row, fileSnapshot: snapshot });
  const { id: buildId, number, agentId } = build;
  const { commitSha, hash, schedule } = snapshot;
  const { statements, shadowed } = await syncFileSchedules(context, row.id, schedule);
  const schedules = schedule.map(({ name }) => name);
  const detail = { buildId, number, commitSha, hash, source, builds, schedules, shadowed, mistake };
  try {
    await context.db.run(
      ensure(db, "unchanged", sql`EXISTS (SELECT 1 FROM ${pipeline} WHERE ${isSame})`),
      db.update(pipeline).set({ fileSnapshot: snapshot }).where(isSame),
      ...statements,
      auditRow(context, { action: "pipeline.read-file", subject: row.id, detail, actor: `agent:${agentId}` }),
    );
  } catch (error) {
    if (!(explainRollback(error) instanceof PreconditionFailed)) throw error;
  }
};

/**
 * Accepts the pipeline file that an agent found on the default branch, and keeps its triggers. An empty text means that
 * the commit has no such file. A file with mistakes leaves the triggers unchanged.
 * @throws Refusal conflict if the build may not set the file
 */
export const takeFile = async (context: Context, buildId: string, text: string): Promise<void> => {
  const build = await heldBuild(context, buildId);
  const owners = await findOwners(context, build);
  const before = readSnapshot(owners?.pipeline.fileSnapshot);
  const { number, commitSha } = build;
  const hash = await sha256Hex(text);
  if (before?.number === number && before.hash === hash) return;
  if (!owners || !saysFile(build, owners.pipeline, owners.repository))
    throw new Refusal("conflict", "This build may not set its pipeline's file.");
  if (hash === before?.hash) return;
  const snapshot = snapshotAfter(before, { text, hash, number, commitSha, at: context.at });
  await store(context, owners.pipeline, build, snapshot);
};
