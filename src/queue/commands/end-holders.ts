import { refOf } from "../../domain/git-ref.ts";
import type { GraphJob } from "../../pipeline/graph/graph.ts";
import { semaphoresOf } from "../jobs/semaphores.ts";
import { type DecisionContext, heldJob, SYSTEM } from "../state/decision.ts";
import type { BuildFacts, Change } from "../state/facts.ts";
import { ownRefOf } from "../state/semaphores-of.ts";
import type { PoolState } from "../state/state.ts";
import { cancelBuild } from "./cancel.ts";
import { isGroup, limitOf } from "./match.ts";

/**
 * Ends what holds the concurrency group of a job that got ready, where its file asks for that: an older build of the
 * same pipeline and ref as a whole, of a build of another ref the one job. A newer build of its own ref keeps its place.
 * `canceled`: the builds that this is done with.
 */
export const endHolders = (
  state: PoolState,
  build: BuildFacts,
  job: GraphJob,
  canceled: Set<string>,
  context: DecisionContext,
): Change[] => {
  if (job.concurrency?.whenBusy !== "cancel-running") return [];
  const semaphore = semaphoresOf(job, { ...build, maxParallel: null, ownRef: ownRefOf(build) }).find(({ key }) =>
    isGroup(key),
  )!;
  const holders = [...state.index.semaphores.held(semaphore.key).keys()];
  if (context.rules.hasRoom(holders.length, limitOf(state, semaphore))) return [];
  const message = `A newer job took its place in the group ${job.concurrency.group}.`;
  return holders.flatMap((jobId): Change[] => {
    const held = heldJob(state, jobId);
    if (!held || canceled.has(held.build.id) || held.build.cancel) return [];
    const isSame = isSameRef(held.build, build);
    if (isSame && held.build.seq < build.seq) {
      canceled.add(held.build.id);
      return cancelBuild(held.build, { message, supersededBy: null }, SYSTEM, context);
    }
    if (isSame || held.job.stopCause) return [];
    return [{ kind: "job", job: { ...held.job, stopCause: { kind: "canceled", job: null, text: message } } }];
  });
};

const isSameRef = (one: BuildFacts, other: BuildFacts): boolean =>
  one.pipelineId !== null && one.pipelineId === other.pipelineId && refOf(one.branch) === refOf(other.branch);
