import { type SQL, sql } from "drizzle-orm";
import type { Query } from "../../db/query.ts";
import { refOf } from "../../domain/git-ref.ts";
import {
  dayStart,
  type EndedBuild,
  HISTORY_SIZE,
  type History,
  keptSince,
  NO_HISTORY,
  redSince,
  rollUp,
} from "../../domain/history/history.ts";
import { firstIdAt, timeOfId } from "../../domain/id-range.ts";
import { DAY_MS, MINUTE_MS } from "../../protocol/units.ts";
import type { Chore, Done, Upkeep } from "./run.ts";

/** Milliseconds after a build's end for which runs of upkeep count it, because its row may reach D1 a little late. */
const NEWS_MS = 5 * MINUTE_MS;
/**
 * Milliseconds after which upkeep recounts all days of a pipeline, because builds may have reached D1 later or been
 * deleted.
 */
const RECOUNT_MS = DAY_MS;
/**
 * The number of pipelines in one run, for each of the two ways, and the number in one batch. Each pipeline takes at
 * most three statements.
 */
const WITH_NEWS = 150;
const WITHOUT_COUNT = 50;
const AT_ONCE = 20;
/**
 * Builds that one count of a pipeline reads at most: builds of its default branch or of tags, and any before the kept
 * days.
 */
const COUNTED = 2000;
const LOOKED_BACK = 500;

interface DueRow {
  orgId: string;
  pipelineId: string;
  defaultBranch: string;
  /** The oldest build with news; null if all days are due. */
  oldest: string | null;
  builds: string | null;
  days: string | null;
  recountedAt: number | null;
}

interface Due extends Omit<DueRow, "builds" | "days"> {
  before: History;
  /** The millisecond at which the count begins. */
  from: number;
  isWhole: boolean;
}

const COLUMNS = sql.raw(
  "p.org_id AS orgId, p.id AS pipelineId, r.default_branch AS defaultBranch, h.builds, h.days, h.recounted_at AS recountedAt",
);
const WITH_HISTORY = sql.raw(`JOIN repository r ON r.id = p.repo_id
  LEFT JOIN pipeline_history h ON h.org_id = p.org_id AND h.pipeline_id = p.id`);

/** Selects pipelines with a recently ended build. Pipelines after the previous run's last pipeline come first. */
const withNews = ({ now, turn }: Upkeep): SQL => sql`SELECT ${COLUMNS}, news.oldest FROM (
    SELECT org_id, pipeline_id, min(id) AS oldest FROM build_summary
    WHERE finished_at >= ${now - NEWS_MS} AND pipeline_id IS NOT NULL GROUP BY org_id, pipeline_id) AS news
  JOIN pipeline p ON p.id = news.pipeline_id AND p.org_id = news.org_id ${WITH_HISTORY}
  ORDER BY p.id <= ${turn.place}, p.id LIMIT ${WITH_NEWS}`;

/**
 * Selects pipelines that have no count, or no count for at least a day. A pipeline without recent builds has nothing to
 * count.
 */
const withoutCount = ({ now, buildsBefore }: Upkeep): SQL => sql`SELECT ${COLUMNS}, NULL AS oldest
  FROM pipeline p ${WITH_HISTORY}
  WHERE CASE WHEN h.org_id IS NULL
    THEN EXISTS (SELECT 1 FROM build_summary b WHERE b.org_id = p.org_id AND b.pipeline_id = p.id)
    ELSE h.recounted_at = 0 OR (h.recounted_at <= ${now - RECOUNT_MS}
      AND (h.days <> '{}' OR (h.oldest <> '' AND h.oldest < ${firstIdAt(buildsBefore)}))) END
  ORDER BY coalesce(h.recounted_at, 0) LIMIT ${WITHOUT_COUNT}`;

const parsed = ({ builds, days }: DueRow): History | null => {
  try {
    return builds && days ? { builds: JSON.parse(builds), days: JSON.parse(days) } : null;
  } catch {
    return null;
  }
};

const toDue = (row: DueRow, { now, buildsBefore }: Upkeep): Due => {
  const { builds, days } = parsed(row) ?? NO_HISTORY;
  const before = { builds: builds.filter(({ finishedAt }) => finishedAt >= buildsBefore), days };
  const isWhole = row.oldest === null || row.recountedAt === null || builds === NO_HISTORY.builds;
  const from = isWhole ? keptSince(now) : Math.min(dayStart(timeOfId(row.oldest ?? "")), dayStart(now));
  return { ...row, before, from, isWhole };
};

const BUILD_COLUMNS = sql.raw(`id, number, ref, status, coalesce(tests ->> 'flaky', 0) > 0 AS isFlaky, subject, author,
  queued_at AS queuedAt, started_at AS startedAt, finished_at AS finishedAt, event, commit_sha AS commitSha,
  retry_of AS retryOf, created_by ->> 'trust' IS 'untrusted' AS isUntrusted`);

/**
 * Selects rows of the default branch or of a tag. A tag is a release. A pull request may come from a branch with the
 * same name.
 */
