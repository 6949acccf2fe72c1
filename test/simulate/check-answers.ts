import type { JobFacts, Outcome } from "../../src/domain/pool/facts.ts";
import type { PoolState } from "../../src/domain/pool/state.ts";
import { firstEligible, meetsRequirements } from "./check-state.ts";
import type { AnyInput, Call, CheckContext } from "./observations.ts";
import {
  DAY_MS,
  GRACE_AFTER_STOP_MS,
  isEnded,
  isLeased,
  LEASE_MS,
  OFFER_MS,
  OUTAGE_MS,
  STORED_FOR_MS,
} from "./specification.ts";
import { must } from "./violation.ts";

const isOvertime = ({ lease, timeoutSeconds }: JobFacts, now: number) =>
  lease?.stop?.reason === "timeout" || now >= (lease?.startedAt ?? Infinity) + timeoutSeconds * 1000;
const reportedOutcome = ({ status, exitCode, reason }: AnyInput): Outcome => ({
  status,
  exitCode: exitCode ?? null,
  reason: reason ?? null,
});

/** Checks an accepted call against what callers saw before. */
export const checkAccepted = (context: CheckContext, state: PoolState, value: AnyInput, call: Call): void => {
  const { command, input } = call;
  if (input?.tokenHash !== undefined && input.agentId !== undefined)
    must(15, context.isGenuine(input), `${command} accepted with a wrong token`);
  const checks: Partial<Record<string, () => void>> = {
    registerAgent: () => checkRegistration(context, call),
    removeAgent: () => checkRemoval(context, state, call),
    removeAgentsOf: () => checkRevocation(context, state, input),
    enqueue: () => checkEnqueue(context, value, call),
    claim: () => checkClaim(context, state, value, call),
    cancel: () => checkCancel(context, state, input),
    deleteBuild: () => checkDeletion(context, call),
    heartbeat: () => checkHeartbeat(context, state, value, call),
    start: () => checkStart(context, state, call),
    progress: () => mustHoldLease(state, call),
    deliver: () => checkDelivery(context, state, call),
    release: () => checkRelease(context, call),
    finish: () => checkFinish(context, call),
  };
  checks[command]?.();
};

