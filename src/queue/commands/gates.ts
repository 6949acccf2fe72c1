import type { Gate } from "../../pipeline/graph/graph.ts";
import type { GateDecision } from "../../pipeline/graph/job-end.ts";
import { includesRole } from "../../protocol/token.ts";
import { DAY_MS } from "../../protocol/units.ts";
import {
  audit,
  type Decision,
  type DecisionContext,
  decided,
  patchBuild,
  refused,
  unknownId,
} from "../state/decision.ts";
import type { BuildFacts, Change, JobFacts } from "../state/facts.ts";
import { graphOf, jobsOf, type PoolState } from "../state/state.ts";
import { APPROVER, awaitsApproval } from "../state/trust.ts";
import type { GateRequest } from "./commands.ts";

/**
 * Lets a job run, or stops it, on a person's decision. Only the first decision on a gate counts; repeating it gets the
 * same answer.
 */
export const decideGate = (state: PoolState, request: GateRequest, context: DecisionContext): Decision<string> => {
  const build = state.builds.get(request.id);
  const job = build ? null : state.jobs.get(request.id);
  if (job) return decideJobGate(state, job, request, context);
  if (!build) return state.records.endedJob(request.id) ? refused("conflict", ENDED) : unknownId();
  const jobs = jobsOf(state, build.id);
  // After the approval of the commit, the person may mean a gate of one of the build's jobs.
  if (build.approval && !(build.approval.decision && askingAmong(jobs).length > 0))
    return decideApproval(build, request, context);
  const askingJob = chooseJob(state, jobs, request.index);
  return askingJob ? decideJobGate(state, askingJob, request, context) : refused("conflict", NOT_ONE);
};

const ENDED = "It has already ended.";
const NOT_ONE = "The build must have exactly one open gate: name the job.";

const gateDefinition = (state: PoolState, { buildId, index }: JobFacts): string =>
  graphOf(state, buildId).jobs[index]!.definition;

const isAsking = ({ gate, end }: JobFacts): boolean => !!gate && !gate.decision && !end;
const askingAmong = (jobs: readonly JobFacts[]): JobFacts[] => jobs.filter(isAsking);

/** Returns the build's gates that wait for a decision. */
export const gatesThatAsk = (state: PoolState, buildId: string): Gate[] =>
  askingAmong(jobsOf(state, buildId)).flatMap(({ index }) => graphOf(state, buildId).jobs[index]?.gate ?? []);

const chooseJob = (state: PoolState, jobs: readonly JobFacts[], index: number | undefined): JobFacts | undefined =>
  index === undefined ? onlyAskingJob(state, jobs) : jobs.find((job) => job.index === index);

/** Returns a job whose gate waits for a decision, if only one gate waits. All combinations of a matrix share a gate. */
const onlyAskingJob = (state: PoolState, jobs: readonly JobFacts[]): JobFacts | undefined => {
  const asking = askingAmong(jobs);
  return new Set(asking.map((job) => gateDefinition(state, job))).size === 1 ? asking[0] : undefined;
};

const decideJobGate = (
  state: PoolState,
  job: JobFacts,
  { approved, comment, role, name, actor }: GateRequest,
  context: DecisionContext,
): Decision<string> => {
  const { now } = context;
  const { id, buildId, gate } = job;
  const graphJob = graphOf(state, buildId).jobs[job.index]!;
  if (!graphJob.gate || !gate)
    return refused("conflict", job.end ? ENDED : "It has no gate, or its gate is not open yet.");
  if (!includesRole(role, graphJob.gate.by)) return refused("forbidden", `This requires the role ${graphJob.gate.by}.`);
  if (gate.decision?.approved === approved) return decided(buildId);
  if (job.end || gate.decision || now >= gate.until)
    return refused("conflict", "It was already decided, or has ended.");
  const decision = { approved, at: now, actor: actor.actor, name, role, comment };
  const { definition } = graphJob;
  const waitingJobs = askingAmong(jobsOf(state, buildId)).filter((one) => gateDefinition(state, one) === definition);
  return decided(buildId, [
    ...waitingJobs.map((one): Change => ({ kind: "job", job: { ...one, gate: { ...one.gate!, decision } } })),
    ...audit(actor, approved ? "job.approve" : "job.reject", id, { buildId, key: definition }, context),
  ]);
};

