import type { JobFacts, Outcome } from "../../src/domain/pool/facts.ts";
import type { PoolState } from "../../src/domain/pool/state.ts";
import { firstEligible, suits } from "./inspect.ts";
import { DAY_MS, GRACE_AFTER_STOP_MS, isEnded, isLeased, LEASE_MS, OFFER_MS, OUTAGE_MS } from "./laws.ts";
import { must } from "./violation.ts";
import type { AnyInput, Call, Witness } from "./witness.ts";

const isOvertime = ({ lease, timeoutSeconds }: JobFacts, now: number) =>
  lease?.stop?.reason === "timeout" || now >= (lease?.startedAt ?? Infinity) + timeoutSeconds * 1000;
const reportedBy = ({ status, exitCode, reason }: AnyInput): Outcome => ({
  status,
  exitCode: exitCode ?? null,
  reason: reason ?? null,
});

export const judgeAccepted = (witness: Witness, state: PoolState, value: AnyInput, call: Call): void => {
  const { verb, input } = call;
  if (input?.tokenHash !== undefined && input.agentId !== undefined)
    must(15, witness.isGenuine(input), `${verb} from nobody`);
  const judges: Partial<Record<string, () => void>> = {
    registerAgent: () => registered(witness, call),
    removeAgent: () => removed(witness, state, call),
    removeAgentsOf: () => revoked(witness, state, input),
    enqueue: () => enqueued(witness, value, call),
    claim: () => claimed(witness, state, value, call),
    cancel: () => canceled(witness, state, input),
    heartbeat: () => beaten(witness, state, value, call),
    start: () => startAccepted(witness, state, call),
    progress: () => mustHold(state, call),
    deliver: () => delivered(witness, state, call),
    release: () => released(witness, call),
    finish: () => finished(witness, call),
  };
  judges[verb]?.();
};

const registered = (witness: Witness, { input, now }: Call): void => {
  const { id, orgId, registeredBy } = input;
  const tokenId = registeredBy?.tokenId;
  must(14, orgId === witness.orgId, "a foreign agent");
  must(15, !witness.memory.revoked.has(tokenId), "an agent of a revoked token");
  witness.memory.agents.set(id, { boots: [], isRemoved: false, tokenId, seenAt: now, ignored: 0, ignoredAt: 0 });
};

const revoked = (witness: Witness, state: PoolState, { tokenId }: AnyInput): void => {
  witness.memory.revoked.add(tokenId);
  const left = [...state.agents.keys()].filter((id) => witness.memory.agents.get(id)!.tokenId === tokenId);
  must(15, left.length === 0, "a revoked token's agents are still there");
};

/** An agent that cannot fetch a build gives it back once at most, and does not keep a canceled one from ending. */
const released = (witness: Witness, call: Call): void => {
  must(3, wasCurrent(call), "a release under no lease");
  const { buildId, elsewhere } = call.input;
  const seen = witness.memory.builds.get(buildId)!;
  if (!elsewhere || witness.disk.rows.builds.get(buildId)!.status !== "queued") return;
  must(12, ++seen.givenElsewhere === 1, "a build was given back unfetched twice");
};

const removed = (witness: Witness, state: PoolState, { input, held }: Call): void => {
  const { agentId } = input;
  witness.memory.agents.get(agentId)!.isRemoved = true;
  must(15, !state.agents.has(agentId) && !state.index.holding.has(agentId), "a removed agent is still there");
  if (held) must(15, state.jobs.get(held)?.lease?.agentId !== agentId, "its build is not free");
};

const canceled = (witness: Witness, state: PoolState, { buildId }: AnyInput): void => {
  const { status } = witness.disk.rows.builds.get(buildId)!;
  must(10, status === (state.jobs.get(buildId)?.lease ? "canceling" : "canceled"), `cancel left it ${status}`);
  witness.memory.builds.get(buildId)!.isCanceled = true;
};

