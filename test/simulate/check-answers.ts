import type { JobFacts, Outcome } from "../../src/domain/pool/facts.ts";
import type { PoolState } from "../../src/domain/pool/state.ts";
import { firstEligible, meetsRequirements } from "./check-state.ts";
import type { AnyInput, Call, Checker } from "./checker.ts";
import { DAY_MS, GRACE_AFTER_STOP_MS, isLive, isOver, LEASE_MS, OFFER_MS, OUTAGE_MS } from "./specification.ts";
import { must } from "./violation.ts";

const isOvertime = ({ lease, timeoutSeconds }: JobFacts, now: number) =>
  lease?.stop?.reason === "timeout" || now >= (lease?.startedAt ?? Infinity) + timeoutSeconds * 1000;
const reportedOutcome = ({ status, exitCode, reason }: AnyInput): Outcome => ({
  status,
  exitCode: exitCode ?? null,
  reason: reason ?? null,
});

export const checkAccepted = (checker: Checker, state: PoolState, value: AnyInput, call: Call): void => {
  const { command, input } = call;
  if (input?.tokenHash !== undefined && input.agentId !== undefined)
    must(15, checker.isGenuine(input), `${command} from nobody`);
  const judges: Partial<Record<string, () => void>> = {
    registerAgent: () => checkRegistration(checker, call),
    removeAgent: () => checkRemoval(checker, state, call),
    removeAgentsOf: () => checkRevocation(checker, state, input),
    enqueue: () => checkEnqueue(checker, value, call),
    claim: () => checkClaim(checker, state, value, call),
    cancel: () => checkCancel(checker, state, input),
    heartbeat: () => checkHeartbeat(checker, state, value, call),
    start: () => checkStart(checker, state, call),
    progress: () => mustHoldLease(state, call),
    deliver: () => checkDelivery(checker, state, call),
    release: () => checkRelease(checker, call),
    finish: () => checkFinish(checker, call),
  };
  judges[command]?.();
};

const checkRegistration = (checker: Checker, { input, now }: Call): void => {
  const { id, orgId, registeredBy } = input;
  const tokenId = registeredBy?.tokenId;
  must(14, orgId === checker.orgId, "a foreign agent");
  must(15, !checker.observed.revoked.has(tokenId), "an agent of a revoked token");
  checker.observed.agents.set(id, { boots: [], isRemoved: false, tokenId, seenAt: now, ignored: 0, ignoredAt: 0 });
};

const checkRevocation = (checker: Checker, state: PoolState, { tokenId }: AnyInput): void => {
  checker.observed.revoked.add(tokenId);
  const left = [...state.agents.keys()].filter((id) => checker.observed.agents.get(id)!.tokenId === tokenId);
  must(15, left.length === 0, "a revoked token's agents are still there");
};

/** An agent that cannot fetch a build gives it back once at most, and does not keep a canceled one from ending. */
const checkRelease = (checker: Checker, call: Call): void => {
  must(3, heldCurrentLease(call), "a release under no lease");
  const { buildId, elsewhere } = call.input;
  const seen = checker.observed.builds.get(buildId)!;
  if (!elsewhere || checker.storage.rows.builds.get(buildId)!.status !== "queued") return;
  must(12, ++seen.givenElsewhere === 1, "a build was given back unfetched twice");
};

const checkRemoval = (checker: Checker, state: PoolState, { input, heldBuild }: Call): void => {
  const { agentId } = input;
  checker.observed.agents.get(agentId)!.isRemoved = true;
  must(15, !state.agents.has(agentId) && !state.index.holding.has(agentId), "a removed agent is still there");
  if (heldBuild) must(15, state.jobs.get(heldBuild)?.lease?.agentId !== agentId, "its build is not free");
};

const checkCancel = (checker: Checker, state: PoolState, { buildId }: AnyInput): void => {
  const { status } = checker.storage.rows.builds.get(buildId)!;
  must(10, status === (state.jobs.get(buildId)?.lease ? "canceling" : "canceled"), `cancel left it ${status}`);
  checker.observed.builds.get(buildId)!.isCanceled = true;
};

const checkStart = (checker: Checker, state: PoolState, call: Call): void => {
  mustHoldLease(state, call);
  const { agentId, buildId } = call.input;
  const seen = checker.observed.builds.get(buildId)!;
  checker.observed.agents.get(agentId)!.ignored = 0;
  must(10, !seen.isCanceled, "a canceled build was started");
  if (call.build!.status === "assigned")
    recordPromise(checker, buildId, Math.max(seen.promisedUntil, call.now + LEASE_MS));
};

