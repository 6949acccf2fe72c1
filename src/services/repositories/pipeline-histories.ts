import { type SQL, sql } from "drizzle-orm";
import * as z from "zod/mini";
import { branchOf, refOf, tagOf } from "../../domain/git-ref.ts";
import {
  addUp,
  daysOfWeek,
  type EndedBuild,
  type History,
  NO_HISTORY,
  redSince,
  type Week,
} from "../../domain/history/history.ts";
import { PathId } from "../../protocol/common.ts";
import { DEFAULTS } from "../../protocol/limits.ts";
import {
  type BuildOfHistory,
  HistoryFilter,
  PipelineHistory,
  type WeekOfBuilds,
} from "../../protocol/pipeline-history.ts";
import { SECOND_MS } from "../../protocol/units.ts";
import type { Context } from "../core/context.ts";
import { toPage } from "../core/listing.ts";
import { notFound } from "../core/refusal.ts";
import { verb } from "../core/verb.ts";

interface Row {
  /** The id of the pipeline's newest build, which sets the order of the list. */
  id: string | null;
  pipelineId: string;
  name: string;
  repoId: string;
  repository: string;
  defaultBranch: string;
  isRed: number | null;
  builds: string | null;
  days: string | null;
}

const COLUMNS = sql.raw(`h.newest AS id, p.id AS pipelineId, p.name, r.id AS repoId, r.full_name AS repository,
  r.default_branch AS defaultBranch, h.is_red AS isRed, h.builds, h.days`);

const timestamp = (at: number): string => new Date(at).toISOString();

const toBuild = ({ ref, queuedAt, startedAt, finishedAt, ...build }: EndedBuild): BuildOfHistory => ({
  id: build.id,
  number: build.number,
  status: build.status,
  isFlaky: build.isFlaky,
  subject: build.subject,
  author: build.author,
  branch: branchOf(ref),
  tag: tagOf(ref),
  queuedAt: timestamp(queuedAt),
  startedAt: startedAt === null ? null : timestamp(startedAt),
  finishedAt: timestamp(finishedAt),
});

const toSeconds = (p50: number | null, p90: number | null) =>
  p50 === null || p90 === null ? null : { p50: p50 / SECOND_MS, p90: p90 / SECOND_MS };

const toWeek = ({ tookP50, tookP90, waitedP50, waitedP90, ...counts }: Week): WeekOfBuilds => ({
  ...counts,
  tookSeconds: toSeconds(tookP50, tookP90),
  waitedSeconds: toSeconds(waitedP50, waitedP90),
});

const findFirstFailure = (history: History, defaultBranch: string): PipelineHistory["failingSince"] => {
  const red = redSince(history, refOf(defaultBranch));
  if (!red) return null;
  const { first, ...counts } = red;
  return { buildId: first.id, ...counts };
};

const toRecord = ({ now }: Context, { id, builds, days, isRed, defaultBranch, ...names }: Row): PipelineHistory => {
  const history: History =
    builds === null || days === null ? NO_HISTORY : { builds: JSON.parse(builds), days: JSON.parse(days) };
  const week = (ago: number) => toWeek(addUp(daysOfWeek(history, now.getTime(), ago)));
  return {
    ...names,
    isRed: isRed === 1,
    failingSince: findFirstFailure(history, defaultBranch),
    builds: history.builds.map(toBuild),
    week: week(0),
    weekBefore: week(1),
  };
};

const read = (context: Context, from: SQL) => context.db.statement<Row>(sql`SELECT ${COLUMNS} FROM ${from}`);

/** Lists histories in the order of their newest builds. */
export const listPipelineHistories = verb({
  access: { role: "viewer" },
  query: HistoryFilter,
  output: z.array(PipelineHistory),
  async run(context, { query: { limit = DEFAULTS.newestPageLength, cursor = "g", isRed } }) {
    const [{ results }] = await context.db.run(
      read(
        context,
        sql`pipeline_history h CROSS JOIN pipeline p ON p.id = h.pipeline_id AND p.org_id = h.org_id
        JOIN repository r ON r.id = p.repo_id
        WHERE h.org_id = ${context.orgId} AND h.newest > '' AND h.newest < ${cursor}
          ${isRed === undefined ? sql.empty() : sql.raw(`AND h.is_red = ${Number(isRed)}`)}
        ORDER BY h.newest DESC LIMIT ${limit + 1}`,
      ),
    );
    const rows = results.map((row) => ({ ...row, id: row.id ?? "" }));
    return toPage(rows, { limit }, (row) => toRecord(context, row));
  },
});

/** @throws Refusal not-found */
export const getPipelineHistory = verb({
  access: { role: "viewer" },
  params: PathId,
  output: PipelineHistory,
  async run(context, { params }) {
    const [{ results }] = await context.db.run(
      read(
        context,
        sql`pipeline p JOIN repository r ON r.id = p.repo_id
        LEFT JOIN pipeline_history h ON h.org_id = p.org_id AND h.pipeline_id = p.id
        WHERE p.id = ${params.id} AND p.org_id = ${context.orgId}`,
      ),
    );
    const [row] = results;
    if (!row) throw notFound();
    return toRecord(context, row);
  },
});