const startAccepted = (witness: Witness, state: PoolState, call: Call): void => {
  mustHold(state, call);
  const { agentId, buildId } = call.input;
  const seen = witness.memory.builds.get(buildId)!;
  witness.memory.agents.get(agentId)!.ignored = 0;
  must(10, !seen.isCanceled, "a canceled build was started");
  if (call.build!.status === "assigned") promise(witness, buildId, Math.max(seen.promised, call.now + LEASE_MS));
};

const delivered = (witness: Witness, state: PoolState, call: Call): void => {
  mustHold(state, call);
  const { buildId } = call.input;
  must(10, !witness.memory.builds.get(buildId)!.isCanceled, "a canceled build was delivered");
  must(13, call.audits.includes(`build.deliver ${buildId}`), "secrets left without audit");
};

/** Whoever holds a lease, and says so in time, must not be turned away. */
export const judgeRefused = (witness: Witness, state: PoolState, call: Call): void => {
  const { verb, input, build, job, now } = call;
  const isHolder = wasCurrent(call) && witness.isGenuine(input) && now < job!.lease!.expiresAt;
  const isCanceled = witness.memory.builds.get(input?.buildId)?.isCanceled;
  if (isHolder && verb === "start") must(3, build!.status === "canceling", "the holder may not start");
  if (isHolder && (verb === "progress" || verb === "finish"))
    must(3, build!.status === "assigned", `${verb} of the holder was refused`);
  if (isHolder && verb === "release") {
    must(3, input.elsewhere, "the holder may not release");
    const isFirst = witness.memory.builds.get(input.buildId)!.givenElsewhere === 0;
    must(12, !isFirst || !isAnotherReady(state, job!, input.agentId, now), "not given to another that is ready");
  }
  if (verb === "finish" && build && isEnded(build.status) && witness.isGenuine(input)) {
    const isSame = JSON.stringify(reportedBy(input)) === JSON.stringify(witness.memory.builds.get(build.id)!.reported);
    must(
      9,
      !isSame || job?.fence !== input.fence || job?.agentId !== input.agentId,
      "the same result again was refused",
    );
  }
  if (verb === "deliver" && wasCurrent(call) && now < job!.lease!.expiresAt) {
    must(13, isCanceled || build!.status !== "assigned", "a delivery was refused for nothing");
  }
};

/** Whether another agent that suits waits for a build with nothing against it. */
const isAnotherReady = (state: PoolState, job: JobFacts, besides: string, now: number): boolean =>
  [...state.agents.values()].some((agent) => {
    const { until, ignored } = state.waiting.get(agent.id) ?? { until: 0, ignored: 0 };
    const isReady = (until === null || until > now) && ignored < 2 && agent.ignored < 2 && agent.spentAt === null;
    const isFit = suits(agent, job) && !job.releasedBy.includes(agent.id);
    return agent.id !== besides && isReady && isFit && !agent.isDraining;
  });

/** Who was told to look has two seconds to do so, before another is told. */
export const judgeOffers = (state: PoolState, { offers, input, now }: Call): void => {
  for (const [buildId, { agentId, at }] of offers) {
    const isStill = state.builds.get(buildId)?.status === "queued" && state.waiting.has(agentId);
    if (!isStill || agentId === input?.agentId || now >= at + OFFER_MS) continue;
    must(17, state.offers.get(buildId)?.agentId === agentId, "another was woken too soon");
  }
};

const wasCurrent = ({ job, build, input }: Call): boolean => {
  return (
    !!build && isLeased(build.status) && job?.lease?.fence === input.fence && job?.lease?.agentId === input.agentId
  );
};

const mustHold = (state: PoolState, call: Call): void => {
  must(3, wasCurrent(call), `${call.verb} under a stale lease was accepted`);
  must(5, state.jobs.get(call.input.buildId)?.lease?.fence === call.input.fence, "a swept lease was revived");
};

const promise = (witness: Witness, buildId: string, until: number): void => {
  witness.memory.builds.get(buildId)!.promised = until;
};

