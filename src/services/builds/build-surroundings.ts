import { getTableColumns, type SQL, sql } from "drizzle-orm";
import { type BuildRow, readBuildRow } from "../../db/projection.ts";
import { buildSummary } from "../../db/schema.ts";
import { refOf } from "../../domain/git-ref.ts";
import type { Build } from "../../protocol/build.ts";
import type { Pipeline } from "../../protocol/pipeline.ts";
import type { Repository } from "../../protocol/repository.ts";
import type { Context } from "../core/context.ts";
import { indexed } from "../core/listing.ts";
import { nullIfNotFound } from "../core/refusal.ts";
import { USUAL_BRANCH } from "../tests/flaky-tests.ts";
import { type FoundBuild, findOfRow } from "./builds.ts";

/** The build's repository and pipeline; null if they were deleted. */
export interface Owners {
  repository: Pick<Repository, "id" | "fullName" | "defaultBranch" | "connectionId" | "gitHostRepoId"> | null;
  pipeline: Pick<Pipeline, "id" | "name"> | null;
}

type OwnersRow = Record<keyof Owners, string | null>;

/** Selects the repository and the pipeline as JSON, so that their columns do not mix with the build's columns. */
const OWNERS = sql.raw(`
  iif(r.id IS NULL, NULL, json_object('id', r.id, 'fullName', r.full_name, 'defaultBranch', r.default_branch,
    'connectionId', r.connection_id, 'gitHostRepoId', r.git_host_repo_id)) AS repository,
  iif(p.id IS NULL, NULL, json_object('id', p.id, 'name', p.name)) AS pipeline`);

const joinOwners = (orgId: string): SQL => sql`
  LEFT JOIN repository r ON r.id = own.repo_id AND r.org_id = ${orgId}
  LEFT JOIN pipeline p ON p.id = own.pipeline_id AND p.org_id = ${orgId}`;

const toOwners = ({ repository, pipeline }: OwnersRow): Owners => ({
  repository: repository && JSON.parse(repository),
  pipeline: pipeline && JSON.parse(pipeline),
});

/**
 * Earlier builds that the search covers at most. The query reads no more rows, however long its pipeline has been
 * failing.
 */
const LOOKED_AT = 100;

interface Compared {
  id: SQL;
  /** The full name of the build's branch. */
  ref: SQL;
  /** The condition for the builds of the build's pipeline, or of its repository if the build has no pipeline. */
  siblings: SQL;
  /** The repository's default ref; null if the repository was deleted. */
  defaultRef: SQL;
}

/**
 * Returns the id of the newest earlier build that succeeded, preferably on the build's own branch, otherwise on the
 * default branch.
 */
const idOfLastGreen = (orgId: string, { id, ref, siblings, defaultRef }: Compared): SQL => sql`(
  SELECT id FROM (
    SELECT id, ref, status FROM build_summary WHERE ${siblings} AND org_id = ${orgId} AND id < ${id}
    ORDER BY id DESC LIMIT ${LOOKED_AT})
  WHERE status = 'succeeded' AND ref IN (${ref}, ${defaultRef})
  ORDER BY ref = ${ref} DESC, id DESC LIMIT 1)`;

const ofPipeline = (id: unknown): SQL => indexed(sql`pipeline_id = ${id}`);
const ofRepository = (id: unknown): SQL => indexed(sql`repo_id = ${id}`);

const DEFAULT_REF = sql`'refs/heads/' || coalesce(r.default_branch, ${USUAL_BRANCH})`;

const GREEN = "green_";
const GREEN_COLUMNS = sql.raw(
  Object.values(getTableColumns(buildSummary))
    .map(({ name }) => `green.${name} AS ${GREEN}${name}`)
    .join(", "),
);

const readGreenRow = (row: Record<string, unknown>): BuildRow | undefined => {
  const entries = Object.entries(row).filter(([name]) => name.startsWith(GREEN));
  const green = Object.fromEntries(entries.map(([name, value]) => [name.slice(GREEN.length), value]));
  return green.id === null ? undefined : readBuildRow(green);
};

/**
 * Reads a build and its surroundings from D1, in one row. Skips the last green build for a waiting build, whose page
 * reloads often and does not show a green build.
 */
const readListed = async ({ db, orgId }: Context, id: string) => {
  const own = { id: sql`own.id`, ref: sql`own.ref`, siblings: ofPipeline(sql`own.pipeline_id`) };
  const defaultRef = sql`iif(r.id IS NULL, NULL, ${DEFAULT_REF})`;
  const [{ results }] = await db.run(
    db.statement<OwnersRow & Record<string, unknown>>(sql`
      SELECT own.*, ${OWNERS}, ${GREEN_COLUMNS}
      FROM build_summary own ${joinOwners(orgId)}
      LEFT JOIN build_summary green ON green.org_id = ${orgId}
        AND green.id = iif(own.status = 'queued', NULL, ${idOfLastGreen(orgId, { ...own, defaultRef })})
      WHERE own.org_id = ${orgId} AND own.id = ${id}`),
  );
  const [row] = results;
  if (!row) return undefined;
  const listed = readBuildRow(row);
  const isGreenKnown = listed.status !== "queued" && listed.pipelineId !== null;
  return { row: listed, owners: toOwners(row), isGreenKnown, green: readGreenRow(row) };
};

/** Reads the owners of a build that has no row in D1 yet. */
const readOwners = async ({ db, orgId }: Context, { repoId, pipelineId }: Build): Promise<Owners> => {
  const own = sql`(SELECT ${repoId} AS repo_id, ${pipelineId} AS pipeline_id) own`;
  const [{ results }] = await db.run(db.statement<OwnersRow>(sql`SELECT ${OWNERS} FROM ${own} ${joinOwners(orgId)}`));
  return toOwners(results[0]!);
};

/** Reads the row of the last green build. The pool knows the build itself better than D1. */
const readGreen = async ({ db, orgId }: Context, build: Build): Promise<BuildRow | undefined> => {
  const { id, repoId, pipelineId, branch } = build;
  const siblings = pipelineId === null ? ofRepository(repoId) : ofPipeline(pipelineId);
  const defaultRef = sql`(SELECT ${DEFAULT_REF} FROM repository r WHERE r.org_id = ${orgId} AND r.id = ${repoId})`;
  const greenId = idOfLastGreen(orgId, { id: sql`${id}`, ref: sql`${refOf(branch)}`, siblings, defaultRef });
  const statement = sql`SELECT * FROM build_summary WHERE org_id = ${orgId} AND id = ${greenId}`;
  const [{ results }] = await db.run(db.statement<Record<string, unknown>>(statement));
  return results[0] && readBuildRow(results[0]);
};

export interface SurroundedBuild {
  build: FoundBuild;
  owners: Owners;
  /**
   * Returns the last earlier build that succeeded, with its steps and jobs. Returns null if no such build is near, or
   * if its record is no longer kept.
   */
  findLastGreen(): Promise<FoundBuild | null>;
}

/**
 * Finds a build and the records that pages show around it. For an ended build, it takes one round to D1.
 * @throws Refusal not-found
 */
export const findWithSurroundings = async (context: Context, id: string): Promise<SurroundedBuild> => {
  const listed = await readListed(context, id);
  const build = await findOfRow(context, id, listed?.row, "getRecord");
  return {
    build,
    owners: listed?.owners ?? (await readOwners(context, build)),
    async findLastGreen() {
      const green = listed?.isGreenKnown ? listed.green : await readGreen(context, build);
      return green ? nullIfNotFound(findOfRow(context, green.id, green)) : null;
    },
  };
};
