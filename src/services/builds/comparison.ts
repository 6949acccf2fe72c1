import { eq } from "drizzle-orm";
import { connection, repository } from "../../db/schema.ts";
import { type DiffLine, type EnvironmentChange, environmentChanges, logDifference } from "../../domain/comparison.ts";
import { partFrom } from "../../domain/failure/error-lines.ts";
import { plainText } from "../../domain/text.ts";
import { commitAddress, compareAddress } from "../../githosts/core/host-address.ts";
import type { Build, Step } from "../../protocol/build.ts";
import type { BuildJob } from "../../protocol/job-record.ts";
import { settledLine } from "../../protocol/settled-line.ts";
import { KIB, SECOND_MS } from "../../protocol/units.ts";
import { failedJobs } from "../../queue/read/job-records.ts";
import type { Context } from "../core/context.ts";
import { isOwn } from "../core/record.ts";
import { notFound, Refusal } from "../core/refusal.ts";
import { findJob, findLog, type Logged } from "./build-jobs.ts";
import { findWithSurroundings, type Owners } from "./build-surroundings.ts";
import { jobKeyOf, ownJob, plannedJobs } from "./build-view.ts";
import { type FoundBuild, findRecord } from "./builds.ts";
import { readFound } from "./logs.ts";

/** Bytes at the end of a step's log that the comparison reads. */
const LOG_BYTES = 64 * KIB;
const LOG_LINES = 400;
const LINE_CHARACTERS = 500;

/** Seconds that a job or a step took in each of the two builds; null if it did not run to its end. */
export interface TimeOfBoth {
  name: string;
  isStep: boolean;
  before: number | null;
  now: number | null;
}

export interface Comparison {
  build: FoundBuild;
  owners: Owners;
  /**
   * The last earlier build that succeeded, preferably on the compared build's branch, otherwise on the default branch;
   * null if none is known.
   */
  green: Build | null;
  /**
   * The host's page with the commits between the two builds; null if the commits are equal, or if the host has no such
   * page.
   */
  commitsUrl: string | null;
  environment: EnvironmentChange[];
  times: TimeOfBoth[];
  /** The agents that ran the compared job. */
  agents: { before: string | null; now: string | null };
  /** The key of the compared job, which is the job that failed first. */
  job: string | null;
  /** The end of the failed step's log, compared with the same step's log; null if either step has no log. */
  log: { step: string; lines: DiffLine[] } | null;
}

/** The compared job in one of the builds. */
type Ran = Pick<BuildJob, "environment" | "steps" | "agentId"> & { log: Logged };

/** Finds the git host that can show the changes between two commits. */
const findHost = async (context: Context, { repoId }: Build) => {
  const { db } = context;
  const { kind, webUrl } = connection;
  const [[repositoryRow]] = await db.run(
    db.sql
      .select({ fullName: repository.fullName, kind, webUrl })
      .from(repository)
      .leftJoin(connection, eq(connection.id, repository.connectionId))
      .where(isOwn(context, repository, repoId)),
  );
  return repositoryRow;
};

const secondsTaken = ({ startedAt, finishedAt }: Pick<Step, "startedAt" | "finishedAt">): number | null =>
  startedAt === null || finishedAt === null ? null : (Date.parse(finishedAt) - Date.parse(startedAt)) / SECOND_MS;

const compareTimes = (build: FoundBuild, green: FoundBuild): TimeOfBoth[] => {
  const stepsAndJobs = (one: FoundBuild) => [
    ...(ownJob(one)?.steps ?? []).map((step) => ({ name: step.name, isStep: true, time: secondsTaken(step) })),
    ...plannedJobs(one).map((job) => ({ name: job.key, isStep: false, time: secondsTaken(job) })),
  ];
  const byName = (one: FoundBuild) => new Map(stepsAndJobs(one).map((entry) => [entry.name, entry]));
  const [now, before] = [byName(build), byName(green)];
  return [...new Map([...now, ...before]).values()].map(({ name, isStep }) => ({
    name,
    isStep,
    before: before.get(name)?.time ?? null,
    now: now.get(name)?.time ?? null,
  }));
};