const enqueued = (
  witness: Witness,
  { buildId, isNew }: { buildId: string; isNew: boolean },
  { input, now }: Call,
): void => {
  must(14, input.orgId === witness.orgId, "a foreign build");
  if (!input.idempotency) return;
  const key = `${input.idempotency.caller} ${input.idempotency.key}`;
  const known = witness.memory.keys.get(key);
  if (known && now < known.at + DAY_MS) {
    must(7, !isNew && buildId === known.buildId, "one key made two builds");
    must(7, known.bodyHash === input.idempotency.bodyHash, "one key stood for two requests");
  } else {
    must(7, isNew, "a new key made no build");
    witness.memory.keys.set(key, { buildId, at: now, bodyHash: input.idempotency.bodyHash });
  }
};

const claimed = (witness: Witness, state: PoolState, value: AnyInput, { input, now, held }: Call): void => {
  const agent = state.agents.get(input.agentId)!;
  const boots = witness.memory.agents.get(input.agentId)!.boots;
  const isNewBoot = !!input.bootId && !boots.includes(input.bootId);
  const isOldBoot = !!input.bootId && !isNewBoot && boots.at(-1) !== input.bootId;
  if (isOldBoot) {
    must(8, value === null, "an earlier boot was given a build");
    return;
  }
  const heldJob = held === undefined ? undefined : witness.disk.rows.jobs.get(held);
  const lease = heldJob?.lease;
  if (
    lease &&
    lease.agentId === input.agentId &&
    lease.startedAt === null &&
    !isNewBoot &&
    witness.disk.rows.builds.get(held!)?.status === "assigned" &&
    now < lease.expiresAt
  ) {
    must(8, value?.buildId === held && value.fence === lease.fence, "an unstarted lease was not handed out again");
  }
  if (value) {
    const job = state.jobs.get(value.buildId);
    must(8, job?.lease?.fence === value.fence && job?.lease?.agentId === input.agentId, "an answer that is no lease");
    must(5, value.expiresAt <= (job?.lease?.expiresAt ?? 0), "a promise longer than the lease");
    must(10, !witness.memory.builds.get(value.buildId)!.isCanceled, "a canceled build was handed out");
    must(8, state.builds.get(value.buildId)?.status === "assigned", "a build at work was handed out again");
    promise(witness, value.buildId, value.expiresAt);
    return;
  }
  const isAble =
    !state.index.holding.has(input.agentId) && !agent.isDraining && agent.spentAt === null && agent.ignored < 2;
  if (isAble) must(12, firstEligible(state, agent, now) === undefined, "an eligible build was withheld");
};

const beaten = (witness: Witness, state: PoolState, value: AnyInput, call: Call): void => {
  const { input, now } = call;
  witness.memory.agents.get(input.agentId)!.ignored = 0;
  if (input.fence == null || value.reason === "lease-lost") return;
  mustHold(state, call);
  const seen = witness.memory.builds.get(input.buildId)!;
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
      until <= Math.max(lease.stop.at + GRACE_AFTER_STOP_MS, seen.promised, graced),
      "a stopped build is kept alive",
    );
  }
  promise(witness, input.buildId, until);
};

const finished = (witness: Witness, call: Call): void => {
  const { input, build, job } = call;
  const seen = witness.memory.builds.get(input.buildId)!;
  const reported = reportedBy(input);
  const ended = witness.disk.rows.builds.get(input.buildId)!;
  must(9, isEnded(ended.status), "a finish that did not end the build");
  if (build && isEnded(build.status)) {
    must(9, JSON.stringify(seen.reported) === JSON.stringify(reported), "another result was accepted");
    must(3, job?.fence === input.fence && job?.agentId === input.agentId, "a stranger's finish was accepted");
    return;
  }
  must(3, wasCurrent(call), "a finish under a stale lease was accepted");
  must(4, build?.status !== "assigned", "a build ended before it started");
  seen.reported = reported;
  const expected = input.status === "succeeded" ? "succeeded" : "failed";
  if (seen.isCanceled) must(10, ended.status === "canceled", `a canceled build ended ${ended.status}`);
  else if (ended.reason === "timeout") must(17, isOvertime(job!, call.now), "a timeout before its time");
  else must(9, ended.status === expected, `${input.status} became ${ended.status}`);
};