/* A build of someone else's commit waits until a member has approved exactly that commit. */

/** Milliseconds for which a build waits for approval. */
export const APPROVAL_MS = 30 * DAY_MS;

/**
 * The maximum number of builds in one repository that wait for approval. Anyone who can fork the repository can open
 * pull requests.
 */
const MOST_UNAPPROVED = 100;

export const approvalProblem = ({ builds }: PoolState, repoId: string, added: number): string | null => {
  let count = added;
  for (const build of builds.values()) if (build.repoId === repoId && awaitsApproval(build)) count++;
  return count < MOST_UNAPPROVED
    ? null
    : `${MOST_UNAPPROVED} builds of this repository are already waiting for approval.`;
};

/**
 * Lets a held build run, or ends it, on a person's decision. Only the first decision counts; repeating it gets the same
 * answer.
 */
const decideApproval = (
  build: BuildFacts,
  { approved, comment, role, name, actor, commitSha = null }: GateRequest,
  context: DecisionContext,
): Decision<string> => {
  const { now } = context;
  const { id, approval } = build;
  if (!approval) return refused("conflict", "It is not waiting for approval.");
  if (!includesRole(role, APPROVER)) return refused("forbidden", `This requires the role ${APPROVER}.`);
  if (commitSha !== null && commitSha !== build.commitSha)
    return refused("conflict", "The build's commit is not the one that was reviewed.");
  if (approval.decision?.approved === approved) return decided(id);
  if (approval.decision || now >= approval.until) return refused("conflict", "It was already decided, or has ended.");
  const decision: GateDecision = { approved, at: now, actor: actor.actor, name, role, comment };
  const auditChanges = audit(
    actor,
    approved ? "job.approve" : "job.reject",
    id,
    { commitSha: build.commitSha },
    context,
  );
  const nextBuild = { ...build, approval: { ...approval, decision } };
  if (approved) return decided(id, [...patchBuild(nextBuild, {}, context), ...auditChanges]);
  const words = comment === null ? "" : `: ${comment}`;
  return decided(id, [...auditChanges, ...close(nextBuild, `${name} rejected it${words}`, context)]);
};

/** Ends a held build. None of its jobs ran, so no job cleans up. The pool settles its jobs next. */
const close = (build: BuildFacts, message: string, context: DecisionContext): Change[] => {
  const { now } = context;
  // The build's own time may end in this very millisecond.
  const until = build.until && Math.max(build.until, now + 1);
  return patchBuild(build, { reason: "gate-closed", message, until, cancel: { at: now, until: now } }, context);
};

const unapprovedBuilds = ({ builds }: PoolState, ids: Iterable<string>): BuildFacts[] =>
  [...ids].flatMap((id) => builds.get(id) ?? []).filter(awaitsApproval);

/** Ends builds that nobody approved in time. */
export const expireApprovals = (state: PoolState, buildIds: readonly string[], context: DecisionContext): Change[] =>
  unapprovedBuilds(state, buildIds)
    .filter(({ approval }) => context.now >= approval!.until)
    .flatMap((build) => close(build, "Nobody approved its commit within 30 days.", context));

/**
 * Ends held builds after a restore, because nobody can tell which requests they belonged to. A new push or a retry
 * requests them again.
 */
export const voidUnapproved = (state: PoolState, spared: ReadonlySet<string>, context: DecisionContext): Change[] =>
  unapprovedBuilds(state, state.builds.keys())
    .filter(({ id }) => !spared.has(id))
    .flatMap((build) => close(build, "The service was restored to an earlier time: trigger the build again.", context));