const isTrunk = ({ defaultBranch }: Due): SQL => sql`finished_at IS NOT NULL AND pull_number IS NULL
  AND (ref = ${refOf(defaultBranch)} OR ref LIKE 'refs/tags/%')`;

const ofPipeline = ({ orgId, pipelineId }: Due): SQL => sql`org_id = ${orgId} AND pipeline_id = ${pipelineId}`;

const since = (due: Due): SQL => sql`SELECT ${BUILD_COLUMNS} FROM build_summary
  WHERE ${ofPipeline(due)} AND id >= ${firstIdAt(due.from)} AND ${isTrunk(due)}
  ORDER BY id DESC LIMIT ${COUNTED}`;

const before = (due: Due, { buildsBefore }: Upkeep): SQL => sql`SELECT ${BUILD_COLUMNS} FROM (
    SELECT * FROM build_summary WHERE ${ofPipeline(due)} AND id < ${firstIdAt(due.from)}
    ORDER BY id DESC LIMIT ${LOOKED_BACK})
  WHERE ${isTrunk(due)} AND finished_at >= ${buildsBefore} LIMIT ${HISTORY_SIZE.builds}`;

interface BuildRow extends Omit<EndedBuild, "isFlaky" | "isUntrusted"> {
  isFlaky: number;
  isUntrusted: number;
}

const toEnded = ({ isUntrusted, ...row }: BuildRow): EndedBuild => ({
  ...row,
  isFlaky: row.isFlaky === 1,
  ...(isUntrusted === 1 && { isUntrusted: true }),
});

/**
 * Returns the start of the days that a count covers completely. If a pipeline has more builds than one count reads, the
 * count leaves an incomplete day unchanged.
 */
const seenSince = (due: Due, builds: readonly BuildRow[], now: number): number => {
  const last = builds.at(-1);
  if (!last || builds.length < COUNTED) return due.from;
  return Math.min(dayStart(timeOfId(last.id)) + DAY_MS, dayStart(now));
};

const save = (run: Upkeep, due: Due, { builds, days }: History): Query => {
  const { now, db } = run;
  const isRed = redSince({ builds, days }, refOf(due.defaultBranch)) !== null;
  const values = sql.join(
    [
      due.orgId,
      due.pipelineId,
      builds[0]?.id ?? "",
      builds.at(-1)?.id ?? "",
      Number(isRed),
      JSON.stringify(builds),
      JSON.stringify(days),
      now,
      due.isWhole ? now : due.recountedAt,
    ].map((value) => sql`${value}`),
    sql`, `,
  );
  return db.statement(sql`INSERT INTO pipeline_history
      (org_id, pipeline_id, newest, oldest, is_red, builds, days, counted_at, recounted_at)
    SELECT ${values} WHERE EXISTS (SELECT 1 FROM pipeline WHERE id = ${due.pipelineId} AND org_id = ${due.orgId})
    ON CONFLICT DO UPDATE SET newest = excluded.newest, oldest = excluded.oldest, is_red = excluded.is_red,
      builds = excluded.builds, days = excluded.days, counted_at = excluded.counted_at,
      recounted_at = excluded.recounted_at
    WHERE builds <> excluded.builds OR days <> excluded.days OR recounted_at < excluded.recounted_at`);
};

const count = async (run: Upkeep, dues: Due[]): Promise<void> => {
  const { db, now } = run;
  const whole = dues.filter(({ isWhole }) => isWhole);
  const [lately, earlier] = await Promise.all([
    db.run(...dues.map((due) => db.statement<BuildRow>(since(due)))),
    db.run(...whole.map((due) => db.statement<BuildRow>(before(due, run)))),
  ]);
  const saved = dues.map((due, at) => {
    const { results } = lately[at]!;
    const older = earlier[whole.indexOf(due)]?.results ?? [];
    const builds = [...results, ...older].map(toEnded);
    return save(run, due, rollUp(due.before, seenSince(due, results, now), builds, now));
  });
  await db.run(...saved);
};

const countAll = async (run: Upkeep, due: SQL): Promise<DueRow[]> => {
  const [{ results }] = await run.db.run(run.db.statement<DueRow>(due));
  for (let at = 0; at < results.length; at += AT_ONCE) {
    await count(
      run,
      results.slice(at, at + AT_ONCE).map((row) => toDue(row, run)),
    );
  }
  return results;
};

/** Counts the histories of pipelines from the rows of their builds. */
export const countHistories: Chore = async (run): Promise<Done> => {
  const counted = await countAll(run, withNews(run));
  run.turn.place = counted.length === WITH_NEWS ? (counted.at(-1)?.pipelineId ?? "") : "";
  return { histories: counted.length };
};

/** Recounts all days of the pipelines that are due, in as many runs as necessary. */
export const recountHistories: Chore = async (run): Promise<Done> => {
  const counted = await countAll(run, withoutCount(run));
  run.turn.goesOn = counted.length === WITHOUT_COUNT;
  return { recounted: counted.length };
};
