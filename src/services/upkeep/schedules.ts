import { and, asc, eq, lte, sql } from "drizzle-orm";
import { v7 as uuid } from "uuid";
import { pipeline, repository, schedule } from "../../db/schema.ts";
import { branchOf } from "../../domain/git-ref.ts";
import { lastRun, nextRun } from "../../domain/schedule.ts";
import { inputsContext } from "../../domain/seal-context.ts";
import { chooseHostTarget } from "../../githosts/core/build-origin.ts";
import type { NewBuild, Result } from "../../queue/commands/commands.ts";
import { openScheduled } from "../builds/run-values.ts";
import { Keys } from "../core/keys.ts";
import { ObjectStubs } from "../core/object-stubs.ts";
import { settled } from "../core/refusal.ts";
import { type Chore, NOTHING, type Subject, type Upkeep } from "./run.ts";

type Pipeline = typeof pipeline.$inferSelect;
type Repository = typeof repository.$inferSelect;

/**
 * A due schedule, with its builds' pipeline and repository. The fields of a deleted pipeline or repository are null.
 */
interface Due
  extends Pick<Pipeline, "repoId" | "requires" | "timeoutSeconds" | "maxParallel" | "maxAttempts" | "hostContext">,
    Pick<Repository, "defaultBranch" | "connectionId" | "gitHostRepoId" | "fullName"> {
  schedule: typeof schedule.$inferSelect;
  /** 1 if the pipeline and its repository are active. */
  mayBuild: number | null;
  pipelineVersion: number;
  pipelineName: string;
}

/**
 * Returns the build id for a schedule's time. The id is always the same, so that the pool recognizes the build, even
 * after days.
 */
const buildIdAt = async (key: string, at: number): Promise<string> => {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(key));
  return uuid({ msecs: at, random: new Uint8Array(hash).subarray(0, 16) });
};

/** Seals the run's values for the build. @throws Damaged; Refusal keyring-unavailable */
const sealInputs = async (keys: Keys, { schedule }: Due, buildId: string): Promise<string | null> => {
  if (schedule.envVariables === null) return null;
  const values = await openScheduled(keys, schedule, schedule.envVariables);
  return keys.seal(JSON.stringify(values), inputsContext(schedule.orgId, buildId));
};

/**
 * Creates a schedule's build for one of its times, in milliseconds since 1970; null if the schedule may not build.
 * @throws Damaged; Refusal keyring-unavailable
 */
const buildAt = async (keys: Keys, due: Due, at: number): Promise<NewBuild | null> => {
  if (due.mayBuild !== 1) return null;
  const { id: scheduleId, orgId, pipelineId, name, ref } = due.schedule;
  const caller = `schedule:${scheduleId}`;
  const key = `${caller}:${new Date(at).toISOString()}`;
  const id = await buildIdAt(key, at);
  const { repoId, pipelineVersion, requires, timeoutSeconds, maxParallel, maxAttempts } = due;
  return {
    id,
    orgId,
    repoId,
    pipelineId,
    pipelineVersion,
    requires,
    timeoutSeconds,
    maxParallel,
    maxAttempts,
    branch: ref === null ? due.defaultBranch : branchOf(ref),
    commitSha: null,
    trigger: "api",
    priority: 0,
    inputs: await sealInputs(keys, due, id),
    secretKeys: [],
    retryOf: null,
    createdBy: { kind: "schedule", id: scheduleId, name },
    origin: {
      event: "schedule",
      before: null,
      pull: null,
      commit: null,
      schedule: name,
      paths: null,
      purpose: "build",
    },
    host: chooseHostTarget(due, { name: due.pipelineName, hostContext: due.hostContext }, "schedule", null),
    // The key stays the same whatever changed in the schedule. Repeating the time therefore returns the same build.
    idempotency: { key, caller, bodyHash: "" },
    actor: { actor: caller, requestId: null },
  };
};

/** The number of schedules in one run, and the number of pools that get their builds. Each pool is a subrequest. */
const DUE = 500;
const POOLS = 60;
const PREPARE_MS = 10_000;
const ENQUEUE_MS = 30_000;

/** A schedule that moves on to its next time. `buildId` is null if the schedule created no build. */
interface Move {
  id: string;
  from: string;
  to: string;
  at: string | null;
  buildId: string | null;
}

const timestamp = (at: number): string => new Date(at).toISOString();

