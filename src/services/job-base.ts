import { and, desc, eq, isNotNull, lt, ne, sql } from "drizzle-orm";
import { buildSummary } from "../db/schema.ts";
import type { Grant } from "../domain/pool/commands.ts";
import type { Job } from "../protocol/jobs.ts";
import type { Context } from "./core/context.ts";

/** Builds of the pipeline, the newest first, among which the last good one of the branch is looked for. */
const MOST_LOOKED_AT = 50;

/**
 * Finds the last commit of a pushed branch that was built well; none for other builds. Stops at the first: in a
 * healthy branch it reads one build.
 */
export const greenCommit = (context: Context, { build, pipelineId }: Grant) => {
  const { sql: db } = context.db;
  const { orgId, pipelineId: ofPipeline, id, ref, status, commitSha, createdBy } = buildSummary;
  if (build.event !== "push" || pipelineId === null) return null;
  const newest = db
    .select({ ref, status, commitSha, createdBy })
    .from(buildSummary)
    .where(and(eq(orgId, context.orgId), eq(ofPipeline, pipelineId), lt(id, build.id)))
    .orderBy(desc(id))
    .limit(MOST_LOOKED_AT)
    .as("newest");
  const isTrusted = sql`json_extract(${newest.createdBy}, '$.trust') IS NULL`;
  const isGreen = and(
    eq(newest.ref, build.ref),
    eq(newest.status, "succeeded"),
    isNotNull(newest.commitSha),
    isTrusted,
  );
  // A build that repeats a good one is compared with what was good before.
  return db
    .select({ commitSha: newest.commitSha })
    .from(newest)
    .where(and(isGreen, ne(newest.commitSha, build.commitSha ?? "")))
    .limit(1);
};

/** What the changes of a build are counted from, as far as the service knows. */
export const baseOf = ({ build }: Grant, green: { commitSha: string | null } | undefined): Job["base"] => {
  if (build.pull?.base) return { branch: build.pull.base };
  return green?.commitSha ? { sha: green.commitSha } : undefined;
};
