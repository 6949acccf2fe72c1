import type { Gate } from "../jobs/graph.ts";
import type { JobNode } from "../jobs/node.ts";
import { decideHeld } from "./approval.ts";
import type { GateRequest } from "./commands.ts";
import { activeBuild, audit, type Decision, type DecisionContext, decided, refused, unknownId } from "./decision.ts";
import type { BuildFacts, Change } from "./facts.ts";
import type { BuildGraph, PoolState } from "./state.ts";

/** A person lets a job run, or not. Decided once; the same word again is the same answer. */
export const decideGate = (state: PoolState, request: GateRequest, context: DecisionContext): Decision<string> => {
  const buildId = state.index.buildOfJob.get(request.id) ?? request.id;
  const known = state.graphs.get(buildId);
  const held = activeBuild(state, request.id);
  if (held?.build.approval && !isAnswered(held.build, known, request, context))
    return decideHeld(held, request, context);
  if (!known) return unasked(state, request.id);
  const asked = buildId === request.id ? askedIn(known, request.index) : known.nodes.get(request.id);
  if (!asked) return refused("conflict", NOT_ONE);
  return decideOn(known, asked, request, context);
};

/** Whether the approval of the commit was given, and a gate of one of its jobs may be meant. */
const isAnswered = (
  { approval }: BuildFacts,
  known: BuildGraph | undefined,
  { approved }: GateRequest,
  { rules }: DecisionContext,
): boolean =>
  known !== undefined &&
  approval?.decision != null &&
  (askingIn(known).length > 0 || !rules.isSameDecision(approval.decision, approved));

const ENDED = "It has ended already.";
const NOT_ONE = "Not one gate of this build asks now: name its job.";

const unasked = ({ records, builds }: PoolState, id: string): Decision<never> => {
  if (records.ended(id)) return refused("conflict", ENDED);
  return builds.has(id) ? refused("conflict", NOT_ONE) : unknownId();
};

const definitionOf = ({ graph }: BuildGraph, { index }: JobNode): string => graph.jobs[index]!.definition;

const askingIn = ({ nodes }: BuildGraph): JobNode[] =>
  [...nodes.values()].filter(({ gate, end }) => gate && !end && !gate.decision);

/** The gates of this build that wait for a decision. */
export const gatesThatAsk = (known: BuildGraph): Gate[] =>
  askingIn(known).flatMap(({ index }) => known.graph.jobs[index]?.gate ?? []);

const askedIn = (known: BuildGraph, index: number | undefined): JobNode | undefined =>
  index === undefined ? theOneAsked(known) : [...known.nodes.values()].find((node) => node.index === index);

/** A job whose gate asks, where only one gate does: all combinations of a matrix have one. */
const theOneAsked = (known: BuildGraph): JobNode | undefined => {
  const asking = askingIn(known);
  return new Set(asking.map((node) => definitionOf(known, node))).size === 1 ? asking[0] : undefined;
};

const decideOn = (
  known: BuildGraph,
  node: JobNode,
  { approved, comment, role, name, actor }: GateRequest,
  context: DecisionContext,
): Decision<string> => {
  const { now, rules } = context;
  const { id, buildId, gate } = node;
  const job = known.graph.jobs[node.index]!;
  if (!job.gate || !gate) return refused("conflict", node.end ? ENDED : "Its gate does not ask yet, or it has none.");
  if (!rules.mayApprove(role, job.gate.by)) return refused("forbidden", `This takes the role ${job.gate.by}.`);
  if (gate.decision && rules.isSameDecision(gate.decision, approved)) return decided(buildId);
  if (node.end || !rules.mayDecide(gate, now)) return refused("conflict", "It was decided already, or has ended.");
  const decision = { approved, at: now, actor: actor.actor, name, role, comment };
  const asked = askingIn(known).filter((one) => definitionOf(known, one) === job.definition);
  return decided(buildId, [
    ...asked.map((one): Change => ({ kind: "node", node: { ...one, gate: { ...one.gate!, decision } } })),
    ...audit(actor, approved ? "job.approve" : "job.reject", id, { buildId, key: job.definition }, context),
  ]);
};
