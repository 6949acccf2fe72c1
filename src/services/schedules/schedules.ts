import { and, eq, getTableColumns, type SQL, sql } from "drizzle-orm";
import * as z from "zod/mini";
import { ensure } from "../../db/guard.ts";
import { pipeline, schedule } from "../../db/schema.ts";
import { branchProblem, refOf } from "../../domain/git-ref.ts";
import { nextRun, nextRuns, readCron, timeZoneProblem } from "../../domain/schedule.ts";
import { PathId } from "../../protocol/common.ts";
import { DEFAULTS, LIMITS } from "../../protocol/limits.ts";
import {
  NewSchedule,
  NextTimes,
  NextTimesQuery,
  Schedule,
  ScheduleChange,
  ScheduleFilter,
} from "../../protocol/schedule.ts";
import { checkRunVariables, sealScheduled } from "../builds/run-values.ts";
import { commit } from "../core/commit.ts";
import type { Context } from "../core/context.ts";
import { listing, toPage } from "../core/listing.ts";
import { deleteRow, findOne, nextVersion, updateRow } from "../core/record.ts";
import { invalidFields, Refusal } from "../core/refusal.ts";
import { Answer, checkOwnOrg, makeUpdateSchema, makeView, verb, writablePart } from "../core/verb.ts";
import { variablesOfBuild } from "../variables/variable-scopes.ts";

type Row = typeof schedule.$inferSelect;

/** The result of the schedule's last build; null until that build ends. */
const lastStatus = sql<Schedule["lastStatus"]>`(SELECT b.status FROM build_summary b
  WHERE b.org_id = schedule.org_id AND b.id = schedule.last_build_id AND b.finished_at IS NOT NULL)`.as("last_status");
/**
 * The reason why the schedule's last time created no build, as upkeep noted it for the schedule or its organization.
 */
const problem = sql<string | null>`(SELECT f.reason FROM upkeep_failure f
  WHERE f.kind = 'schedule' AND f.subject IN (schedule.org_id || '/' || schedule.id, schedule.org_id)
  ORDER BY f.subject DESC LIMIT 1)`.as("problem");
const configPath = sql<string | null>`(SELECT p.config_path FROM pipeline p WHERE p.id = schedule.pipeline_id)`.as(
  "config_path",
);
const COLUMNS = { ...getTableColumns(schedule), lastStatus, problem, configPath };

const view = makeView(Schedule);
const timestamp = (at: number): string => new Date(at).toISOString();

type Shown = Row & Pick<Schedule, "lastStatus" | "problem">;

const recordMaker =
  ({ now, at }: Context) =>
  (row: Shown): Schedule =>
    view({
      ...row,
      envKeys: row.envVariables?.keys ?? [],
      nextAt: row.isActive ? row.nextAt : null,
      next: row.isActive ? nextRuns(row, now.getTime(), DEFAULTS.nextTimes).map(timestamp) : [],
      problem: row.isActive && row.nextAt <= at && row.problem ? row.problem.replace(/^\w+: /, "") : null,
    });

/**
 * Returns the schedule. Its next time, its last build and that build's state change without a change to the schedule.
 */
const toAnswer = (context: Context, row: Shown): Answer<Schedule> =>
  new Answer(recordMaker(context)(row), { version: row.version, isMoving: true });

/** Checks a schedule's times. @throws Refusal invalid, with a suggested correction */
const checkTimes = ({ cron, timeZone, ref }: Pick<Row, "cron" | "timeZone" | "ref">): void => {
  const read = readCron(cron);
  const problems = {
    "/cron": "problem" in read ? read.problem : null,
    "/timeZone": timeZoneProblem(timeZone),
    "/ref": ref === null ? null : branchProblem(ref),
  };
  const errors = Object.entries(problems).flatMap(([pointer, detail]) =>
    detail === null ? [] : [{ pointer, detail }],
  );
  if (errors.length > 0) throw invalidFields(errors);
};

/** Checks the values of a schedule's runs. @throws Refusal invalid, too-large */
const checkValues = async (context: Context, pipelineId: string, values: Record<string, string>): Promise<void> => {
  if (Object.keys(values).length === 0) return;
  const { sql: db } = context.db;
  const repository = db
    .select({ id: pipeline.repoId })
    .from(pipeline)
    .where(and(eq(pipeline.id, pipelineId), eq(pipeline.orgId, context.orgId)));
  const [variables] = await context.db.run(variablesOfBuild(db, context.orgId, repository, pipelineId));
  checkRunVariables(values, variables, LIMITS.scheduleVariablesBytes);
};

const pipelineExists = ({ orgId }: Context, { pipelineId }: Row): SQL =>
  sql`EXISTS (SELECT 1 FROM ${pipeline} WHERE ${pipeline.id} = ${pipelineId} AND ${pipeline.orgId} = ${orgId})`;

const hasRoom = ({ pipelineId }: Row): SQL =>
  sql`(SELECT count(*) FROM ${schedule} WHERE ${schedule.pipelineId} = ${pipelineId}) < ${LIMITS.schedules}`;

const sameName = (context: Context, { pipelineId, name }: Row) =>
  context.db.sql
    .select({ id: schedule.id })
    .from(schedule)
    .where(and(eq(schedule.orgId, context.orgId), eq(schedule.pipelineId, pipelineId), eq(schedule.name, name)));

const auditDetail = ({ pipelineId, name, cron, timeZone, ref, isActive }: Row) => ({
  pipelineId,
  name,
  cron,
  timeZone,
  ref,
  isActive,
});