const checkDeletion = ({ storage, observed }: CheckContext, { build, input, ended }: Call): void => {
  must(18, ended.has(input.buildId) || (!!build && isEnded(build.status)), "a build that has not ended was deleted");
  must(18, input.deleted === "log" || !storage.rows.builds.has(input.buildId), "a build stays though it was deleted");
  if (input.deleted === "build") observed.builds.delete(input.buildId);
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

/** A build is released at most once because its agent could not fetch it; a canceled one ends instead. */
const checkRelease = (context: CheckContext, call: Call): void => {
  must(3, heldCurrentLease(call), "a release without the lease was accepted");
  const { buildId, elsewhere } = call.input;
  const seen = context.observed.builds.get(buildId)!;
  if (!elsewhere || context.storage.rows.builds.get(buildId)!.status !== "queued") return;
  must(12, ++seen.unfetchedReleases === 1, "a build was released unfetched twice");
};

const checkRemoval = (context: CheckContext, state: PoolState, { input, heldBuild }: Call): void => {
  const { agentId } = input;
  context.observed.agents.get(agentId)!.isRemoved = true;
  must(
    15,
    !state.agents.has(agentId) && !state.index.holding.has(agentId),
    "a removed agent is still registered or holds a build",
  );
  if (heldBuild)
    must(
      15,
      state.jobs.get(heldBuild)?.lease?.agentId !== agentId,
      "the build of a removed agent is still leased to it",
    );
};

const checkCancel = (context: CheckContext, state: PoolState, { buildId }: AnyInput): void => {
  const { status } = context.storage.rows.builds.get(buildId)!;
  must(
    10,
    status === (state.jobs.get(buildId)?.lease ? "canceling" : "canceled"),
    `after the cancel the build is ${status}`,
  );
  context.observed.builds.get(buildId)!.isCanceled = true;
};

const checkStart = (context: CheckContext, state: PoolState, call: Call): void => {
  mustHoldLease(state, call);
  const { agentId, buildId } = call.input;
  const seen = context.observed.builds.get(buildId)!;
  context.observed.agents.get(agentId)!.ignored = 0;
  must(10, !seen.isCanceled, "a canceled build was started");
  if (call.build!.status === "assigned")
    recordPromise(context, buildId, Math.max(seen.promisedUntil, call.now + LEASE_MS));
};

const checkDelivery = (context: CheckContext, state: PoolState, call: Call): void => {
  mustHoldLease(state, call);
  const { buildId } = call.input;
  must(10, !context.observed.builds.get(buildId)!.isCanceled, "a canceled build was delivered");
  must(13, call.audits.includes(`build.deliver ${buildId}`), "secrets were delivered without an audit entry");
};

/** The holder of a lease that calls in time must not be refused. */
export const checkRefused = (context: CheckContext, state: PoolState, call: Call): void => {
  const { command, input, build, job, now } = call;
  const isHolder = heldCurrentLease(call) && context.isGenuine(input) && now < job!.lease!.expiresAt;
  const isCanceled = context.observed.builds.get(input?.buildId)?.isCanceled;
  if (isHolder && command === "start") must(3, build!.status === "canceling", "start of the lease holder was refused");
  if (isHolder && (command === "progress" || command === "finish"))
    must(3, build!.status === "assigned", `${command} of the lease holder was refused`);
  if (isHolder && command === "release") {
    must(3, input.elsewhere, "release of the lease holder was refused");
    const isFirst = context.observed.builds.get(input.buildId)!.unfetchedReleases === 0;
    must(
      12,
      !isFirst || !isAnotherReady(state, job!, input.agentId, now),
      "an unfetched release was refused although another agent is ready",
    );
  }
  if (command === "finish" && build && isEnded(build.status) && context.isGenuine(input)) {
    const isSame =
      JSON.stringify(reportedOutcome(input)) === JSON.stringify(context.observed.builds.get(build.id)!.reported);
    must(
      9,
      !isSame || job?.fence !== input.fence || job?.agentId !== input.agentId,
      "the same result again was refused",
    );
  }
  if (command === "deliver" && heldCurrentLease(call) && now < job!.lease!.expiresAt) {
    must(13, isCanceled || build!.status !== "assigned", "a delivery under a current lease was refused");
  }
};

/** Whether another agent that meets the requirements waits, with room for a build. */
const isAnotherReady = (state: PoolState, job: JobFacts, besides: string, now: number): boolean =>
  [...state.agents.values()].some((agent) => {
    const { until, ignored } = state.waiters.get(agent.id) ?? { until: 0, ignored: 0 };
    const isReady = (until === null || until > now) && ignored < 2 && agent.ignored < 2 && agent.spentAt === null;
    const isFit = meetsRequirements(agent, job) && !job.releasedBy.includes(agent.id);
    return agent.id !== besides && isReady && isFit && !agent.isDraining;
  });

/** A hinted agent has two seconds to poll before another one gets the hint. */
export const checkOffers = (state: PoolState, { offers, input, now }: Call): void => {
  for (const [buildId, { agentId, at }] of offers) {
    const isStill = state.builds.get(buildId)?.status === "queued" && state.waiters.has(agentId);
    if (!isStill || agentId === input?.agentId || now >= at + OFFER_MS) continue;
    must(17, state.offers.get(buildId)?.agentId === agentId, "a second agent got the hint too early");
  }
};

const heldCurrentLease = ({ job, build, input }: Call): boolean => {
  return (
    !!build && isLeased(build.status) && job?.lease?.fence === input.fence && job?.lease?.agentId === input.agentId
  );
};

const mustHoldLease = (state: PoolState, call: Call): void => {
  must(3, heldCurrentLease(call), `${call.command} under a stale lease was accepted`);
  must(5, state.jobs.get(call.input.buildId)?.lease?.fence === call.input.fence, "a lease that had ended was revived");
};

const recordPromise = (context: CheckContext, buildId: string, until: number): void => {
  context.observed.builds.get(buildId)!.promisedUntil = until;
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
    must(7, !isNew && buildId === known.buildId, "one key made two builds");
    must(7, known.bodyHash === input.idempotency.bodyHash, "one key was accepted for two different requests");
  } else {
    must(7, isNew || context.storage.rows.builds.get(buildId) === build, "a new key made no build");
    if (isNew) context.observed.keys.set(key, { buildId, at: now, bodyHash: input.idempotency.bodyHash });
  }
};

