import type { Agent } from "../../protocol/agent.ts";
import type { Artifact } from "../../protocol/artifact.ts";
import type { Build } from "../../protocol/build.ts";
import type { JobOfBuild } from "../../protocol/build-job.ts";
import type { Explanation } from "../../protocol/explain.ts";
import type { BuildJob } from "../../protocol/job-record.ts";
import { getAgent, listAgents } from "../../services/agents/agents.ts";
import { explainWait, findCanceler } from "../../services/builds/build-jobs.ts";
import { findWithSurroundings, type Owners, type SurroundedBuild } from "../../services/builds/build-surroundings.ts";
import { ownJob, plannedJobs, type ReadJob } from "../../services/builds/build-view.ts";
import { type FoundBuild, findRecord, type RefusedState, refusedStates } from "../../services/builds/builds.ts";
import { type Failure, readFailure, readFirstFailure } from "../../services/builds/failure.ts";
import { OUTPUT_BYTES, readLogEnd, toTail } from "../../services/builds/step-output.ts";
import type { Context } from "../../services/core/context.ts";
import { nullIfNotFound } from "../../services/core/refusal.ts";
import { listArtifactsOfBuild } from "../../services/uploads/artifacts.ts";
import type { ShownTests } from "../build/tests.tsx";
import { type UsualTimes, usualTimes } from "../parts/time-axis.ts";
import { byId, namesById, noInput } from "../shell/verb-input.ts";
import { hasEnded, isYetToRun, jobStateOf } from "./arrange.ts";
import type { JobListDetails } from "./job-list.tsx";
import type { Tab } from "./part-tabs.tsx";

type RunFacts = Pick<BuildJob, "id" | "status" | "attempt" | "tests" | "environment" | "summary">;

/** The content of a job's or a build's page, below its facts. */
export interface Details extends Owners {
  /** The job or the build that the page shows. */
  run: RunFacts & Partial<Pick<BuildJob, "outputs">>;
  build: FoundBuild;
  /** The jobs whose tests and artifacts the page shows. */
  jobs: ReadJob[];
  now: Date;
  /** The end of the log, for a browser without scripts; null if the log was deleted, undefined if there is no log. */
  logTail: string | null | undefined;
  /** The number of earlier attempts. */
  lost: number;
  /** The reason for the job's or the build's failure. */
  failure: Failure | null;
  /** The last earlier build that succeeded. */
  green: FoundBuild | null;
  /** The artifacts so far. */
  artifacts: Artifact[];
}

/** The page's details with the chosen tab. */
export interface OpenedPage {
  page: string;
  tabs: Tab[];
  tab: string | undefined;
  tests: ShownTests;
  testsPage: string;
  /** The address of the page with the log; empty if this page has the log. */
  logPage: string;
}

export interface JobDetails extends Details {
  run: BuildJob;
  agent: Agent | null;
  /** The explanation why the job waits; null if it waits for approval. */
  explanation: Explanation | null;
  /** The durations of this job and its steps in the last green run. */
  usual: UsualTimes;
}

/** Awaits all values of an object in parallel. */
const resolveAll = async <T extends object>(values: T): Promise<{ [K in keyof T]: Awaited<T[K]> }> => {
  const entries = Object.entries(values).map(async ([key, value]) => [key, await value] as const);
  return Object.fromEntries(await Promise.all(entries)) as { [K in keyof T]: Awaited<T[K]> };
};

/**
 * Reports whether the job has a log. It has none before its turn, if it ended before an agent had it, or if the build
 * adopted its result.
 */
const hasLog = (job: BuildJob): boolean =>
  !isYetToRun(job) && (job.attempt > 0 || !hasEnded(job)) && job.adoptedFrom === null;

/** Counts the earlier attempts that belong to this build. */
const countLostAttempts = (job: BuildJob): number => {
  if (job.adoptedFrom !== null) return 0;
  return job.status === "queued" ? job.attempt : job.attempt - 1;
};

/** Reads the end of the log, and the reason for the job's failure. */
const readLog = async (context: Context, build: FoundBuild, job: BuildJob) => {
  const hasFailed = job.status === "failed";
  const log = { ...job, orgId: build.orgId, isLogDeleted: build.isLogDeleted };
  const end = hasLog(job) ? await readLogEnd(context, log, hasFailed ? OUTPUT_BYTES : 0) : undefined;
  return {
    logTail: end === undefined ? undefined : toTail(end),
    failure: hasFailed ? await readFailure(context, build, job, end) : null,
  };
};

