import { getTableColumns, type SQL, sql } from "drizzle-orm";
import { loadBadgeMint } from "../../crypto/badge.ts";
import { databaseOf } from "../../db/database-of.ts";
import { pipeline } from "../../db/schema.ts";
import { DatabaseSession } from "../../db/session.ts";
import { type BadgeState, badgeSvg } from "../../domain/badge-svg.ts";
import { branchProblem, refOf } from "../../domain/git-ref.ts";
import { PathId } from "../../protocol/common.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { Badge } from "../../protocol/pipeline.ts";
import { commit } from "../core/commit.ts";
import type { Context } from "../core/context.ts";
import { findOne, nextVersion, updateRow } from "../core/record.ts";
import { notFound } from "../core/refusal.ts";
import { usable } from "../core/sealing.ts";
import { verb } from "../core/verb.ts";

/** The maximum number of builds' rows that one badge reads by each of its two indexes. */
const LOOKED_AT = 100;

const setGeneration = async (context: Context, id: string, of: (highest: number) => number): Promise<number> => {
  const row = await findOne(context, pipeline, getTableColumns(pipeline), id);
  // A revoked generation is negative. The next generation counts on from its absolute value, so that addresses never
  // repeat.
  const badgeGeneration = of(Math.abs(row.badgeGeneration));
  const change = { badgeGeneration, ...nextVersion(context, row) };
  const action = badgeGeneration > 0 ? "badge.create" : "badge.delete";
  const detail = { name: row.name, generation: Math.abs(badgeGeneration) };
  await commit(context, { action, subject: id, detail }, updateRow(context, pipeline, row, change));
  return badgeGeneration;
};

/** Creates the badge's address and invalidates the earlier one. */
export const createBadge = verb({
  access: { role: "maintainer" },
  params: PathId,
  output: Badge,
  async run(context, { params }) {
    const generation = await setGeneration(context, params.id, (highest) => highest + 1);
    const badge = { orgId: context.orgId, pipelineId: params.id, generation };
    const url = `${context.origin}/badge/${await context.keys.badges.grant(badge)}.svg`;
    return { url, markdown: `![build](${url})` };
  },
});

export const deleteBadge = verb({
  access: { role: "maintainer" },
  params: PathId,
  async run(context, { params }) {
    await setGeneration(context, params.id, (highest) => -highest);
  },
});

interface Found {
  name: string;
  status: string | null;
  finishedAt: number | null;
}

/**
 * Finds the newest ended build of the pipeline and ref. If no build has ended, finds a running build. Ignores
 * superseded and untrusted builds.
 */
const newestBuild = (orgId: string, id: string, generation: number, ref: string | null) => {
  const columns = sql.raw("id, pipeline_id, ref, status, reason, finished_at, created_by");
  const newest = (column: string, value: SQL): SQL =>
    sql`SELECT * FROM (SELECT ${columns} FROM build_summary
      WHERE org_id = ${orgId} AND ${sql.raw(column)} = ${value} ORDER BY id DESC LIMIT ${LOOKED_AT})`;
  const ofRef = sql`(SELECT ref FROM wanted)`;
  return sql`WITH wanted AS (
      SELECT p.name, coalesce(${ref}, 'refs/heads/' || r.default_branch) AS ref FROM pipeline p
      JOIN repository r ON r.id = p.repo_id
      WHERE p.id = ${id} AND p.org_id = ${orgId} AND p.badge_generation = ${generation}
    ), build AS (
      ${newest("pipeline_id", sql`${id}`)} WHERE ref = ${ofRef}
      UNION ${newest("ref", ofRef)} WHERE pipeline_id = ${id}
    )
    SELECT wanted.name, b.status, b.finished_at AS finishedAt FROM wanted LEFT JOIN (
      SELECT * FROM build WHERE coalesce(reason, '') NOT IN ('superseded', 'skipped')
        AND json_extract(created_by, '$.trust') IS NULL
      ORDER BY finished_at IS NULL, id DESC LIMIT 1
    ) b`;
};

/** Returns the ref with this name. Treats a name that git would reject as a branch without a build. */
const refNamed = (branch: string): string =>
  branch.length > LIMITS.branchCharacters || branchProblem(branch) !== null ? "" : refOf(branch);

const toBadgeState = ({ status, finishedAt }: Found): BadgeState => {
  if (status === null) return "no build";
  return finishedAt === null ? "running" : (status as BadgeState);
};

/**
 * Returns the SVG image of a badge, for the default branch unless the caller names another branch. A forged address
 * queries no database.
 * @throws Refusal not-found, which is the same for a forged address, an earlier address and a deleted pipeline
 */
export const readBadge = async (env: Env, token: string, branch: string | undefined): Promise<string> => {
  const badge = await usable("TOKEN_KEYS", () => loadBadgeMint(env.TOKEN_KEYS)).recognize(token);
  if (!badge) throw notFound();
  const { orgId, pipelineId, generation } = badge;
  const db = new DatabaseSession(databaseOf(env, orgId), "first-unconstrained");
  const ref = branch === undefined ? null : refNamed(branch);
  const [{ results }] = await db.run(db.statement<Found>(newestBuild(orgId, pipelineId, generation, ref)));
  const [row] = results;
  if (!row) throw notFound();
  return badgeSvg(row.name, toBadgeState(row));
};
