import type { Agent } from "../../protocol/agent.ts";
import type { Artifact } from "../../protocol/artifact.ts";
import type { Build, Step } from "../../protocol/build.ts";
import { isEnded } from "../../protocol/build-states.ts";
import type { Explanation } from "../../protocol/explain.ts";
import { getAgent } from "../../services/agents.ts";
import { artifactsOf } from "../../services/artifacts.ts";
import { stepsIn } from "../../services/build-jobs.ts";
import { findRecord } from "../../services/builds.ts";
import type { Context } from "../../services/core/context.ts";
import { nullIfNotFound } from "../../services/core/refusal.ts";
import { explainBuild } from "../../services/explain.ts";
import { type FailedJob, readFailedJob } from "../../services/failed-job.ts";
import { type Failure, readFailure } from "../../services/failure.ts";
import { findLastGreen } from "../../services/last-green.ts";
import { readLogEnd, tailOf } from "../../services/log-end.ts";
import { type RefusedState, refusedStates } from "../../services/refused-states.ts";
import { OUTPUT_BYTES } from "../../services/step-output.ts";
import { findCanceler } from "../../services/who-canceled.ts";
import { type Owners, readOwners } from "../components/build-name.tsx";
import { isWaiting } from "../components/state.tsx";
import { type JobDetails, readJobDetails } from "../jobs/read-job-details.ts";
import { byId } from "../verb-input.ts";
import { type UsualTimes, usualTimes } from "../waterfall/usual-times.ts";

export interface BuildDetails extends Owners {
  build: Awaited<ReturnType<typeof findRecord>>;
  now: Date;
  agent: Agent | null;
  /** The build that took its place. */
  successor: Build | null;
  /** The build that this one runs again. */
  retried: Build | null;
  /** Who canceled it, where that is known. */
  canceler: string | null;
  /** What its git host did not take. */
  refused: RefusedState[];
  /** Why a queued build waits. */
  explanation: Explanation | null;
  /** The end of the log, for a browser without scripts; null when the log was deleted. */
  logTail: string | null;
  /** Of a build of several jobs. */
  jobs: JobDetails | null;
  /** The job that failed first, of a build of several. */
  failedJob: FailedJob | null;
  /** Why it failed, of a build of one job. */
  failure: Failure | null;
  /** The last build before this one that succeeded. */
  green: Build | null;
  usual: UsualTimes;
  /** The steps of jobs by their ids, where they were read. */
  steps: Map<string, Step[]>;
  /** What its jobs left so far. */
  artifacts: Artifact[];
}

/** The log of a build of one job: its end, and why the build failed. */
const readLog = async (context: Context, build: BuildDetails["build"]) => {
  if (build.jobs || isWaiting(build.status)) return { logTail: "", failure: null };
  const hasFailed = build.status === "failed";
  const end = await readLogEnd(context, build, hasFailed ? OUTPUT_BYTES : 0);
  return { logTail: tailOf(end), failure: hasFailed ? await readFailure(context, build, end) : null };
};

/** What the page of a build shows. @throws Refusal not-found */
export const readBuild = async (context: Context, id: string | undefined): Promise<BuildDetails> => {
  const reading = findRecord(context, id ?? "");
  const [build, owners] = await Promise.all([reading, readOwners(context, reading)]);
  const isOfOne = build.jobs === null;
  const [agent, successor, retried, canceler, refused, explanation, log, jobs, failedJob, green, artifacts] =
    await Promise.all([
      isOfOne && build.agentId !== null ? nullIfNotFound(getAgent.run(context, byId(build.agentId))) : null,
      build.supersededBy === null ? null : nullIfNotFound(findRecord(context, build.supersededBy)),
      build.retryOf === null ? null : nullIfNotFound(findRecord(context, build.retryOf)),
      build.status === "canceled" && build.reason !== "superseded" ? findCanceler(context, build) : null,
      owners.repository ? refusedStates(context, owners.repository, build) : [],
      isOfOne && isWaiting(build.status) ? explainBuild.run(context, byId(build.id)) : null,
      readLog(context, build),
      build.jobs && readJobDetails(context, build.jobs),
      readFailedJob(context, build),
      isOfOne && isWaiting(build.status) ? null : findLastGreen(context, build),
      isOfOne && !isEnded(build.status) ? [] : artifactsOf(context, build),
    ]);
  const steps = stepsIn(build);
  if (failedJob) steps.set(failedJob.job.id, failedJob.job.steps);
  const usual = usualTimes(green);
  return {
    ...{
      build,
      now: context.now,
      ...owners,
      agent,
      successor,
      retried,
      canceler,
      refused,
      explanation,
      ...log,
      jobs,
      failedJob,
      green,
      usual,
    },
    ...{ steps, artifacts },
  };
};
