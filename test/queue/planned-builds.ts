import type { Gate, GraphJob, JobGraph } from "../../src/pipeline/graph/graph.ts";
import type { Feature } from "../../src/protocol/jobs.ts";
import type { NewBuild } from "../../src/queue/commands/commands.ts";
import { graphOf } from "./jobs/test-build.ts";
import type { TestAgent, TestPool } from "./test-pool.ts";

const FEATURES: Feature[] = ["environment", "jobs", "untrusted"];
export const SHA = "a".repeat(40);

export const gate: Gate = { message: "Go?", by: "maintainer", timeoutHours: 1, hostStatus: "success" };

/** Creates a build's graph, with job ids that are unique in the pool. */
export const newGraph = (buildId: string, jobs: GraphJob[], words: Partial<JobGraph> = {}): JobGraph =>
  graphOf(
    jobs.map((job) => ({ ...job, id: `${buildId}/${job.key}` })),
    { hash: "text", commitSha: SHA, ...words },
  );

export const claimNext = (agent: TestAgent) =>
  agent.pool.ok("claim", { ...agent.credentials, bootId: agent.bootId, features: FEATURES });

/** Claims the next build or job and starts it. */
export const startNext = (agent: TestAgent) => {
  const grant = claimNext(agent);
  if (!grant) throw new Error("there is nothing that this agent may have");
  agent.pool.ok("start", agent.holder(grant));
  return agent.holder(grant);
};

/** Creates a build whose agent has planned these jobs. */
export const newPlannedBuild = (pool: TestPool, jobs: GraphJob[], over: Partial<NewBuild> = {}, by?: TestAgent) => {
  const buildId = pool.build(over);
  const agent = by ?? pool.agent();
  const first = startNext(agent);
  const request = { ...first, graph: newGraph(buildId, jobs), text: "text", base: null };
  pool.ok("plan", request);
  return { buildId, agent, first, request };
};

export const succeed = (pool: TestPool, holder: ReturnType<typeof startNext>, outputs?: Record<string, string>) =>
  pool.ok("finish", { ...holder, status: "succeeded", exitCode: 0, ...(outputs && { outputs }) });
