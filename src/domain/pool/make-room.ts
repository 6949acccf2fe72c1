import { refOf } from "../git-ref.ts";
import type { GraphJob } from "../jobs/graph.ts";
import { roomsOf } from "../jobs/rooms.ts";
import { cancelBuild } from "./cancel.ts";
import { activeBuild, type DecisionContext, type Push, SYSTEM } from "./decision.ts";
import type { BuildFacts, Change } from "./facts.ts";
import { isGroup, limitOf } from "./match.ts";
import { ownRefOf } from "./rooms-of.ts";
import type { PoolState } from "./state.ts";

/**
 * Ends what holds the concurrency group of a job that got ready, where its file asks for that: an older build of the
 * same pipeline and ref as a whole, of a build of another ref the one job. A newer build of its own ref keeps its place.
 * `canceled`: the builds that this is done with.
 */
export const makeRoom = (
  state: PoolState,
  build: BuildFacts,
  job: GraphJob,
  canceled: Set<string>,
  context: DecisionContext,
): { changes: Change[]; pushes: Push[] } => {
  const changes: Change[] = [];
  const pushes: Push[] = [];
  if (job.concurrency?.whenBusy !== "cancel-running") return { changes, pushes };
  const room = roomsOf(job, { ...build, maxParallel: null, ownRef: ownRefOf(build) }).find(({ key }) => isGroup(key))!;
  const holders = [...state.index.rooms.held(room.key).keys()];
  if (context.rules.hasRoom(holders.length, limitOf(state, room, context.rules))) return { changes, pushes };
  const message = `A newer job took its place in the group ${job.concurrency.group}.`;
  for (const holder of holders) {
    const parent = activeBuild(state, state.index.buildOfJob.get(holder) ?? "");
    const node = state.graphs.get(parent?.build.id ?? "")?.nodes.get(holder);
    if (!parent || !node || canceled.has(parent.build.id) || parent.build.several?.cancel) continue;
    const isSame = isSameRef(parent.build, build);
    if (isSame && parent.build.seq < build.seq) {
      canceled.add(parent.build.id);
      const ended = cancelBuild(parent, { message, supersededBy: null }, SYSTEM, context);
      changes.push(...ended.changes);
      pushes.push(...ended.pushes);
    } else if (!isSame && !node.stopCause) {
      const stopCause = { kind: "canceled", job: null, text: message } as const;
      changes.push({ kind: "node", node: { ...node, stopCause } });
    }
  }
  return { changes, pushes };
};

const isSameRef = (one: BuildFacts, other: BuildFacts): boolean =>
  one.pipelineId !== null && one.pipelineId === other.pipelineId && refOf(one.branch) === refOf(other.branch);
