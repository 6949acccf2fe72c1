import type { JobFacts } from "../../src/queue/state/facts.ts";
import type { PoolState } from "../../src/queue/state/state.ts";
import { heldCurrentLease, isReportedAgain } from "./call-of-lease.ts";
import { checkArrival } from "./check-arrivals.ts";
import { checkKept, forgetWinner, recordWinner } from "./check-artifacts.ts";
import { checkGateDecided, checkGateRefused } from "./check-gates.ts";
import {
  checkClaim,
  checkDelivery,
  checkFinish,
  checkHeartbeat,
  checkRelease,
  checkStart,
  mustHoldLease,
} from "./check-leases.ts";
import { checkPlan } from "./check-plans.ts";
import { canRun } from "./check-state.ts";
import { checkApproval, noteStrangers } from "./check-strangers.ts";
import { checkRefusedTry } from "./check-tries.ts";
import { CLEANING_MS } from "./job-specification.ts";
import { type AnyInput, type Call, type CheckContext, forget } from "./observations.ts";
import { DAY_MS, isEnded, OFFER_MS } from "./specification.ts";
import { must } from "./violation.ts";

/** Checks of accepted calls, by command, against the callers' earlier observations. */
const CHECKS: Partial<Record<string, (context: CheckContext, state: PoolState, call: Call, value: AnyInput) => void>> =
  {
    registerAgent: (context, _state, call) => checkRegistration(context, call),
    removeAgent: (context, state, call) => checkRemoval(context, state, call),
    removeAgentsOf: (context, state, { input }) => checkRevocation(context, state, input),
    arrive: (context, state, call, value) => checkArrival(context, state, value, call),
    enqueue: (context, _state, call, value) => checkEnqueue(context, value, call),
    claim: (context, state, call, value) => {
      if (value) forgetWinner(context, value.jobId);
      checkClaim(context, state, value, call);
    },
    cancel: (context, _state, { input }) => checkCancel(context, input),
    deleteBuild: (context, _state, call) => checkDeletion(context, call),
    heartbeat: (context, state, call, value) => checkHeartbeat(context, state, value, call),
    start: (context, state, call) => checkStart(context, state, call),
    progress: (_context, state, call) => mustHoldLease(state, call),
    deliver: (context, state, call) => checkDelivery(context, state, call),
    plan: (context, _state, call, value) => checkPlan(context, value, call),
    refusePlan: (context, _state, call) => checkPlanRefused(context, call),
    decideGate: (context, _state, call) => {
      checkApproval(context, call);
      checkGateDecided(context, call);
    },
    release: (context, _state, call) => checkRelease(context, call),
    finish: (context, _state, call) => {
      recordWinner(context, call);
      checkFinish(context, call);
    },
    openArtifact: (_context, state, call) => mustHoldLease(state, call),
    keepArtifact: (context, _state, call, value) => checkKept(context, value, call),
    discardArtifact: (_context, state, call) => mustHoldLease(state, call),
  };

export const checkAccepted = (context: CheckContext, state: PoolState, value: AnyInput, call: Call): void => {
  const { command, input } = call;
  if (input?.tokenHash !== undefined && input.agentId !== undefined)
    must(15, context.isGenuine(input), "a call was accepted with a wrong token");
  CHECKS[command]?.(context, state, call, value);
  noteStrangers(context, value, call);
};

const checkDeletion = ({ storage, observed }: CheckContext, { build, input, ended }: Call): void => {
  must(18, ended.has(input.buildId) || (!!build && isEnded(build.status)), "a build that has not ended was deleted");
  must(18, input.deleted === "log" || !storage.rows.builds.has(input.buildId), "a deleted build still exists");
  if (input.deleted === "build") forget(observed, input.buildId);
};

const checkRegistration = (context: CheckContext, { input, now }: Call): void => {
  const { id, orgId, registeredBy } = input;
  const tokenId = registeredBy?.tokenId;
  must(14, orgId === context.orgId, "an agent of another organization was registered");
  must(15, !context.observed.revoked.has(tokenId), "a revoked token registered an agent");
  context.observed.agents.set(id, { boots: [], isRemoved: false, tokenId, seenAt: now, ignored: 0, ignoredAt: 0 });
};

const checkRevocation = (context: CheckContext, state: PoolState, { tokenId }: AnyInput): void => {
  context.observed.revoked.add(tokenId);
  const left = [...state.agents.keys()].filter((id) => context.observed.agents.get(id)!.tokenId === tokenId);
  must(15, left.length === 0, "agents of a revoked token are still registered");
};

const checkRemoval = (context: CheckContext, state: PoolState, { input, heldJob }: Call): void => {
  const { agentId } = input;
  context.observed.agents.get(agentId)!.isRemoved = true;
  must(
    15,
    !state.agents.has(agentId) && !state.index.holding.has(agentId),
    "a removed agent is still registered or holds a build",
  );
  if (heldJob)
    must(15, state.jobs.get(heldJob)?.lease?.agentId !== agentId, "a removed agent still holds its build's lease");
};

/** The lease holder's plan is rejected if the queue is full; its build has then failed. */
const checkPlanNotTaken = (context: CheckContext, state: PoolState, call: Call): void => {
  const { input, job, build, now } = call;
  if (!context.isGenuine(input)) return;
  const known = call.build?.until != null && context.storage.rows.graphs.get(input.jobId);
  const { plannedBy } = build ?? {};
  const isItsLease = plannedBy?.fence === input.fence && plannedBy?.agentId === input.agentId;
  must(
    33,
    !known || !isItsLease || known.text !== input.text || isEnded(build!.status),
    "a repeated plan was rejected",
  );
  if (!heldCurrentLease(call) || now >= job!.lease!.expiresAt) return;
  const isFull = context.storage.rows.builds.get(job!.buildId)!.reason === "queue-full";
  const mayPlan = build!.until === null && job!.status === "running" && !state.jobs.get(input.jobId)?.lease?.stop;
  must(33, isFull || !mayPlan, "the lease holder's plan was rejected");
};

