import type { Agent } from "../../protocol/agent.ts";
import type { Explanation } from "../../protocol/explain.ts";
import type { BuildJob } from "../../protocol/job-record.ts";
import { getAgent } from "../../services/agents/agents.ts";
import type { FoundBuild } from "../../services/builds/builds.ts";
import { explainWait } from "../../services/builds/explain.ts";
import { findLastGreen, readFailure } from "../../services/builds/failure.ts";
import { readLogEnd, tailOf } from "../../services/builds/log-end.ts";
import { OUTPUT_BYTES } from "../../services/builds/step-output.ts";
import type { Context } from "../../services/core/context.ts";
import { nullIfNotFound } from "../../services/core/refusal.ts";
import { artifactsOf } from "../../services/uploads/artifacts.ts";
import { type UsualTimes, usualTimes } from "../build/usual-times.ts";
import type { Owners } from "../parts/build-name.tsx";
import { byId } from "../shell/verb-input.ts";
import { hasEnded, isYetToRun, jobStateOf } from "./arrange.ts";
import type { Details } from "./details.ts";

export interface JobDetails extends Details {
  of: BuildJob;
  agent: Agent | null;
  /** Why a job that nobody has to approve waits. */
  explanation: Explanation | null;
  /** How long this job and its steps took in the last green run. */
  usual: UsualTimes;
}

/** Not before its turn, where it ended before an agent had it, or where an earlier build had it. */
const hasLog = (job: BuildJob): boolean =>
  !isYetToRun(job) && (job.attempt > 0 || !hasEnded(job)) && job.adoptedFrom === null;

const lostOf = (job: BuildJob): number => {
  if (job.adoptedFrom !== null) return 0;
  return job.status === "queued" ? job.attempt : job.attempt - 1;
};

/** The end of the log, and why the job failed. */
const readLog = async (context: Context, build: FoundBuild, job: BuildJob) => {
  const hasFailed = job.status === "failed";
  const log = { ...job, orgId: build.orgId, isLogDeleted: build.isLogDeleted };
  const end = hasLog(job) ? await readLogEnd(context, log, hasFailed ? OUTPUT_BYTES : 0) : undefined;
  return {
    logTail: end === undefined ? undefined : tailOf(end),
    failure: hasFailed ? await readFailure(context, build, job, end) : null,
  };
};

/** What pages show of a job. */
export const readJob = async (
  context: Context,
  reading: Promise<FoundBuild>,
  readingOwners: Promise<Owners>,
  job: BuildJob,
): Promise<JobDetails> => {
  const waits = isYetToRun(job);
  const [build, owners, agent, explanation, log, green, artifacts] = await Promise.all([
    reading,
    readingOwners,
    job.agentId === null ? null : nullIfNotFound(getAgent.run(context, byId(job.agentId))),
    waits && jobStateOf(job) !== "asking" ? explainWait.run(context, byId(job.id)) : null,
    reading.then((build) => readLog(context, build, job)),
    waits ? null : reading.then((build) => findLastGreen(context, build)),
    hasEnded(job) ? reading.then((build) => artifactsOf(context, build, [job])) : [],
  ]);
  const ran = green?.jobs.find(({ key, adoptedFrom }) => key === job.key && adoptedFrom === null);
  return {
    ...{ of: job, jobs: [job], build, now: context.now, ...owners, agent, ...log, green, artifacts },
    explanation: build.waitsFor.some(({ jobId }) => jobId === job.id) ? null : explanation,
    lost: lostOf(job),
    usual: usualTimes(ran, ran?.steps ?? []),
  };
};
