import type { Agent } from "../../protocol/agent.ts";
import type { Artifact } from "../../protocol/artifact.ts";
import type { Build } from "../../protocol/build.ts";
import type { Explanation } from "../../protocol/explain.ts";
import type { BuildJob } from "../../protocol/job-record.ts";
import { getAgent } from "../../services/agents.ts";
import { listJobArtifacts } from "../../services/artifacts.ts";
import { explainJob, getJob } from "../../services/build-jobs.ts";
import { findRecord } from "../../services/builds.ts";
import type { Context } from "../../services/core/context.ts";
import { nullIfNotFound } from "../../services/core/refusal.ts";
import { type Failure, readFailure } from "../../services/failure.ts";
import { findLastGreen } from "../../services/last-green.ts";
import { readLogEnd, tailOf } from "../../services/log-end.ts";
import { OUTPUT_BYTES } from "../../services/step-output.ts";
import { type Owners, readOwners } from "../components/build-name.tsx";
import { byId } from "../verb-input.ts";
import { type UsualTimes, usualTimesOfJob } from "../waterfall/usual-times.ts";
import { hasEnded, isYetToRun, stateOf } from "./arrange.ts";

export interface JobPageDetails extends Owners {
  job: BuildJob;
  build: Build;
  now: Date;
  agent: Agent | null;
  /** Why a job that nobody has to approve waits. */
  explanation: Explanation | null;
  /** The end of the log; null when it was deleted, undefined where there is none. */
  logTail: string | null | undefined;
  /** Why it failed. */
  failure: Failure | null;
  /** The last build before this one that succeeded. */
  green: Build | null;
  /** How long this job and its steps took then. */
  usual: Pick<UsualTimes, "whole" | "steps">;
  artifacts: Artifact[];
}

/** An agent had it, and a build before this one did not. */
const hasLog = (job: BuildJob): boolean => !isYetToRun(job) && job.attempt > 0 && job.adoptedFrom === null;

/** What the page of a job shows. @throws Refusal not-found */
export const readJob = async (context: Context, id: string | undefined): Promise<JobPageDetails> => {
  const job = await getJob.run(context, byId(id));
  const reading = findRecord(context, job.buildId);
  const readLog = async () => {
    const hasFailed = job.status === "failed";
    if (!hasLog(job)) return { logTail: undefined, failure: hasFailed ? { step: null, excerpt: null } : null };
    const { isLogDeleted, orgId } = await reading;
    const log = { ...job, orgId, isLogDeleted };
    const end = await readLogEnd(context, log, hasFailed ? OUTPUT_BYTES : 0);
    return { logTail: tailOf(end), failure: hasFailed ? await readFailure(context, log, end) : null };
  };
  const waits = isYetToRun(job) && stateOf(job) !== "asking";
  const [build, owners, agent, explanation, log, green, artifacts] = await Promise.all([
    reading,
    readOwners(context, reading),
    job.agentId === null ? null : nullIfNotFound(getAgent.run(context, byId(job.agentId))),
    waits ? explainJob.run(context, byId(job.id)) : null,
    readLog(),
    reading.then((build) => findLastGreen(context, build)),
    hasEnded(job) ? listJobArtifacts.run(context, byId(job.id)) : [],
  ]);
  const usual = usualTimesOfJob(green, job.key);
  return { job, build, now: context.now, ...owners, agent, explanation, ...log, green, usual, artifacts };
};