/** The agent of the job with which a build begins read a file with mistakes. */
const checkPlanRefused = ({ storage, observed }: CheckContext, call: Call): void => {
  const { job, input } = call;
  const isRepeat =
    job?.end?.reason === "pipeline-invalid" && job?.fence === input.fence && job?.agentId === input.agentId;
  must(33, isRepeat || heldCurrentLease(call), "mistakes of a plan under a stale lease were accepted");
  const { status } = storage.rows.jobs.get(call.input.jobId)!;
  const isCanceled = observed.jobs.get(call.input.jobId)!.isCanceled;
  must(33, status === (isCanceled ? "canceled" : "failed"), `a plan with mistakes made a job ${status}`);
};

/** The first cancel decides how the build ends. The second one ends its cleanup, if there is any. */
const checkCancel = ({ observed, storage, call }: CheckContext, { buildId }: AnyInput): void => {
  const seen = observed.builds.get(buildId);
  if (!seen) {
    observed.canceledJobs.add(buildId);
    return;
  }
  const { cancel, status } = storage.rows.builds.get(buildId)!;
  must(10, status === "canceling" || status === "canceled", `after the cancel the build is ${status}`);
  const { now } = call;
  if (!seen.hasEnded && (!seen.cancel || cancel!.until <= now))
    seen.cancel = { at: seen.cancel?.at ?? now, until: seen.cancel ? now : now + CLEANING_MS };
  must(26, !seen.cancel || cancel!.until <= seen.cancel.until, "a canceled build has a later deadline than allowed");
};

/** A lease holder that calls in time must not be rejected. */
export const checkRefused = (context: CheckContext, state: PoolState, call: Call): void => {
  const { command, input, job, now } = call;
  if (command === "decideGate") checkGateRefused(context, call);
  if (command === "plan") checkPlanNotTaken(context, state, call);
  if (command === "finish" && context.isGenuine(input)) checkRefusedTry(context, call);
  const isHolder = heldCurrentLease(call) && context.isGenuine(input) && now < job!.lease!.expiresAt;
  const isCanceled = context.observed.jobs.get(input?.jobId)?.isCanceled;
  if (isHolder && command === "start") must(3, job!.status === "canceling", "the lease holder's start was rejected");
  if (isHolder && (command === "progress" || command === "finish"))
    must(3, job!.status === "assigned", `the lease holder's ${command} was rejected`);
  if (isHolder && command === "release") {
    must(3, input.elsewhere, "the lease holder's release was rejected");
    const isFirst = context.observed.jobs.get(input.jobId)!.unfetchedReleases === 0;
    must(
      12,
      !isFirst || !isAnotherReady(state, job!, input.agentId, now),
      "an unfetched release was rejected although another agent is ready",
    );
  }
  if (command === "finish" && job?.end && context.isGenuine(input)) {
    const isSame = isReportedAgain(call, context.observed.jobs.get(job.id)!);
    must(9, !isSame || job?.fence !== input.fence || job?.agentId !== input.agentId, "a repeated result was rejected");
  }
  if (command === "deliver" && heldCurrentLease(call) && now < job!.lease!.expiresAt) {
    // The same call may first cancel it for another job whose turn it is.
    const isAssigned = job!.status === "assigned" && state.jobs.get(job!.id)?.status === "assigned";
    must(13, isCanceled || !isAssigned, "a delivery under a current lease was rejected");
  }
};

/** Reports whether another agent that meets the requirements waits, with room for a build. */
const isAnotherReady = (state: PoolState, job: JobFacts, besides: string, now: number): boolean =>
  [...state.agents.values()].some((agent) => {
    const { until, ignored } = state.waiters.get(agent.id) ?? { until: 0, ignored: 0 };
    const isReady = (until === null || until > now) && ignored < 2 && agent.ignored < 2 && agent.spentAt === null;
    const isFit = canRun(agent, job) && !job.releasedBy.includes(agent.id);
    return agent.id !== besides && isReady && isFit && !agent.isDraining;
  });

/** A hinted agent has two seconds to poll before another one gets the hint. */
export const checkOffers = (state: PoolState, { offers, input, now }: Call): void => {
  for (const [jobId, { agentId, at }] of offers) {
    const isStill = state.jobs.get(jobId)?.status === "queued" && state.waiters.has(agentId);
    if (!isStill || agentId === input?.agentId || now >= at + OFFER_MS) continue;
    must(17, state.offers.get(jobId)?.agentId === agentId, "a second agent got the hint too early");
  }
};

const checkEnqueue = (
  context: CheckContext,
  { buildId, isNew }: { buildId: string; isNew: boolean },
  { input, now, build }: Call,
): void => {
  must(14, input.orgId === context.orgId, "a build of another organization was enqueued");
  if (!input.idempotency) return;
  const key = `${input.idempotency.caller} ${input.idempotency.key}`;
  const known = context.observed.keys.get(key);
  if (known && now < known.at + DAY_MS) {
    must(7, !isNew && buildId === known.buildId, "one key created two builds");
    must(7, known.bodyHash === input.idempotency.bodyHash, "one key was accepted for two requests");
  } else {
    must(7, isNew || context.storage.rows.builds.get(buildId) === build, "a new key created no build");
    if (isNew) context.observed.keys.set(key, { buildId, at: now, bodyHash: input.idempotency.bodyHash });
  }
};
