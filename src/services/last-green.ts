import { sql } from "drizzle-orm";
import { refOf } from "../domain/git-ref.ts";
import type { Build } from "../protocol/build.ts";
import { type FoundBuild, findRecord } from "./builds.ts";
import type { Context } from "./core/context.ts";
import { nullIfNotFound } from "./core/refusal.ts";
import { USUAL_BRANCH } from "./test-history.ts";

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
