import type { Build, BuildReason } from "../../protocol/build.ts";
import type { JobGate, JobOfBuild } from "../../protocol/build-job.ts";
import { phaseOf } from "../../protocol/build-states.ts";
import type { GraphJob, JobGraph } from "../jobs/graph.ts";
import type { JobNode } from "../jobs/node.ts";
import type { BuildFacts, JobFacts } from "./facts.ts";
import { testSummaryOf } from "./tests.ts";

/** What is known of one job: absent where its row was damaged, or the queue never had it. */
export interface JobParts {
  node?: JobNode | undefined;
  build?: BuildFacts | undefined;
  job?: JobFacts | undefined;
}

const timestampOf = (at: number | null | undefined): string | null => (at == null ? null : new Date(at).toISOString());

/** The jobs of a build as the API shows them. */
export const toJobs = ({ jobs }: JobGraph, partsOf: (jobId: string) => JobParts): JobOfBuild[] => {
  const depths = depthsOf(jobs);
  return jobs.map((job) => ({
    ...whatItIs(job),
    depth: depths.get(job.definition)!,
    ...stateOf(job, partsOf(job.id)),
  }));
};

/** By definition: 0 where it needs nothing, else one more than the deepest of its needs, which stand before it. */
const depthsOf = (jobs: readonly GraphJob[]): Map<string, number> => {
  const depths = new Map<string, number>();
  for (const { definition, needs } of jobs)
    depths.set(definition, Math.max(0, ...needs.map((need) => (depths.get(need.definition) ?? 0) + 1)));
  return depths;
};

const whatItIs = ({ id, key, definition, name, matrix, needs, mayFail }: GraphJob) => ({
  ...{ id, key, definition, name, matrix, mayFail },
  needs: needs.map((need) => need.definition),
});

/** A job whose row cannot be read counts as failed. */
const DAMAGED = { reason: "agent-error" as BuildReason, message: "What was stored of this job is damaged." };

const stateOf = (graphJob: GraphJob, { node, build, job }: JobParts) => {
  const end = node?.end;
  const isHeld = build !== undefined && phaseOf(build.status) === "leased";
  return {
    status: node ? (end?.status ?? build?.status ?? ("waiting" as const)) : ("failed" as const),
    cause: end?.cause ?? null,
    gate: toGate(graphJob, node),
    agentId: end ? end.agentId : isHeld ? (job?.agentId ?? null) : null,
    attempt: end?.attempt ?? job?.attempt ?? 0,
    ...(graphJob.retry && { retries: (end ? end.retries : job?.retries) ?? 0 }),
    exitCode: end?.exitCode ?? null,
    ...(node
      ? { reason: end?.reason ?? build?.reason ?? null, message: end?.message ?? build?.message ?? null }
      : DAMAGED),
    queuedAt: timestampOf(node?.readyAt),
    startedAt: timestampOf(end ? end.startedAt : build?.startedAt),
    finishedAt: timestampOf(end?.finishedAt),
    adoptedFrom: end?.adopted?.buildId ?? null,
    // The queue drops a job that ends. Ends of earlier releases have no tests: once its build has ended, its row says.
    tests: end?.tests ?? (build && job ? testSummaryOf(build, job) : null),
  };
};

const toGate = ({ gate, groups }: GraphJob, node: JobNode | undefined): JobGate | null => {
  if (!gate) return null;
  const decision = node?.gate?.decision ?? null;
  return {
    ...{ message: gate.message, by: gate.by, groups },
    since: timestampOf(node?.gate?.since),
    until: timestampOf(node?.gate?.until),
    decision: decision && {
      ...{ approved: decision.approved, at: timestampOf(decision.at)!, by: decision.name, comment: decision.comment },
    },
  };
};

/** The gates that ask now: one for all combinations of a matrix. */
export const toWaitsFor = (jobs: readonly JobOfBuild[]): Build["waitsFor"] => {
  const asking = jobs.filter(({ status, gate }) => gate?.since && !gate.decision && status === "waiting");
  return [...Map.groupBy(asking, ({ definition }) => definition)].map(([definition, [first, ...others]]) => ({
    jobId: first!.id,
    key: others.length > 0 ? definition : first!.key,
    gate: first!.gate!,
  }));
};
