import type { Push } from "../../src/domain/pool/decision.ts";
import type { AgentFacts, BuildFacts, JobFacts } from "../../src/domain/pool/facts.ts";
import type { PoolState } from "../../src/domain/pool/state.ts";
import { nextDue } from "../../src/domain/pool/step.ts";
import { isPaused } from "./check-pause.ts";
import { hasRoom } from "./check-rooms.ts";
import type { CheckContext } from "./observations.ts";
import { AGENT_MS, isEnded, LEASE_GRID, OFFER_MS } from "./specification.ts";
import type { SimStorage } from "./storage.ts";
import { must } from "./violation.ts";

/** Whether the agent meets the requirements, and its program knows the words, by this second implementation. */
export const canRun = (agent: AgentFacts, { requires, jobOf, features }: JobFacts): boolean => {
  const words = [...(jobOf ? (["jobs"] as const) : []), ...(features ?? [])];
  if (words.some((word) => !agent.features?.includes(word))) return false;
  const platform = { macos: 1, linux: 2, windows: 3, "": agent.platform }[requires.platform ?? ""];
  if (platform !== agent.platform) return false;
  if (requires.ios && !agent.canBuildIOS) return false;
  if (requires.android && !agent.canBuildAndroid) return false;
  if (requires.web && !agent.canBuildWeb) return false;
  for (const label of requires.labels ?? []) if (!agent.labels.includes(label)) return false;
  if (agent.labels.includes("untrusted") && !requires.labels?.includes("untrusted")) return false;
  const { xcode } = requires;
  if (xcode && !`,${agent.xcodes ?? ""}`.split(",").some((one) => `${one}.`.startsWith(`${xcode}.`))) return false;
  return true;
};

const isEligible = (
  state: PoolState,
  storage: SimStorage,
  agent: AgentFacts,
  build: BuildFacts,
  now: number,
  countOffers: boolean,
): boolean => {
  const job = state.jobs.get(build.id)!;
  return (
    build.status === "queued" &&
    !build.several &&
    build.approval?.decision !== null &&
    job.notBefore <= now &&
    !job.releasedBy.includes(agent.id) &&
    !(job.passedOver?.agentId === agent.id && job.passedOver.until !== null) &&
    canRun(agent, job) &&
    hasRoom(state, storage, build, countOffers)
  );
};

/** The next build for this agent, by looking at every build. */
export const firstEligible = (
  state: PoolState,
  storage: SimStorage,
  agent: AgentFacts,
  now: number,
): BuildFacts | undefined => {
  let first: BuildFacts | undefined;
  for (const build of state.builds.values()) {
    const isBefore =
      !first || build.priority > first.priority || (build.priority === first.priority && build.seq < first.seq);
    if (isBefore && isEligible(state, storage, agent, build, now, false)) first = build;
  }
  return first;
};

/** Checks the state after a call. `latest` is the latest time that the clock ever showed. */
export const checkState = (context: CheckContext, state: PoolState, latest: number, pushes: readonly Push[]): void => {
  const { storage } = context;
  const holders = new Set<string>();
  const leased = new Map<string, number>();
  const due = nextDue(state, { agentMs: AGENT_MS });
  for (const [id, job] of state.jobs) {
    const build = state.builds.get(id)!;
    const { lease } = job;
    const hasLease = !build.several && build.status !== "queued";
    must(1, hasLease === (lease !== null), lease ? "a build has a lease that needs none" : "a build without lease");
    const until = job.passedOver?.until ?? null;
    if (!lease && until !== null && !build.several)
      must(17, due !== null && due <= until, "no alarm for a build that waits for another agent");
    if (!lease) continue;
    must(1, !holders.has(lease.agentId), "an agent holds two builds");
    holders.add(lease.agentId);
    must(1, state.index.holding.get(lease.agentId) === id, "the index of holders is wrong");
    must(15, state.agents.has(lease.agentId), "a removed agent holds a lease");
    must(17, due !== null && due <= lease.expiresAt + LEASE_GRID, "no alarm for the end of a lease");
    if (lease.startedAt !== null && !lease.stop) {
      must(17, due <= lease.startedAt + job.timeoutSeconds * 1000 + LEASE_GRID, "no alarm for a timeout");
    }
    if (build.pipelineId && !build.jobOf) leased.set(build.pipelineId, (leased.get(build.pipelineId) ?? 0) + 1);
  }
  must(1, state.index.holding.size === holders.size, "the index of holders has an entry without a lease");
  for (const [id, job] of state.jobs) {
    const { pipelineId, status, several, jobOf } = state.builds.get(id)!;
    if (status !== "queued" && job.maxParallel !== null && !several && !jobOf)
      must(12, leased.get(pipelineId!)! <= job.maxParallel, "more builds than maxParallel");
  }
  const { builds, told, audits, closes } = storage.rows;
  let untold = 0;
  for (const { id, status, jobOf } of builds.values()) if (!jobOf && isEnded(status) && !told.has(id)) untold++;
  let untoldInMemory = 0;
  for (const id of state.dirty.keys()) if (!state.builds.has(id)) untoldInMemory++;
  must(16, untold === untoldInMemory, "memory and storage differ about the outbox");
  must(
    17,
    (state.dirty.size === 0 && audits.size === 0 && closes.size === 0) || due !== null,
    "no alarm for the outbox",
  );
  checkWaiters(context, state, latest, pushes);
};

/** Each build that a waiting agent could take has one hint, and no such agent waits without one. */
const checkWaiters = (
  { storage, observed: { pause }, call: { now } }: CheckContext,
  state: PoolState,
  latest: number,
  pushes: readonly Push[],
): void => {
  if (pushes.length > 1) {
    const looks = pushes.filter(({ hint }) => hint.type === "look");
    const hinted = new Set(looks.map(({ hint }) => hint.buildId));
    must(17, hinted.size === looks.length, "two agents got a hint for one build");
  }
  for (const { at } of state.offers.values())
    must(17, now < at + OFFER_MS, "a hint that no agent followed was not withdrawn");
  if (isPaused(pause, now)) {
    const due = nextDue(state, { agentMs: AGENT_MS });
    must(17, due !== null && due <= pause!.until, "no alarm for the end of a pause");
    return;
  }
  if (pause && state.offers.size > 0) return;
  for (const [agentId, waiter] of state.waiters) {
    const agent = state.agents.get(agentId)!;
    const isFree =
      !state.index.holding.has(agentId) &&
      !state.index.offered.has(agentId) &&
      !agent.isDraining &&
      agent.spentAt === null;
    const isAlert = (waiter.until === null || waiter.until > latest) && waiter.ignored < 2 && agent.ignored < 2;
    if (!isFree || !isAlert) continue;
    for (const build of state.builds.values()) {
      must(
        17,
        state.offers.has(build.id) || !isEligible(state, storage, agent, build, now, true),
        "an agent waits without a hint although a build waits for it",
      );
    }
  }
};