export const createSchedule = verb({
  access: { role: "maintainer" },
  body: NewSchedule,
  output: Schedule,
  async run(context, { body }) {
    await context.admit();
    checkOwnOrg(context, body.orgId);
    const { pipelineId, name, cron, timeZone, ref, envVariables, isActive } = body;
    const times = { cron, timeZone: timeZone ?? "UTC", ref: ref ?? null };
    checkTimes(times);
    await checkValues(context, pipelineId, envVariables ?? {});
    const owner = { id: context.newId(), orgId: context.orgId, pipelineId };
    const row: Row = {
      ...owner,
      ...times,
      name,
      ref: times.ref === null ? null : refOf(times.ref),
      envVariables: await sealScheduled(context.keys, owner, envVariables ?? {}),
      isActive: isActive ?? true,
      nextAt: timestamp(nextRun(times, context.now.getTime())),
      source: "api",
      lastAt: null,
      lastBuildId: null,
      version: 1,
      createdAt: context.at,
      updatedAt: context.at,
    };
    const db = context.db.sql;
    await commit(
      context,
      { action: "schedule.create", subject: row.id, detail: auditDetail(row) },
      [
        ensure(db, "owner_exists", pipelineExists(context, row)),
        ensure(db, "within_limit", hasRoom(row)),
        db.insert(schedule).values(row),
      ],
      sameName(context, row),
    );
    return toAnswer(context, { ...row, lastStatus: null, problem: null });
  },
});

const schedules = listing(schedule, COLUMNS, {
  filters: { pipelineId: (id) => eq(schedule.pipelineId, id) },
  selective: ["pipelineId"],
});

export const listSchedules = verb({
  access: { role: "viewer" },
  query: ScheduleFilter,
  output: z.array(Schedule),
  async run(context, { query }) {
    const [rows] = await context.db.run(schedules(context, query));
    return toPage(rows, query, recordMaker(context));
  },
});

export const getSchedule = verb({
  access: { role: "viewer" },
  params: PathId,
  output: Schedule,
  run: async (context, { params }) => toAnswer(context, await findOne(context, schedule, COLUMNS, params.id)),
});

export const listNextTimes = verb({
  access: { role: "viewer" },
  params: PathId,
  query: NextTimesQuery,
  output: NextTimes,
  async run(context, { params, query }) {
    const row = await findOne(context, schedule, COLUMNS, params.id);
    const times = nextRuns(row, context.now.getTime(), query.count ?? DEFAULTS.nextTimes);
    return { next: times.map(timestamp) };
  },
});

/** Reads the fields that runs change. A client that read the record before a run may send it back afterwards. */
const readMoving = (body: object): object => {
  const isMoving = ([field]: [string, unknown]) => /^(?:next|last)|^problem$/.test(field);
  return Object.fromEntries(Object.entries(body).filter(isMoving));
};

/**
 * Rejects changes to a file's schedule. In the API, a person can only switch such a schedule off and on.
 * @throws Refusal conflict
 */
const checkSource = ({ source, configPath }: Row & { configPath: string | null }): void => {
  if (source === "api") return;
  const file = configPath === null ? "the pipeline's file" : configPath;
  throw new Refusal(
    "conflict",
    `The schedule is defined in ${file}: change it there. Here you can only enable or disable it.`,
  );
};

/**
 * Returns the columns that a change sets. Sets the next time only if the times change, or if the change switches the
 * schedule on.
 */
const toChange = (context: Context, row: Row, body: z.output<typeof ScheduleChange>): Partial<Row> => {
  const { envVariables: _, ref, ...columns } = body;
  const change: Partial<Row> = { ...columns, ...(ref !== undefined && { ref: ref === null ? null : refOf(ref) }) };
  const next = { ...row, ...change };
  const hasNewTimes = next.cron !== row.cron || next.timeZone !== row.timeZone;
  if (!hasNewTimes && (row.isActive || !next.isActive)) return change;
  return { ...change, nextAt: timestamp(nextRun(next, context.now.getTime())) };
};

const isOnlySwitch = (row: Row, { envVariables, ...change }: z.output<typeof ScheduleChange>): boolean =>
  envVariables === undefined &&
  Object.entries(change).every(
    ([field, value]) =>
      field === "isActive" ||
      row[field as keyof Row] === (field === "ref" && typeof value === "string" ? refOf(value) : value),
  );

export const updateSchedule = verb({
  access: { role: "maintainer" },
  params: PathId,
  body: makeUpdateSchema(Schedule, ScheduleChange),
  output: Schedule,
  async run(context, { params, body }) {
    const row = await findOne(context, schedule, COLUMNS, params.id);
    const fields = writablePart(body, ScheduleChange, { ...recordMaker(context)(row), ...readMoving(body) });
    if (!isOnlySwitch(row, fields)) checkSource(row);
    checkTimes({ ...row, ...fields, ref: fields.ref ?? null });
    const { envVariables } = fields;
    if (envVariables) await checkValues(context, row.pipelineId, envVariables);
    const sealed = envVariables && { envVariables: await sealScheduled(context.keys, row, envVariables) };
    const change = { ...toChange(context, row, fields), ...sealed, ...nextVersion(context, row) };
    const next = { ...row, ...change };
    await commit(
      context,
      { action: "schedule.update", subject: row.id, detail: auditDetail(next) },
      updateRow(context, schedule, row, change),
      sameName(context, next),
    );
    return toAnswer(context, next);
  },
});

export const deleteSchedule = verb({
  access: { role: "maintainer" },
  params: PathId,
  async run(context, { params }) {
    const row = await findOne(context, schedule, COLUMNS, params.id);
    checkSource(row);
    const detail = auditDetail(row);
    const change = { action: "schedule.delete", subject: row.id, detail } as const;
    await commit(context, change, deleteRow(context, schedule, row));
  },
});
