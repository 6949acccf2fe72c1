import { and, desc, eq, inArray, lt, sql } from "drizzle-orm";
import { buildSummary, connection, repository } from "../db/schema.ts";
import { type EnvironmentChange, environmentChanges } from "../domain/comparison/environment-change.ts";
import { compareAddress } from "../domain/comparison/host-address.ts";
import { type DiffLine, logDifference } from "../domain/comparison/log-difference.ts";
import { refOf } from "../domain/git-ref.ts";
import type { Build, Step } from "../protocol/build.ts";
import type { JobOfBuild } from "../protocol/build-job.ts";
import type { BuildJob } from "../protocol/job-record.ts";
import { findJob, findLogOfJob } from "./build-jobs.ts";
import { findRecord } from "./builds.ts";
import type { Context } from "./core/context.ts";
import { isOwn } from "./core/record.ts";
import { Refusal } from "./core/refusal.ts";
import type { Logged } from "./log-places.ts";
import { readFound } from "./logs.ts";

/** Builds among which the last green one is looked for, and what of a step's log is compared: its end. */
const LOOKED_AT = 200;
const LOG_BYTES = 64 * 1024;
const LOG_LINES = 400;
const LINE_CHARACTERS = 500;
const ESCAPES = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])/g;
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f]/g;

/** Seconds that a job, or a step of a build of one, took in both builds; null where it did not run to its end. */
export interface TimeOfBoth {
  name: string;
  before: number | null;
  now: number | null;
}

export interface Comparison {
  build: Build;
  /** The last build before it that succeeded, of its branch or else of the default branch; null where none is known. */
  green: Build | null;
  /** The host's page of the commits between; null where they are the same, or the host has none. */
  commitsUrl: string | null;
  environment: EnvironmentChange[];
  times: TimeOfBoth[];
  /** Agents of what is compared: of the job that failed first, or of the build. */
  agents: { before: string | null; now: string | null };
  /** What is compared of builds of several: the key of the job that failed first. */
  job: string | null;
  /** The end of the step that failed, against the same step; null where one of both has no log. */
  log: { step: string; lines: DiffLine[] } | null;
}

/** What ran: a build of one job, or the one job of several that is compared. */
type Ran = Pick<Build, "id" | "environment" | "steps" | "agentId"> & { log: Logged };

const findGreen = async (context: Context, build: Build) => {
  const { db, orgId } = context;
  const { repoId, pipelineId, id, ref, status } = buildSummary;
  const isOfPipeline = build.pipelineId === null ? eq(repoId, build.repoId) : eq(pipelineId, build.pipelineId);
  const newest = db.sql
    .select({ id, ref, status })
    .from(buildSummary)
    .where(and(eq(buildSummary.orgId, orgId), isOfPipeline, lt(id, build.id)))
    .orderBy(desc(id))
    .limit(LOOKED_AT)
    .as("newest");
  const [[owner]] = await db.run(
    db.sql
      .select({
        branch: repository.defaultBranch,
        fullName: repository.fullName,
        kind: connection.kind,
        webUrl: connection.webUrl,
      })
      .from(repository)
      .leftJoin(connection, eq(connection.id, repository.connectionId))
      .where(isOwn(context, repository, build.repoId)),
  );
  const refs = [build.ref, ...(owner ? [refOf(owner.branch)] : [])];
  const [[green]] = await db.run(
    db.sql
      .select({ id: newest.id })
      .from(newest)
      .where(and(eq(newest.status, "succeeded"), inArray(newest.ref, refs)))
      .orderBy(sql`${newest.ref} = ${build.ref} DESC`, desc(newest.id))
      .limit(1),
  );
  return { owner, greenId: green?.id ?? null };
};

const secondsOf = ({ startedAt, finishedAt }: Pick<Step, "startedAt" | "finishedAt">): number | null =>
  startedAt === null || finishedAt === null ? null : (Date.parse(finishedAt) - Date.parse(startedAt)) / 1000;