/** Reads a job's details. The job's build may still be loading. */
export const readJob = async (
  context: Context,
  job: BuildJob,
  reading: Promise<SurroundedBuild>,
): Promise<JobDetails> => {
  const waits = isYetToRun(job);
  const { surrounded, agent, explanation, log, green, artifacts } = await resolveAll({
    surrounded: reading,
    agent: job.agentId === null ? null : nullIfNotFound(getAgent.run(context, byId(job.agentId))),
    explanation: waits && jobStateOf(job) !== "asking" ? explainWait.run(context, byId(job.id)) : null,
    log: reading.then(({ build }) => readLog(context, build, job)),
    green: waits ? null : reading.then(({ findLastGreen }) => findLastGreen()),
    artifacts: hasEnded(job) ? reading.then(({ build }) => listArtifactsOfBuild(context, build, [job])) : [],
  });
  const { build, owners } = surrounded;
  const lastRun = green?.jobs.find(({ key, adoptedFrom }) => key === job.key && adoptedFrom === null);
  return {
    ...owners,
    ...log,
    run: job,
    jobs: [job],
    build,
    now: context.now,
    agent,
    green,
    artifacts,
    explanation: build.waitsFor.some(({ jobId }) => jobId === job.id) ? null : explanation,
    lost: countLostAttempts(job),
    usual: usualTimes(lastRun, lastRun?.steps ?? []),
  };
};

/**
 * The number of queued definitions that a page explains through the pool, and the number of earlier builds whose
 * numbers it reads.
 */
const MOST = { explained: 5, adopted: 5 };

export interface JobsDetails extends Details, JobListDetails {
  /** The durations of the last green run and of each of its jobs. */
  usual: UsualTimes;
  /** The keys of jobs that no registered agent can run, each with the explanation why the job waits. */
  unable: { key: string; why: Explanation }[];
}

const readNumber = async (context: Context, id: string): Promise<[string, number][]> => {
  const build = await nullIfNotFound(findRecord(context, id));
  return build ? [[id, build.number]] : [];
};

/**
 * Returns one waiting job of each definition that waits for an agent, because the combinations of a definition usually
 * have the same requirements.
 */
const waitingForAgents = (jobs: JobOfBuild[]): JobOfBuild[] => {
  const queued = jobs.filter(({ status }) => status === "queued");
  return [...Map.groupBy(queued, ({ definition }) => definition).values()].flatMap(([first]) => first ?? []);
};

const explain = async (context: Context, { id, definition }: JobOfBuild) => {
  const why = await nullIfNotFound(explainWait.run(context, byId(id)));
  return why && (why.code === "no-agents" || why.code === "no-capable-agent") ? [{ key: definition, why }] : [];
};

/** Reads the details of a build's planned jobs. */
const readJobs = async (context: Context, { build, owners, findLastGreen }: SurroundedBuild): Promise<JobsDetails> => {
  const jobs = plannedJobs(build);
  const adopted = [...new Set(jobs.flatMap(({ adoptedFrom }) => adoptedFrom ?? []))].slice(0, MOST.adopted);
  const hasAgents = jobs.some(({ agentId }) => agentId !== null);
  const unexplained = waitingForAgents(jobs).slice(0, MOST.explained);
  const { agents, numbers, unable, failure, green, artifacts } = await resolveAll({
    agents: hasAgents ? listAgents.run(context, noInput) : [],
    numbers: Promise.all(adopted.map((id) => readNumber(context, id))),
    unable: Promise.all(unexplained.map((job) => explain(context, job))),
    failure: readFirstFailure(context, build),
    green: findLastGreen(),
    artifacts: listArtifactsOfBuild(context, build),
  });
  const lastRuns = (green ? plannedJobs(green) : []).filter(({ adoptedFrom }) => adoptedFrom === null);
  return {
    ...owners,
    run: build,
    build,
    now: context.now,
    failure,
    green,
    artifacts,
    logTail: undefined,
    jobs: jobs.map((job) => (job.id === failure?.job.id ? failure.job : job)),
    lost: build.attempt - 1,
    usual: usualTimes(
      green,
      lastRuns.map(({ key: name, startedAt, finishedAt }) => ({ name, startedAt, finishedAt })),
    ),
    agents: namesById(agents, ({ name }) => name),
    adopted: new Map(numbers.flat()),
    unable: unable.flat(),
  };
};

export interface BuildDetails extends Owners {
  build: FoundBuild;
  now: Date;
  /** The newer build that superseded this one. */
  successor: Build | null;
  /** The earlier build that this one retries. */
  retried: Build | null;
  /** The person who canceled the build, if known. */
  canceler: string | null;
  /** The states of the build that its git host rejected. */
  refused: RefusedState[];
  /** The single job that the page shows in place of the build, or all jobs in the build's file. */
  body: JobDetails | JobsDetails;
}

/**
 * Reads the details of a build's page.
 * @throws Refusal not-found
 */
export const readBuild = async (context: Context, id: string | undefined): Promise<BuildDetails> => {
  const surrounded = await findWithSurroundings(context, id ?? "");
  const { build, owners } = surrounded;
  const own = ownJob(build);
  const details = await resolveAll({
    successor: build.supersededBy === null ? null : nullIfNotFound(findRecord(context, build.supersededBy)),
    retried: build.retryOf === null ? null : nullIfNotFound(findRecord(context, build.retryOf)),
    canceler: build.status === "canceled" && build.reason !== "superseded" ? findCanceler(context, build) : null,
    refused: owners.repository ? refusedStates(context, owners.repository, build) : [],
    body: own ? readJob(context, own, Promise.resolve(surrounded)) : readJobs(context, surrounded),
  });
  return { build, now: context.now, ...owners, ...details };
};
