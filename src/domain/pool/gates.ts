import type { JobNode } from "../jobs/node.ts";
import type { GateRequest } from "./commands.ts";
import { audit, type Decision, type DecisionContext, decided, refused, unknownId } from "./decision.ts";
import type { BuildGraph, PoolState } from "./state.ts";

/** A person lets a job run, or not. Decided once; the same word again is the same answer. */
export const decideGate = (state: PoolState, request: GateRequest, context: DecisionContext): Decision<string> => {
  const buildId = state.index.buildOfJob.get(request.id) ?? request.id;
  const known = state.graphs.get(buildId);
  if (!known) return state.records.ended(request.id) ? refused("conflict", ENDED) : unknownId();
  const asked = buildId === request.id ? theOneAsked(known) : known.nodes.get(request.id);
  if (!asked) return refused("conflict", "Not one gate of this build asks now: name its job.");
  return decideOn(known, asked, request, context);
};

const ENDED = "It has ended already.";

/** The job whose gate asks, where that is only one. */
const theOneAsked = ({ nodes }: BuildGraph): JobNode | undefined => {
  const asking = [...nodes.values()].filter(({ gate, end }) => gate && !end && !gate.decision);
  return asking.length === 1 ? asking[0] : undefined;
};

const decideOn = (
  { graph }: BuildGraph,
  node: JobNode,
  { approved, comment, role, name, actor }: GateRequest,
  context: DecisionContext,
): Decision<string> => {
  const { now, rules } = context;
  const { id, buildId, gate } = node;
  const job = graph.jobs[node.index]!;
  if (!job.gate || !gate) return refused("conflict", node.end ? ENDED : "Its gate does not ask yet, or it has none.");
  if (!rules.mayApprove(role, job.gate.by)) return refused("forbidden", `This takes the role ${job.gate.by}.`);
  if (gate.decision && rules.isSameDecision(gate.decision, approved)) return decided(buildId);
  if (node.end || !rules.mayDecide(gate, now)) return refused("conflict", "It was decided already, or has ended.");
  const decision = { approved, at: now, actor: actor.actor, name, role, comment };
  return decided(buildId, [
    { kind: "node", node: { ...node, gate: { ...gate, decision } } },
    ...audit(actor, approved ? "job.approve" : "job.reject", id, { buildId, key: job.key }, context),
  ]);
};
