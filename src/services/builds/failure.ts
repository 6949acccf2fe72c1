import { sql } from "drizzle-orm";
import { type Excerpt, findExcerpt } from "../../domain/failure/error-lines.ts";
import { refOf } from "../../domain/git-ref.ts";
import type { Build, Step } from "../../protocol/build.ts";
import { failedJobs } from "../../queue/read/job-records.ts";
import type { Context } from "../core/context.ts";
import { nullIfNotFound } from "../core/refusal.ts";
import { USUAL_BRANCH } from "../tests/flaky-tests.ts";
import { findJob } from "./build-jobs.ts";
import type { ReadJob } from "./build-view.ts";
import { type FoundBuild, findRecord } from "./builds.ts";
import { type LogPart, readOutput } from "./step-output.ts";

export type { Excerpt } from "../../domain/failure/error-lines.ts";

/** Why a job failed, as its log says. */
export interface Failure {
  job: ReadJob & { steps: Step[] };
  /** The step that failed; null where none did, as for a checkout. */
  step: Step | null;
  excerpt: Excerpt | null;
  /** How many other jobs of its build failed too, where that was asked. */
  others: number;
}

/** What a failed job says of its failure. @param end of its log, where it is read already */
export const readFailure = async (
  context: Context,
  { orgId, isLogDeleted }: FoundBuild,
  failed: ReadJob,
  end: LogPart | null = null,
): Promise<Failure> => {
  const steps = failed.steps ?? (await nullIfNotFound(findJob(context, failed.id)))?.steps ?? [];
  const job = { ...failed, steps };
  const step = steps.find(({ status }) => status === "failed") ?? null;
  if (isLogDeleted || failed.attempt === 0) return { job, step, excerpt: null, others: 0 };
  const output = await readOutput(context, { ...job, orgId }, steps, step?.logOffset ?? 0, end);
  return { job, step, excerpt: findExcerpt(output), others: 0 };
};

/** The same of the job of a build whose failure came first and counts; null where none failed. */
export const readFirstFailure = async (context: Context, build: FoundBuild): Promise<Failure | null> => {
  const [first, ...others] = failedJobs(build.jobs);
  return first ? { ...(await readFailure(context, build, first)), others: others.length } : null;
};

/** Builds before this one that are looked at: a query reads no more rows, however long its pipeline has been red. */
const LOOKED_AT = 100;

type Compared = Pick<Build, "id" | "repoId" | "pipelineId" | "branch">;

/** The newest build before this one that succeeded: of its own branch, else of the default branch. */
const findId = async ({ db, orgId }: Context, build: Compared): Promise<string | undefined> => {
  const { repoId, pipelineId } = build;
  const own = refOf(build.branch);
  const siblings = pipelineId === null ? sql`repo_id = ${repoId}` : sql`pipeline_id = ${pipelineId}`;
  const [{ results }] = await db.run(
    db.statement<{ id: string }>(sql`
      WITH before AS (
        SELECT id, ref, status FROM build_summary
        WHERE org_id = ${orgId} AND ${siblings} AND id < ${build.id} ORDER BY id DESC LIMIT ${LOOKED_AT})
      SELECT id FROM before
      WHERE status = 'succeeded' AND ref IN (${own}, (
        SELECT 'refs/heads/' || coalesce(default_branch, ${USUAL_BRANCH}) FROM repository
        WHERE org_id = ${orgId} AND id = ${repoId}))
      ORDER BY ref = ${own} DESC, id DESC LIMIT 1`),
  );
  return results[0]?.id;
};

/** The last build that succeeded before this one, with its steps and jobs; null where none is near, or none is kept. */
export const findLastGreen = async (context: Context, build: Compared): Promise<FoundBuild | null> => {
  const id = await findId(context, build);
  if (id === undefined) return null;
  return nullIfNotFound(findRecord(context, id));
};