/** Finds due schedules by the index. If none is due, reads at most one row. */
const dueSchedules = async ({ db, now, failures }: Upkeep): Promise<Due[]> => {
  const isDue = and(
    eq(schedule.isActive, true),
    lte(schedule.nextAt, timestamp(now)),
    failures.isDue("schedule", sql`${schedule.orgId}`),
    failures.isDue("schedule", sql`${schedule.orgId} || '/' || ${schedule.id}`),
  );
  const [rows] = await db.run(
    db.sql
      .select({
        schedule,
        // D1 keys a row's values by column name. No name may therefore repeat a name of the schedule's columns.
        mayBuild: sql<number | null>`${pipeline.isActive} AND ${repository.isActive}`.as("may_build"),
        pipelineVersion: sql<number>`${pipeline.version}`.as("pipeline_version"),
        pipelineName: sql<string>`${pipeline.name}`.as("pipeline_name"),
        repoId: pipeline.repoId,
        defaultBranch: repository.defaultBranch,
        connectionId: repository.connectionId,
        gitHostRepoId: repository.gitHostRepoId,
        fullName: repository.fullName,
        hostContext: pipeline.hostContext,
        requires: pipeline.requires,
        timeoutSeconds: pipeline.timeoutSeconds,
        maxParallel: pipeline.maxParallel,
        maxAttempts: pipeline.maxAttempts,
      })
      .from(schedule)
      .leftJoin(pipeline, eq(pipeline.id, schedule.pipelineId))
      .leftJoin(repository, eq(repository.id, pipeline.repoId))
      .where(isDue)
      .orderBy(asc(schedule.nextAt))
      .limit(DUE),
  );
  return rows as Due[];
};

interface Prepared {
  move: Move;
  build: NewBuild | null;
}

/** Prepares one build for the last of all missed times. */
const prepare = async (keys: Keys, due: Due, now: number): Promise<Prepared> => {
  const { id, nextAt } = due.schedule;
  const at = lastRun(due.schedule, Date.parse(nextAt), now);
  const build = await buildAt(keys, due, at);
  const to = timestamp(nextRun(due.schedule, now));
  return { build, move: { id, from: nextAt, to, at: build && timestamp(at), buildId: build?.id ?? null } };
};

/** Reports whether the time's build exists, or existed and was deleted. */
const isBuilt = (answer: Result<unknown>): boolean => answer.ok || answer.refusal.kind === "conflict";

/**
 * Creates the builds of one organization, and adds to `moves` the schedules that may move on.
 * @throws Refusal if the pool does not accept a build now; its schedule stays due, and the pool's other schedules wait
 * too
 */
const buildAll = async (run: Upkeep, keys: Keys, orgId: string, rows: Due[], moves: Move[]): Promise<void> => {
  const { env, failures, now } = run;
  const tried = await Promise.all(
    rows.map((due) => {
      const subject: Subject = { kind: "schedule", subject: `${orgId}/${due.schedule.id}`, orgId };
      return failures.attempt(subject, PREPARE_MS, () => prepare(keys, due, now));
    }),
  );
  const prepared = tried.filter((one) => one !== null);
  moves.push(...prepared.filter(({ build }) => build === null).map(({ move }) => move));
  const builds = prepared.filter((one): one is Prepared & { build: NewBuild } => one.build !== null);
  if (builds.length === 0) return;
  const answers: Result<unknown>[] = await new ObjectStubs(env)
    .pool(orgId)
    .enqueueAll(builds.map(({ build }) => build));
  moves.push(...builds.filter((_, index) => isBuilt(answers[index]!)).map(({ move }) => move));
  const refused = answers.find((answer) => !isBuilt(answer));
  if (refused) settled(refused);
};

/** Moves schedules on. A schedule that somebody changed meanwhile keeps its new time. */
const moveOn = async ({ db }: Upkeep, moves: Move[]): Promise<void> => {
  await db.run(
    db.statement(sql`UPDATE schedule SET next_at = m.value ->> 'to', last_at = coalesce(m.value ->> 'at', last_at),
        last_build_id = coalesce(m.value ->> 'buildId', last_build_id)
      FROM json_each(${JSON.stringify(moves)}) m
      WHERE schedule.id = m.value ->> 'id' AND schedule.next_at = m.value ->> 'from'`),
  );
};

/**
 * Builds the due schedules. Creates each build first, and sets the next time afterwards. After an interruption between
 * the two, the next run repeats the build, and the pool recognizes it. An organization with an unavailable pool does
 * not delay others.
 */
export const runSchedules: Chore = async (run) => {
  const due = await dueSchedules(run);
  if (due.length === 0) return NOTHING;
  const keys = new Keys(run.env, run.db);
  const moves: Move[] = [];
  const byOrg = [...Map.groupBy(due, (one) => one.schedule.orgId)].slice(0, POOLS);
  await Promise.all(
    byOrg.map(([orgId, rows]) =>
      run.failures.attempt({ kind: "schedule", subject: orgId, orgId }, ENQUEUE_MS, () =>
        buildAll(run, keys, orgId, rows, moves),
      ),
    ),
  );
  if (moves.length > 0) await moveOn(run, moves);
  return { scheduled: moves.filter(({ buildId }) => buildId !== null).length };
};
