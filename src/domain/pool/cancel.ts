import { CLEAN_UP_MS } from "../jobs/cancel.ts";
import type { Actor } from "./commands.ts";
import {
  activeBuild,
  audit,
  type Decision,
  type DecisionContext,
  decided,
  leaseLost,
  type Push,
  patchBuild,
  refused,
  SYSTEM,
  unknownId,
} from "./decision.ts";
import type { ActiveBuild, BuildFacts, Change, SeveralJobs } from "./facts.ts";
import { endCanceled } from "./lease.ts";
import type { PoolState } from "./state.ts";

/** Why a build is canceled, in words for people; and the build of a newer head, where that took its place. */
export interface Cancellation {
  message: string | null;
  supersededBy: string | null;
}

/** Ends a queued build at once. A leased one ends when its agent has stopped it, or when its lease ends. */
export const cancelBuild = (
  held: ActiveBuild,
  { message, supersededBy }: Cancellation,
  actor: Actor,
  context: DecisionContext,
): { changes: Change[]; pushes: Push[] } => {
  const { build, job } = held;
  const { id, status } = build;
  const detail = supersededBy === null ? { status } : { status, supersededBy };
  const audited = audit(actor, "build.cancel", id, detail, context);
  const canceled = { ...build, message, ...(supersededBy !== null && { supersededBy }) };
  const { lease } = job;
  if (build.several) return { changes: [...audited, ...cancelSeveral(canceled, build.several, context)], pushes: [] };
  if (!lease) return { changes: [...audited, ...endCanceled({ ...held, build: canceled }, context)], pushes: [] };
  const changes: Change[] = [
    ...audited,
    ...patchBuild(canceled, { status: "canceling" }, context),
    { kind: "job", job: { ...job, lease: { ...lease, stop: { reason: "canceled", at: context.now } } } },
    { kind: "stop-told", buildId: id, at: context.now },
  ];
  return { changes, pushes: [{ agentId: lease.agentId, hint: { type: "cancel", buildId: id } }] };
};

/** What becomes of its jobs is settled next. Canceled once more, those that clean up lose the rest of their time. */
const cancelSeveral = (build: BuildFacts, several: SeveralJobs, context: DecisionContext): Change[] => {
  const { now } = context;
  const cancel = several.cancel ? { ...several.cancel, until: now } : { at: now, until: now + CLEAN_UP_MS };
  return patchBuild(build, { several: { ...several, cancel } }, context);
};

const mayCancel = (build: BuildFacts, { rules, now }: DecisionContext): boolean =>
  build.several ? now < (build.several.cancel?.until ?? Number.POSITIVE_INFINITY) : rules.mayCancel(build);

/** A person or a program cancels a build, or one job of a build of several. */
export const cancel = (
  state: PoolState,
  { buildId, actor }: { buildId: string; actor: Actor },
  context: DecisionContext,
): Decision<string> => {
  const parentId = state.index.buildOfJob.get(buildId);
  if (parentId !== undefined) return cancelJob(state, { parentId, jobId: buildId }, actor, context);
  const active = activeBuild(state, buildId);
  if (!active) return state.records.ended(buildId) ? refused("conflict", "The build has ended already.") : unknownId();
  if (!mayCancel(active.build, context)) return decided(buildId);
  const { changes, pushes } = cancelBuild(active, { message: null, supersededBy: null }, actor, context);
  return decided(buildId, changes, pushes);
};

/** The others go on; what needs the job does not run. Its end is settled next. */
const cancelJob = (
  state: PoolState,
  { parentId, jobId }: { parentId: string; jobId: string },
  actor: Actor,
  context: DecisionContext,
): Decision<string> => {
  const { graph, nodes } = state.graphs.get(parentId)!;
  const node = nodes.get(jobId);
  if (!node || node.end) return refused("conflict", "The job has ended already.");
  if (node.stopCause) return decided(parentId);
  const detail = { buildId: parentId, key: graph.jobs[node.index]!.key };
  return decided(parentId, [
    { kind: "node", node: { ...node, stopCause: { kind: "canceled", job: null, text: null } } },
    ...audit(actor, "job.cancel", jobId, detail, context),
  ]);
};

/** Marks a build whose agent sent a secret unmasked, so that people see it; also after the build has ended. */
export const flagLeak = (
  state: PoolState,
  { buildId, fence }: { buildId: string; fence: number },
  context: DecisionContext,
): Decision<null> => {
  const found = activeBuild(state, buildId) ?? state.records.ended(buildId);
  if (!found) return unknownId();
  if (found.job.fence < fence) return leaseLost();
  if (found.build.leak) return decided(null);
  const detail = { fence, agentId: found.job.agentId };
  const parentId = found.build.jobOf ?? "";
  const parent = activeBuild(state, parentId) ?? state.records.ended(parentId);
  return decided(null, [
    ...leaked(found, context),
    ...(parent && !parent.build.leak ? leaked(parent, context) : []),
    ...audit(SYSTEM, "build.leak", buildId, detail, context),
  ]);
};

const leaked = ({ build, job }: Pick<ActiveBuild, "build" | "job">, context: DecisionContext): Change[] => [
  ...patchBuild(build, { leak: true }, context),
  { kind: "job", job },
];
