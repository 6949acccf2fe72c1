import type { Gate } from "../../pipeline/graph/graph.ts";
import { includesRole } from "../../protocol/token.ts";
import { audit, type Decision, type DecisionContext, decided, refused, unknownId } from "../state/decision.ts";
import type { Change, JobFacts } from "../state/facts.ts";
import { graphOf, jobsOf } from "../state/graphs.ts";
import type { PoolState } from "../state/state.ts";
import { decideApproval } from "./approval.ts";
import type { GateRequest } from "./commands.ts";

/** A person lets a job run, or not. Decided once; the same word again is the same answer. */
export const decideGate = (state: PoolState, request: GateRequest, context: DecisionContext): Decision<string> => {
  const build = state.builds.get(request.id);
  const job = build ? null : state.jobs.get(request.id);
  if (job) return decideOn(state, job, request, context);
  if (!build) return state.records.endedJob(request.id) ? refused("conflict", ENDED) : unknownId();
  const jobs = jobsOf(state, build.id);
  // Once its commit was approved, a gate of one of its jobs may be meant.
  if (build.approval && !(build.approval.decision && askingAmong(jobs).length > 0))
    return decideApproval(build, request, context);
  const asked = askedIn(state, jobs, request.index);
  return asked ? decideOn(state, asked, request, context) : refused("conflict", NOT_ONE);
};

const ENDED = "It has ended already.";
const NOT_ONE = "Not one gate of this build asks now: name its job.";

const definitionOf = (state: PoolState, { buildId, index }: JobFacts): string =>
  graphOf(state, buildId).jobs[index]!.definition;

const isAsking = ({ gate, end }: JobFacts): boolean => !!gate && !gate.decision && !end;
const askingAmong = (jobs: readonly JobFacts[]): JobFacts[] => jobs.filter(isAsking);

/** The gates of this build that wait for a decision. */
export const gatesThatAsk = (state: PoolState, buildId: string): Gate[] =>
  askingAmong(jobsOf(state, buildId)).flatMap(({ index }) => graphOf(state, buildId).jobs[index]?.gate ?? []);

const askedIn = (state: PoolState, jobs: readonly JobFacts[], index: number | undefined): JobFacts | undefined =>
  index === undefined ? theOneAsked(state, jobs) : jobs.find((job) => job.index === index);

/** A job whose gate asks, where only one gate does: all combinations of a matrix have one. */
const theOneAsked = (state: PoolState, jobs: readonly JobFacts[]): JobFacts | undefined => {
  const asking = askingAmong(jobs);
  return new Set(asking.map((job) => definitionOf(state, job))).size === 1 ? asking[0] : undefined;
};

const decideOn = (
  state: PoolState,
  job: JobFacts,
  { approved, comment, role, name, actor }: GateRequest,
  context: DecisionContext,
): Decision<string> => {
  const { now } = context;
  const { id, buildId, gate } = job;
  const graphJob = graphOf(state, buildId).jobs[job.index]!;
  if (!graphJob.gate || !gate)
    return refused("conflict", job.end ? ENDED : "Its gate does not ask yet, or it has none.");
  if (!includesRole(role, graphJob.gate.by)) return refused("forbidden", `This takes the role ${graphJob.gate.by}.`);
  if (gate.decision?.approved === approved) return decided(buildId);
  if (job.end || gate.decision || now >= gate.until)
    return refused("conflict", "It was decided already, or has ended.");
  const decision = { approved, at: now, actor: actor.actor, name, role, comment };
  const { definition } = graphJob;
  const asked = askingAmong(jobsOf(state, buildId)).filter((one) => definitionOf(state, one) === definition);
  return decided(buildId, [
    ...asked.map((one): Change => ({ kind: "job", job: { ...one, gate: { ...one.gate!, decision } } })),
    ...audit(actor, approved ? "job.approve" : "job.reject", id, { buildId, key: definition }, context),
  ]);
};
