import { and, eq } from "drizzle-orm";
import type { Query } from "../../db/query.ts";
import { schedule } from "../../db/schema.ts";
import { nextRun } from "../../domain/schedule.ts";
import type { NamedSchedule } from "../../pipeline/triggers/triggers.ts";
import { openScheduled, sealScheduled } from "../builds/run-values.ts";
import type { Context } from "../core/context.ts";
import { Damaged } from "../core/sealing.ts";

type Row = typeof schedule.$inferSelect;

/**
 * Changes that bring the stored schedules in line with the file. They belong to the batch that stores the file's
 * settings.
 */
interface FileSchedules {
  statements: Query[];
  /** Names that a schedule of the API already has. That schedule stays, and the file's schedule has no effect. */
  shadowed: string[];
}

const newRow = async (context: Context, pipelineId: string, scheduled: NamedSchedule): Promise<Row> => {
  const { name, cron, timeZone, env } = scheduled;
  const owner = { orgId: context.orgId, pipelineId, id: context.newId() };
  return {
    ...owner,
    name,
    cron,
    timeZone,
    ref: null,
    envVariables: await sealScheduled(context.keys, owner, env),
    isActive: true,
    nextAt: new Date(nextRun(scheduled, context.now.getTime())).toISOString(),
    source: "file",
    lastAt: null,
    lastBuildId: null,
    version: 1,
    createdAt: context.at,
    updatedAt: context.at,
  };
};

/**
 * Reports whether the stored values equal these values. Damaged values count as different, so that the service rewrites
 * them.
 */
const hasValues = async (context: Context, row: Row, values: Record<string, string>): Promise<boolean> => {
  try {
    const before = await openScheduled(context.keys, row, row.envVariables);
    return JSON.stringify(before) === JSON.stringify(values);
  } catch (error) {
    if (error instanceof Damaged) return false;
    throw error;
  }
};

/** Returns the differences from the stored schedule. Includes the next time only if the schedule's times differ. */
const diffSchedule = async (context: Context, row: Row, scheduled: NamedSchedule): Promise<Partial<Row>> => {
  const { cron, timeZone, env } = scheduled;
  const hasNewTimes = row.cron !== cron || row.timeZone !== timeZone;
  return {
    ...(hasNewTimes && { cron, timeZone, nextAt: new Date(nextRun(scheduled, context.now.getTime())).toISOString() }),
    ...(!(await hasValues(context, row, env)) && { envVariables: await sealScheduled(context.keys, row, env) }),
  };
};

const update = ({ db, at }: Context, row: Row, change: Partial<Row>): Query[] => {
  if (Object.keys(change).length === 0) return [];
  const same = and(eq(schedule.id, row.id), eq(schedule.version, row.version));
  return [
    db.sql
      .update(schedule)
      .set({ ...change, version: row.version + 1, updatedAt: at })
      .where(same),
  ];
};

/**
 * Reads the pipeline's schedules, and returns the statements that bring them in line with its file. A schedule that a
 * person switched off stays off. The service can repeat the statements, and a simultaneous change does not make them
 * fail: the next file corrects the result.
 * @throws Refusal keyring-unavailable
 */
export const syncFileSchedules = async (
  context: Context,
  pipelineId: string,
  scheduled: NamedSchedule[],
): Promise<FileSchedules> => {
  const { db, orgId } = context;
  const ofPipeline = and(eq(schedule.orgId, orgId), eq(schedule.pipelineId, pipelineId));
  const [rows] = await db.run(db.sql.select().from(schedule).where(ofPipeline));
  const rowsByName = new Map(rows.map((row) => [row.name, row]));
  const names = new Set(scheduled.map(({ name }) => name));
  const removed = rows.filter(({ name, source }) => source === "file" && !names.has(name));
  const statements: Query[] = removed.map(({ id }) => db.sql.delete(schedule).where(eq(schedule.id, id)));
  const shadowed: string[] = [];
  for (const one of scheduled) {
    const row = rowsByName.get(one.name);
    if (row?.source === "api") shadowed.push(one.name);
    else if (row) statements.push(...update(context, row, await diffSchedule(context, row, one)));
    else {
      const values = await newRow(context, pipelineId, one);
      statements.push(db.sql.insert(schedule).values(values).onConflictDoNothing());
    }
  }
  return { statements, shadowed };
};