const checkClaim = (
  context: CheckContext,
  state: PoolState,
  value: AnyInput,
  { input, now, heldBuild }: Call,
): void => {
  const agent = state.agents.get(input.agentId)!;
  const boots = context.observed.agents.get(input.agentId)!.boots;
  const isNewBoot = !!input.bootId && !boots.includes(input.bootId);
  const isOldBoot = !!input.bootId && !isNewBoot && boots.at(-1) !== input.bootId;
  if (isOldBoot) {
    must(8, value === null, "an earlier boot of the agent got a build");
    return;
  }
  const heldJob = heldBuild === undefined ? undefined : context.storage.rows.jobs.get(heldBuild);
  const lease = heldJob?.lease;
  if (
    lease &&
    lease.agentId === input.agentId &&
    lease.startedAt === null &&
    !isNewBoot &&
    context.storage.rows.builds.get(heldBuild!)?.status === "assigned" &&
    now < lease.expiresAt
  ) {
    must(8, value?.buildId === heldBuild && value.fence === lease.fence, "an unstarted lease was not handed out again");
  }
  if (value) {
    const job = state.jobs.get(value.buildId);
    must(
      8,
      job?.lease?.fence === value.fence && job?.lease?.agentId === input.agentId,
      "the answer names a lease that does not exist",
    );
    must(5, value.expiresAt <= (job?.lease?.expiresAt ?? 0), "the answer promises more time than the lease has");
    must(10, !context.observed.builds.get(value.buildId)!.isCanceled, "a canceled build was handed out");
    must(8, state.builds.get(value.buildId)?.status === "assigned", "a started build was handed out again");
    recordPromise(context, value.buildId, value.expiresAt);
    return;
  }
  const isAble =
    !state.index.holding.has(input.agentId) && !agent.isDraining && agent.spentAt === null && agent.ignored < 2;
  if (isAble) must(12, firstEligible(state, agent, now) === undefined, "an eligible build was withheld");
};

const checkHeartbeat = (context: CheckContext, state: PoolState, value: AnyInput, call: Call): void => {
  const { input, now } = call;
  context.observed.agents.get(input.agentId)!.ignored = 0;
  if (input.fence == null || value.reason === "lease-lost") return;
  mustHoldLease(state, call);
  const seen = context.observed.builds.get(input.buildId)!;
  const until = Date.parse(value.leaseExpiresAt);
  must(
    5,
    state.jobs.get(input.buildId)!.lease!.expiresAt === until,
    "the heartbeat names another deadline than the lease",
  );
  const lease = state.jobs.get(input.buildId)!.lease!;
  if (lease.startedAt !== null) seen.unaskedExtensions = 0;
  if (seen.isCanceled)
    must(10, value.cancel && value.reason === "canceled", "the heartbeat does not say that the build is canceled");
  else if (lease.stop)
    must(10, value.cancel && value.reason === "timeout", "the heartbeat does not say that the build timed out");
  else must(10, !value.cancel, "the heartbeat stops a build without a reason");
  if (lease.startedAt !== null && !lease.stop) {
    must(5, until >= now + LEASE_MS, "the heartbeat did not extend the lease");
    const stored = context.storage.rows.jobs.get(input.buildId)!.lease!.expiresAt;
    must(5, stored + STORED_FOR_MS >= until, "the stored deadline is too old");
  }
  if (lease.stop) {
    const had = call.job!.lease!.expiresAt;
    const graced = now - had > OUTAGE_MS ? now + LEASE_MS : had;
    must(
      17,
      until <= Math.max(lease.stop.at + GRACE_AFTER_STOP_MS, seen.promisedUntil, graced),
      "a stopped build is kept alive",
    );
  }
  recordPromise(context, input.buildId, until);
};

const checkFinish = (context: CheckContext, call: Call): void => {
  const { input, build, job } = call;
  const seen = context.observed.builds.get(input.buildId)!;
  const reported = reportedOutcome(input);
  const ended = context.storage.rows.builds.get(input.buildId)!;
  must(9, isEnded(ended.status), "an accepted finish did not end the build");
  if (build && isEnded(build.status)) {
    must(9, JSON.stringify(seen.reported) === JSON.stringify(reported), "a second, different result was accepted");
    // A restored pool knows from D1 who ended the build, and not under which fence.
    const isItsLease = job?.fence === 0 || job?.fence === input.fence;
    must(3, isItsLease && job?.agentId === input.agentId, "the finish of another lease was accepted");
    return;
  }
  must(3, heldCurrentLease(call), "a finish under a stale lease was accepted");
  must(4, build?.status !== "assigned", "a build ended before it started");
  seen.reported = reported;
  const expected = input.status === "succeeded" ? "succeeded" : "failed";
  if (seen.isCanceled) must(10, ended.status === "canceled", `a canceled build ended ${ended.status}`);
  else if (ended.reason === "timeout") must(17, isOvertime(job!, call.now), "a build timed out before its time");
  else must(9, ended.status === expected, `${input.status} became ${ended.status}`);
};