const checkDelivery = (checker: Checker, state: PoolState, call: Call): void => {
  mustHoldLease(state, call);
  const { buildId } = call.input;
  must(10, !checker.observed.builds.get(buildId)!.isCanceled, "a canceled build was delivered");
  must(13, call.audits.includes(`build.deliver ${buildId}`), "secrets left without audit");
};

/** Whoever holds a lease, and says so in time, must not be turned away. */
export const checkRefused = (checker: Checker, state: PoolState, call: Call): void => {
  const { command, input, build, job, now } = call;
  const isHolder = heldCurrentLease(call) && checker.isGenuine(input) && now < job!.lease!.expiresAt;
  const isCanceled = checker.observed.builds.get(input?.buildId)?.isCanceled;
  if (isHolder && command === "start") must(3, build!.status === "canceling", "the holder may not start");
  if (isHolder && (command === "progress" || command === "finish"))
    must(3, build!.status === "assigned", `${command} of the holder was refused`);
  if (isHolder && command === "release") {
    must(3, input.elsewhere, "the holder may not release");
    const isFirst = checker.observed.builds.get(input.buildId)!.givenElsewhere === 0;
    must(12, !isFirst || !isAnotherReady(state, job!, input.agentId, now), "not given to another that is ready");
  }
  if (command === "finish" && build && isOver(build.status) && checker.isGenuine(input)) {
    const isSame =
      JSON.stringify(reportedOutcome(input)) === JSON.stringify(checker.observed.builds.get(build.id)!.reported);
    must(
      9,
      !isSame || job?.fence !== input.fence || job?.agentId !== input.agentId,
      "the same result again was refused",
    );
  }
  if (command === "deliver" && heldCurrentLease(call) && now < job!.lease!.expiresAt) {
    must(13, isCanceled || build!.status !== "assigned", "a delivery was refused for nothing");
  }
};

/** Whether another agent that suits waits for a build with nothing against it. */
const isAnotherReady = (state: PoolState, job: JobFacts, besides: string, now: number): boolean =>
  [...state.agents.values()].some((agent) => {
    const { until, ignored } = state.waiting.get(agent.id) ?? { until: 0, ignored: 0 };
    const isReady = (until === null || until > now) && ignored < 2 && agent.ignored < 2 && agent.spentAt === null;
    const isFit = meetsRequirements(agent, job) && !job.releasedBy.includes(agent.id);
    return agent.id !== besides && isReady && isFit && !agent.isDraining;
  });

/** Who was told to look has two seconds to do so, before another is told. */
export const checkOffers = (state: PoolState, { offers, input, now }: Call): void => {
  for (const [buildId, { agentId, at }] of offers) {
    const isStill = state.builds.get(buildId)?.status === "queued" && state.waiting.has(agentId);
    if (!isStill || agentId === input?.agentId || now >= at + OFFER_MS) continue;
    must(17, state.offers.get(buildId)?.agentId === agentId, "another was woken too soon");
  }
};

const heldCurrentLease = ({ job, build, input }: Call): boolean => {
  return !!build && isLive(build.status) && job?.lease?.fence === input.fence && job?.lease?.agentId === input.agentId;
};

const mustHoldLease = (state: PoolState, call: Call): void => {
  must(3, heldCurrentLease(call), `${call.command} under a stale lease was accepted`);
  must(5, state.jobs.get(call.input.buildId)?.lease?.fence === call.input.fence, "a swept lease was revived");
};

const recordPromise = (checker: Checker, buildId: string, until: number): void => {
  checker.observed.builds.get(buildId)!.promisedUntil = until;
};

const checkEnqueue = (
  checker: Checker,
  { buildId, isNew }: { buildId: string; isNew: boolean },
  { input, now }: Call,
): void => {
  must(14, input.orgId === checker.orgId, "a foreign build");
  if (!input.idempotency) return;
  const key = `${input.idempotency.caller} ${input.idempotency.key}`;
  const known = checker.observed.keys.get(key);
  if (known && now < known.at + DAY_MS) {
    must(7, !isNew && buildId === known.buildId, "one key made two builds");
    must(7, known.bodyHash === input.idempotency.bodyHash, "one key stood for two requests");
  } else {
    must(7, isNew, "a new key made no build");
    checker.observed.keys.set(key, { buildId, at: now, bodyHash: input.idempotency.bodyHash });
  }
};

