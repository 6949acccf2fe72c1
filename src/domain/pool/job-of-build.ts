import type { GraphJob, JobGraph } from "../jobs/graph.ts";
import type { BuildFacts, JobFacts } from "./facts.ts";

/* To the queue a job of a build of several is a build of its own, which nobody else hears of. */

export const buildFactsOf = (build: BuildFacts, { id }: GraphJob, seq: number, now: number): BuildFacts => ({
  ...{ id, jobOf: build.id, seq, number: build.number, repoId: build.repoId, pipelineId: build.pipelineId },
  ...{ pipelineVersion: build.pipelineVersion, branch: build.branch, commitSha: build.commitSha },
  ...{ base: build.base ?? null, trigger: build.trigger, priority: build.priority, retryOf: null, version: 0 },
  ...{ status: "queued", exitCode: null, reason: null, leak: false },
  ...(build.trust && { trust: build.trust }),
  ...{ queuedAt: now, startedAt: null, finishedAt: null },
});

export const jobFactsOf = (
  build: BuildFacts,
  root: JobFacts,
  job: GraphJob,
  { features }: Pick<JobGraph, "features">,
): JobFacts => ({
  ...{ id: job.id, buildId: job.id, jobOf: build.id, requires: job.requires, timeoutSeconds: job.timeoutSeconds },
  ...(features ? { features } : {}),
  ...{ maxParallel: root.maxParallel, maxAttempts: root.maxAttempts, inputBytes: 0 },
  ...(job.retry && { retry: job.retry }),
  ...{ attempt: 0, unstarted: 0, releasedBy: [], notBefore: 0 },
  ...{ lease: null, fence: 0, agentId: null, result: null },
});
