import type { Requires } from "../../src/protocol/pipeline.ts";
import type { NewBuild, NewPlan } from "../../src/queue/commands/commands.ts";
import { planRerun } from "../../src/queue/jobs/rerun.ts";
import { checkRerun } from "./check-retries.ts";
import { HOST_OF, type Pipeline } from "./pipeline.ts";
import { ACTOR, ORG, type Simulator } from "./simulator.ts";
import { isEnded } from "./specification.ts";

const MAX_BUILDS = 9;
const MAX_BUILDS_WITH_JOBS = 6;
const COMMIT = "c".repeat(40);

export const request = (id: string, { platform: _, supersedes: __, ...pipeline }: Pipeline): NewBuild => ({
  id,
  orgId: ORG,
  repoId: pipeline.repoId,
  pipelineId: pipeline.id,
  pipelineVersion: 1,
  branch: "main",
  commitSha: null,
  trigger: "api",
  priority: 0,
  requires: {},
  timeoutSeconds: pipeline.timeoutSeconds,
  maxParallel: pipeline.maxParallel,
  maxAttempts: pipeline.maxAttempts,
  inputs: null,
  secretKeys: [],
  retryOf: null,
  idempotency: null,
  actor: ACTOR,
});

const enqueue = (simulator: Simulator, build: NewBuild): void => {
  const answer = simulator.request("enqueue", build);
  if (answer?.ok && !simulator.builds.includes(answer.value.buildId)) simulator.builds.push(answer.value.buildId);
};

const mayAdd = ({ builds, hasJobs }: Simulator): boolean =>
  builds.length < (hasJobs ? MAX_BUILDS_WITH_JOBS : MAX_BUILDS);

/** Somebody triggers a build. If the definition is in the pipeline's record, its jobs are known at once. */
export const trigger = (simulator: Simulator): void => {
  if (!mayAdd(simulator)) return;
  const { random } = simulator;
  const pipeline = random.pick(simulator.pipelines);
  const { platform } = pipeline;
  const requires: Requires = { platform, web: random.chance(0.2), labels: random.chance(0.2) ? ["x"] : [] };
  const key = random.chance(0.4) ? `k${random.below(4)}` : null;
  const id = simulator.newId("b");
  // Without a random draw: a draw would change every recorded history.
  if (simulator.builds.length % 4 === 1) requires.xcode = "26";
  enqueue(simulator, {
    ...request(id, pipeline),
    priority: random.pick([0, 0, 0, 5, -5]),
    requires,
    host: random.chance(0.3) ? HOST_OF(pipeline.id) : null,
    idempotency: key === null ? null : { key, caller: "c", bodyHash: random.chance(0.9) ? "same" : "other" },
    ...(simulator.hasJobs && random.chance(0.35) && planned(simulator, id)),
  });
};

const planned = ({ files }: Simulator, id: string): { commitSha: string; planned: NewPlan } => ({
  commitSha: COMMIT,
  planned: { graph: files.read(id, COMMIT), text: files.textOf(id), adopted: {} },
});

/** Somebody reruns the failed jobs, in a new build. */
export const retryFailed = (simulator: Simulator): void => {
  const { random, pool, files, pipelines } = simulator;
  const { rows } = pool.storage;
  const ended = [...rows.graphs.keys()].filter((id) => isEnded(rows.builds.get(id)!.status) && files.isSorted(id));
  if (ended.length === 0 || !mayAdd(simulator)) return;
  const buildId = random.pick(ended);
  const { graph, text } = rows.graphs.get(buildId)!;
  const { pipelineId, commitSha } = rows.builds.get(buildId)!;
  const jobs = Object.fromEntries(
    graph.jobs.map(({ id }) => [id, { end: rows.jobs.get(id)!.end ?? null, outputs: rows.outputs.get(id) ?? {} }]),
  );
  // A restored pool ended the build because D1 says so, but not its jobs.
  if (Object.values(jobs).some(({ end }) => end === null)) return;
  const id = simulator.newId("b");
  files.copy(buildId, id);
  const again = files.read(id, commitSha);
  const adopted = planRerun({ buildId, graph, jobs }, again, pool.context.rules);
  const keys = new Map(again.jobs.map((job) => [job.id, job.key]));
  checkRerun(
    graph.jobs.map(({ id: jobId, key, definition, needs }) => ({
      key,
      definition,
      needs: needs.map((need) => need.definition),
      status: jobs[jobId]!.end!.status,
    })),
    new Set(Object.keys(adopted).map((jobId) => keys.get(jobId)!)),
  );
  const pipeline = pipelines.find((one) => one.id === pipelineId)!;
  const plan = { graph: again, text, adopted };
  enqueue(simulator, { ...request(id, pipeline), trigger: "retry", retryOf: buildId, commitSha, planned: plan });
};