const checkClaim = (checker: Checker, state: PoolState, value: AnyInput, { input, now, heldBuild }: Call): void => {
  const agent = state.agents.get(input.agentId)!;
  const boots = checker.observed.agents.get(input.agentId)!.boots;
  const isNewBoot = !!input.bootId && !boots.includes(input.bootId);
  const isOldBoot = !!input.bootId && !isNewBoot && boots.at(-1) !== input.bootId;
  if (isOldBoot) {
    must(8, value === null, "an earlier boot was given a build");
    return;
  }
  const heldJob = heldBuild === undefined ? undefined : checker.storage.rows.jobs.get(heldBuild);
  const lease = heldJob?.lease;
  if (
    lease &&
    lease.agentId === input.agentId &&
    lease.startedAt === null &&
    !isNewBoot &&
    checker.storage.rows.builds.get(heldBuild!)?.status === "assigned" &&
    now < lease.expiresAt
  ) {
    must(8, value?.buildId === heldBuild && value.fence === lease.fence, "an unstarted lease was not handed out again");
  }
  if (value) {
    const job = state.jobs.get(value.buildId);
    must(8, job?.lease?.fence === value.fence && job?.lease?.agentId === input.agentId, "an answer that is no lease");
    must(5, value.expiresAt <= (job?.lease?.expiresAt ?? 0), "a promise longer than the lease");
    must(10, !checker.observed.builds.get(value.buildId)!.isCanceled, "a canceled build was handed out");
    must(8, state.builds.get(value.buildId)?.status === "assigned", "a build at work was handed out again");
    recordPromise(checker, value.buildId, value.expiresAt);
    return;
  }
  const isAble =
    !state.index.holding.has(input.agentId) && !agent.isDraining && agent.spentAt === null && agent.ignored < 2;
  if (isAble) must(12, firstEligible(state, agent, now) === undefined, "an eligible build was withheld");
};

const checkHeartbeat = (checker: Checker, state: PoolState, value: AnyInput, call: Call): void => {
  const { input, now } = call;
  checker.observed.agents.get(input.agentId)!.ignored = 0;
  if (input.fence == null || value.reason === "lease-lost") return;
  mustHoldLease(state, call);
  const seen = checker.observed.builds.get(input.buildId)!;
  const until = Date.parse(value.leaseExpiresAt);
  must(5, state.jobs.get(input.buildId)!.lease!.expiresAt === until, "a promise that is not the lease");
  const lease = state.jobs.get(input.buildId)!.lease!;
  if (seen.isCanceled) must(10, value.cancel && value.reason === "canceled", "a heartbeat did not tell of the cancel");
  else if (lease.stop) must(10, value.cancel && value.reason === "timeout", "a heartbeat did not tell of the timeout");
  else must(10, !value.cancel, "a heartbeat stopped a build for no reason");
  if (lease.startedAt !== null && !lease.stop) must(5, until >= now + LEASE_MS, "a heartbeat did not extend the lease");
  if (lease.stop) {
    const had = call.job!.lease!.expiresAt;
    const graced = now - had > OUTAGE_MS ? now + LEASE_MS : had;
    must(
      17,
      until <= Math.max(lease.stop.at + GRACE_AFTER_STOP_MS, seen.promisedUntil, graced),
      "a stopped build is kept alive",
    );
  }
  recordPromise(checker, input.buildId, until);
};

const checkFinish = (checker: Checker, call: Call): void => {
  const { input, build, job } = call;
  const seen = checker.observed.builds.get(input.buildId)!;
  const reported = reportedOutcome(input);
  const ended = checker.storage.rows.builds.get(input.buildId)!;
  must(9, isOver(ended.status), "a finish that did not end the build");
  if (build && isOver(build.status)) {
    must(9, JSON.stringify(seen.reported) === JSON.stringify(reported), "another result was accepted");
    must(3, job?.fence === input.fence && job?.agentId === input.agentId, "a stranger's finish was accepted");
    return;
  }
  must(3, heldCurrentLease(call), "a finish under a stale lease was accepted");
  must(4, build?.status !== "assigned", "a build ended before it started");
  seen.reported = reported;
  const expected = input.status === "succeeded" ? "succeeded" : "failed";
  if (seen.isCanceled) must(10, ended.status === "canceled", `a canceled build ended ${ended.status}`);
  else if (ended.reason === "timeout") must(17, isOvertime(job!, call.now), "a timeout before its time");
  else must(9, ended.status === expected, `${input.status} became ${ended.status}`);
};