const jobWith = async (context: Context, { jobs }: FoundBuild, key: string | undefined): Promise<Ran | null> => {
  const listed = jobs.find((job) => job.key === key);
  if (!listed) return null;
  const [job, log] = await Promise.all([findJob(context, listed.id), findLog(context, listed.id)]);
  return { ...job, log };
};

/** Returns the last lines of a step's part of the log, without escape sequences. */
const readStep = async (context: Context, { steps, log }: Ran, step: Step): Promise<string[] | null> => {
  const start = step.logOffset;
  if (start === null) return null;
  const { end } = partFrom(steps, start);
  try {
    const { size } = await readFound(context, log, { start: 0, end: 0 });
    const until = Math.min(end ?? size, size);
    const { body } = await readFound(context, log, { start: Math.max(start, until - LOG_BYTES), end: until });
    const text = await new Response(body).text();
    return text
      .split("\n")
      .slice(-LOG_LINES)
      .map((one) => plainText(settledLine(one)).slice(0, LINE_CHARACTERS));
  } catch (error) {
    if (error instanceof Refusal && error.kind === "not-found") return null;
    throw error;
  }
};

const compareLogs = async (context: Context, now: Ran, before: Ran): Promise<Comparison["log"]> => {
  const failed = now.steps.find(({ status }) => status === "failed");
  const same =
    failed && before.steps.find(({ id, name }) => (failed.id === null ? name === failed.name : id === failed.id));
  if (!failed || !same) return null;
  const [older, newer] = await Promise.all([readStep(context, before, same), readStep(context, now, failed)]);
  return older && newer && { step: failed.name, lines: logDifference(older, newer) };
};

/** Compares a build with the last earlier green build. Reads at most 64 KiB of each log. @throws Refusal not-found */
export const readComparison = async (context: Context, id: string): Promise<Comparison> => {
  const { build, owners, findLastGreen } = await findWithSurroundings(context, id);
  const [host, green] = await Promise.all([findHost(context, build), findLastGreen()]);
  const nothing = { environment: [], times: [], agents: { before: null, now: build.agentId }, job: null, log: null };
  if (!green) return { build, owners, green, commitsUrl: null, ...nothing };
  const compared = failedJobs(build.jobs)[0] ?? ownJob(build);
  const [now, before] = await Promise.all([
    jobWith(context, build, compared?.key),
    jobWith(context, green, compared?.key),
  ]);
  const [from, to] = [green.commitSha, build.commitSha];
  const hasPage = host?.kind && host.webUrl && from && to && from !== to;
  return {
    build,
    owners,
    green,
    job: compared ? jobKeyOf(build, compared) : null,
    commitsUrl: hasPage ? compareAddress(host.kind!, host.webUrl!, host.fullName, from, to) : null,
    environment: now?.environment && before?.environment ? environmentChanges(before.environment, now.environment) : [],
    times: compareTimes(build, green),
    agents: { before: before?.agentId ?? null, now: now?.agentId ?? null },
    log: now && before ? await compareLogs(context, now, before) : null,
  };
};

/**
 * Returns the git host's page with the changes of a build's commit, or of the whole pull request.
 * @throws Refusal not-found, also if no host is known
 */
export const changesAddress = async (context: Context, id: string): Promise<string> => {
  const { repoId, base, pull, commitSha } = await findRecord(context, id);
  const { kind, webUrl } = connection;
  const [[host]] = await context.db.run(
    context.db.sql
      .select({ kind, webUrl, fullName: repository.fullName })
      .from(repository)
      .innerJoin(connection, eq(connection.id, repository.connectionId))
      .where(isOwn(context, repository, repoId)),
  );
  if (!host || commitSha === null) throw notFound();
  const from = base ?? pull?.base ?? null;
  return from === null
    ? commitAddress(host.kind, host.webUrl, host.fullName, commitSha)
    : compareAddress(host.kind, host.webUrl, host.fullName, from, commitSha);
};