const timesOf = (build: Build, green: Build): TimeOfBoth[] => {
  const named = ({ jobs, steps }: Build): [string, number | null][] =>
    jobs ? jobs.map((job) => [job.key, secondsOf(job)]) : steps.map((step) => [step.name, secondsOf(step)]);
  const [now, before] = [new Map(named(build)), new Map(named(green))];
  return [...new Set([...now.keys(), ...before.keys()])].map((name) => ({
    ...{ name, before: before.get(name) ?? null, now: now.get(name) ?? null },
  }));
};

const firstFailed = (jobs: JobOfBuild[]): JobOfBuild | undefined =>
  jobs
    .filter(({ status, startedAt }) => status === "failed" && startedAt !== null)
    .sort((a, b) => ((a.finishedAt ?? "") < (b.finishedAt ?? "") ? -1 : 1))[0];

const ofJob = async (context: Context, jobs: JobOfBuild[] | null, key: string): Promise<Ran | null> => {
  const listed = jobs?.find((job) => job.key === key);
  if (!listed) return null;
  const [job, log]: [BuildJob, Logged] = await Promise.all([
    findJob(context, listed.id),
    findLogOfJob(context, listed.id),
  ]);
  return { ...job, log };
};

const ofBuild = (build: Build): Ran | null => (build.jobs === null ? { ...build, log: build } : null);

/** The last lines of a step's part of the log, without escape sequences. */
const readStep = async (context: Context, { steps, log }: Ran, step: Step): Promise<string[] | null> => {
  const start = step.logOffset;
  if (start === null) return null;
  const offsets = steps.flatMap(({ logOffset }) => (logOffset !== null && logOffset > start ? [logOffset] : []));
  const end = offsets.length > 0 ? Math.min(...offsets) : undefined;
  try {
    const { size } = await readFound(context, log, { start: 0, end: 0 });
    const until = Math.min(end ?? size, size);
    const { body } = await readFound(context, log, { start: Math.max(start, until - LOG_BYTES), end: until });
    const text = (await new Response(body).text()).replace(ESCAPES, "").replaceAll("\r\n", "\n").replace(CONTROLS, "");
    return text
      .split("\n")
      .slice(-LOG_LINES)
      .map((one) => one.slice(0, LINE_CHARACTERS));
  } catch (error) {
    if (error instanceof Refusal && error.kind === "not-found") return null;
    throw error;
  }
};

const logOf = async (context: Context, now: Ran, before: Ran): Promise<Comparison["log"]> => {
  const failed = now.steps.find(({ status }) => status === "failed");
  const same =
    failed && before.steps.find(({ id, name }) => (failed.id === null ? name === failed.name : id === failed.id));
  if (!failed || !same) return null;
  const [older, newer] = await Promise.all([readStep(context, before, same), readStep(context, now, failed)]);
  return older && newer && { step: failed.name, lines: logDifference(older, newer) };
};

/** A build beside the last green one before it. Reads at most 64 KiB of each log. @throws Refusal not-found */
export const readComparison = async (context: Context, id: string): Promise<Comparison> => {
  const build = await findRecord(context, id);
  const { owner, greenId } = await findGreen(context, build);
  const green = greenId === null ? null : await findRecord(context, greenId);
  const nothing = { environment: [], times: [], agents: { before: null, now: build.agentId }, job: null, log: null };
  if (!green) return { build, green, commitsUrl: null, ...nothing };
  const job = build.jobs && (firstFailed(build.jobs)?.key ?? null);
  const [now, before] = await Promise.all(
    job === null
      ? [ofBuild(build), ofBuild(green)]
      : [ofJob(context, build.jobs, job), ofJob(context, green.jobs, job)],
  );
  const [from, to] = [green.commitSha, build.commitSha];
  const hasPage = owner?.kind && owner.webUrl && from && to && from !== to;
  return {
    ...{ build, green, job },
    commitsUrl: hasPage ? compareAddress(owner.kind!, owner.webUrl!, owner.fullName, from, to) : null,
    environment: now?.environment && before?.environment ? environmentChanges(before.environment, now.environment) : [],
    times: timesOf(build, green),
    agents: { before: before?.agentId ?? null, now: now?.agentId ?? null },
    log: now && before ? await logOf(context, now, before) : null,
  };
};
