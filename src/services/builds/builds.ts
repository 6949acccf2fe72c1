import { type SQL, sql } from "drizzle-orm";
import { type BuildRecord, getRecord } from "../../archive/records.ts";
import { type BuildRow, readBuildRow } from "../../db/projection.ts";
import { job } from "../../db/schema.ts";
import { Build } from "../../protocol/build.ts";
import { isEnded } from "../../protocol/build-states.ts";
import { PathId } from "../../protocol/common.ts";
import type { Repository } from "../../protocol/repository.ts";
import type { Deleted } from "../../queue/state/facts.ts";
import { actorOf, type Context } from "../core/context.ts";
import { reaching } from "../core/outage.ts";
import { isOwn } from "../core/record.ts";
import { notFound, settled } from "../core/refusal.ts";
import { verb } from "../core/verb.ts";
import {
  BUILD_COLUMNS,
  buildOfRow,
  buildRecord,
  plannedJobs,
  type ReadBuild,
  shownBuild,
  withJobs,
} from "./build-view.ts";

/** Reads a record and drops its jobs' summaries, which may be 64 KiB each. Keeps only the summary of job `jobId`. */
const readPart = async (
  { archive }: Context,
  build: Parameters<typeof getRecord>[1],
  jobId: string,
): Promise<BuildRecord | null> => {
  const record = await reaching(getRecord(archive, build));
  for (const job of record ? plannedJobs(withJobs(record)) : []) if (job.id !== jobId) job.summary = null;
  return record;
};

const turns = new WeakMap<Context, Promise<unknown>>();

/** Reads a request's records one after another, because reading a large record takes a third of the memory. */
const inTurn = <T>(context: Context, read: () => Promise<T>): Promise<T> => {
  const turn = (turns.get(context) ?? Promise.resolve()).then(read, read);
  turns.set(context, turn);
  return turn;
};

/** Returns the build as it was stored at its end: D1's row together with the archive's record. */
const storedBuild = async (context: Context, row: BuildRow | undefined, jobId: string): Promise<BuildRecord | null> => {
  if (!row) return null;
  const listed = buildOfRow(row);
  const { finishedAt } = listed;
  const record = finishedAt && (await inTurn(context, () => readPart(context, { ...listed, finishedAt }, jobId)));
  if (!record) return listed;
  // A person may have deleted the log's fields in the row. For a pull request, the record has more fields than the row.
  const listedFields = Object.entries(listed).filter(([field]) => field in BUILD_COLUMNS && field !== "pull");
  return { ...listed, ...record, ...Object.fromEntries(listedFields) };
};

/** A build with fields that only the service uses. */
export interface FoundBuild extends ReadBuild {
  /** Whether a person deleted the build's log. */
  isLogDeleted: boolean;
}

/**
 * Returns the build from its pool. Once the pool has dropped the build, returns the stored build.
 * @param row D1's row, if D1 already knows the build
 */
export const findOfRow = async (
  context: Context,
  id: string,
  row: BuildRow | undefined,
  call: "getBuild" | "getBuildOf" | "getRecord" = "getBuild",
): Promise<FoundBuild> => {
  const inPool = await (await context.pool())[call](row?.id ?? id);
  if (inPool.deleted === "build") throw notFound();
  const build = inPool.ok ? inPool.value : await storedBuild(context, row, id);
  if (!build) throw notFound();
  return { ...withJobs(buildRecord(context, build)), isLogDeleted: inPool.deleted === "log" };
};

/** Returns a build's row in D1. */
const findRow = async ({ db, orgId }: Context, id: string | SQL): Promise<BuildRow | undefined> => {
  const statement = sql`SELECT * FROM build_summary WHERE org_id = ${orgId} AND id = ${id}`;
  const [{ results }] = await db.run(db.statement<Record<string, unknown>>(statement));
  return results[0] && readBuildRow(results[0]);
};

/** Returns the build with this id. Omits the summaries of a stored build's jobs. @throws Refusal not-found */
export const findRecord = async (context: Context, id: string): Promise<FoundBuild> =>
  findOfRow(context, id, await findRow(context, id));

/** Returns the build that has this job, with the job's summary. `id` can also be the build's own id. */
export const findBuildOrJobRecord = async (context: Context, id: string): Promise<FoundBuild> => {
  const ofJob = sql`SELECT build_id FROM job WHERE ${isOwn(context, job, id)}`;
  return findOfRow(context, id, await findRow(context, sql`coalesce((${ofJob}), ${id})`), "getBuildOf");
};

/** Returns the build as the API shows it. @throws Refusal not-found */
export const findBuild = async (context: Context, id: string): Promise<Build> =>
  shownBuild(await findRecord(context, id));

export const getBuild = verb({
  access: { role: "viewer" },
  params: PathId,
  output: Build,
  run: (context, { params }) => findBuild(context, params.id),
});

/** Deletes an ended build, or its log, everywhere. @throws Refusal not-found, or conflict if the build has not ended */
const deletion = (deleted: Deleted) =>
  verb({
    access: { role: "maintainer" },
    params: PathId,
    async run(context, { params }) {
      const {
        id: buildId,
        repoId,
        number,
        finishedAt,
        artifactPlaces: artifacts,
        testPlaces: tests,
      } = await findRecord(context, params.id);
      const ended = { repoId, number, finishedAt: finishedAt === null ? null : Date.parse(finishedAt) };
      const ending = { ...ended, ...(artifacts && { artifacts }), ...(tests && { tests }) };
      const pool = await context.pool();
      settled(await pool.deleteBuild({ buildId, deleted, seen: ending, actor: actorOf(context) }));
    },
  });

export const deleteBuild = deletion("build");
export const deleteLog = deletion("log");

/** A build's state that its git host rejected, with the state's name at the host and the reason for the rejection. */
export interface RefusedState {
  name: string;
  reason: string;
}

/**
 * Returns the states of an ended build that the host rejected. For an active build, the service still tries the next
 * state.
 */
export const refusedStates = async (
  { objects, orgId }: Context,
  { connectionId, gitHostRepoId }: Pick<Repository, "connectionId" | "gitHostRepoId">,
  { id, status, commitSha }: Build,
): Promise<RefusedState[]> => {
  if (connectionId === null || commitSha === null || !isEnded(status)) return [];
  const views = await objects.gitHost(orgId, connectionId).statuses(gitHostRepoId, commitSha);
  return views.flatMap(({ buildId, context, givenUp }) =>
    givenUp && buildId === id ? [{ name: context, reason: givenUp.reason }] : [],
  );
};
