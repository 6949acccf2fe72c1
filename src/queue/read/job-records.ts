import type { GraphJob, JobGraph } from "../../pipeline/graph/graph.ts";
import type { Build, BuildReason, JobCounts } from "../../protocol/build.ts";
import type { JobGate, JobOfBuild, JobStatus } from "../../protocol/build-job.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { summarizeTests } from "../commands/tests.ts";
import type { JobFacts } from "../state/facts.ts";

const toTimestamp = (at: number | null | undefined): string | null => (at == null ? null : new Date(at).toISOString());

/** Returns a build's planned jobs as the API shows them. `factsOf` returns undefined for a job with a damaged row. */
export const toJobs = ({ jobs }: JobGraph, factsOf: (jobId: string) => JobFacts | undefined): JobOfBuild[] => {
  const depths = measureDepths(jobs);
  return jobs.map((job) => ({
    ...toDefinition(job),
    depth: depths.get(job.definition)!,
    ...toState(job, factsOf(job.id)),
  }));
};

/**
 * Returns each definition's depth, which is 0 without needs, otherwise one more than its deepest need. Needs precede
 * their dependents.
 */
const measureDepths = (jobs: readonly GraphJob[]): Map<string, number> => {
  const depths = new Map<string, number>();
  for (const { definition, needs } of jobs)
    depths.set(definition, Math.max(0, ...needs.map((need) => (depths.get(need.definition) ?? 0) + 1)));
  return depths;
};

const toDefinition = ({ id, key, definition, name, matrix, needs, mayFail }: GraphJob) => ({
  id,
  key,
  definition,
  name,
  matrix,
  mayFail,
  needs: needs.map((need) => need.definition),
});

/** The facts of a job with an unreadable row. Such a job counts as failed. */
const DAMAGED = {
  status: "failed" as const,
  cause: null,
  agentId: null,
  attempt: 0,
  exitCode: null,
  reason: "agent-error" as BuildReason,
  message: "The stored data of this job is damaged.",
  queuedAt: null,
  startedAt: null,
  finishedAt: null,
  adoptedFrom: null,
  tests: null,
};

const toState = (graphJob: GraphJob, job: JobFacts | undefined) => {
  if (!job) return { ...DAMAGED, gate: toGate(graphJob, undefined), ...(graphJob.retry && { retries: 0 }) };
  const { end, status } = job;
  return {
    status,
    cause: end?.cause ?? null,
    gate: toGate(graphJob, job),
    agentId: end ? end.agentId : job.lease ? job.agentId : null,
    attempt: end?.attempt ?? job.attempt,
    ...(graphJob.retry && { retries: (end ? end.retries : job.retries) ?? 0 }),
    exitCode: end?.exitCode ?? null,
    reason: (end ? end.reason : job.reason) ?? null,
    message: (end ? end.message : job.message) ?? null,
    queuedAt: toTimestamp(job.queuedAt),
    startedAt: toTimestamp(end ? end.startedAt : job.startedAt),
    finishedAt: toTimestamp(end?.finishedAt),
    adoptedFrom: end?.adopted?.buildId ?? null,
    tests: end?.adopted ? null : summarizeTests(job),
  };
};

const toGate = ({ gate, groups }: GraphJob, job: JobFacts | undefined): JobGate | null => {
  if (!gate) return null;
  const decision = job?.gate?.decision ?? null;
  return {
    message: gate.message,
    by: gate.by,
    groups,
    since: toTimestamp(job?.gate?.since),
    until: toTimestamp(job?.gate?.until),
    decision: decision && {
      approved: decision.approved,
      at: toTimestamp(decision.at)!,
      by: decision.name,
      comment: decision.comment,
    },
  };
};

/** Returns the gates that wait for a decision. All combinations of a matrix share one gate. */
export const toWaitsFor = (jobs: readonly JobOfBuild[]): Build["waitsFor"] => {
  const asking = jobs.filter(({ status, gate }) => gate?.since && !gate.decision && status === "waiting");
  return [...Map.groupBy(asking, ({ definition }) => definition)].map(([definition, [first, ...others]]) => ({
    jobId: first!.id,
    key: others.length > 0 ? definition : first!.key,
    gate: first!.gate!,
  }));
};

/** The count in lists to which each status belongs. */
const COUNTED: Record<JobStatus, keyof Omit<JobCounts, "total">> = {
  waiting: "waiting",
  queued: "waiting",
  assigned: "running",
  running: "running",
  canceling: "running",
  succeeded: "succeeded",
  failed: "failed",
  canceled: "stopped",
  skipped: "stopped",
  dropped: "stopped",
};

/** Counts a build's jobs by state. */
export const countsOfJobs = (jobs: readonly { status: JobStatus }[]): JobCounts => {
  const counts: JobCounts = { total: jobs.length, waiting: 0, running: 0, succeeded: 0, failed: 0, stopped: 0 };
  for (const { status } of jobs) counts[COUNTED[status] ?? "waiting"] += 1;
  return counts;
};

/** Returns the jobs that made their build fail, the first failed job first. Excludes adopted jobs. */
export const failedJobs = (jobs: readonly JobOfBuild[]): JobOfBuild[] =>
  jobs
    .filter(({ status, mayFail, adoptedFrom }) => status === "failed" && !mayFail && adoptedFrom === null)
    .sort((one, other) => Date.parse(one.finishedAt ?? "") - Date.parse(other.finishedAt ?? ""));

/**
 * Joins the jobs' summaries into one Markdown text, each of them under its job's key. Returns null if no job wrote a
 * summary. Stops reading once the text exceeds the limit for one summary: readers cut the text there, and all summaries
 * together may have 16 MiB.
 */
export const joinedSummaries = (jobs: Iterable<{ key: string; summary: string | null }>): string | null => {
  let joined = "";
  for (const { key, summary } of jobs) {
    if (summary) joined += `${joined && "\n\n"}## ${key}\n\n${summary}`;
    if (joined.length > LIMITS.summaryCharacters) break;
  }
  return joined || null;
};
