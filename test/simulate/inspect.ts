import type { Push } from "../../src/domain/pool/decision.ts";
import type { AgentFacts, BuildFacts, JobFacts } from "../../src/domain/pool/facts.ts";
import type { PoolState } from "../../src/domain/pool/state.ts";
import { nextDue } from "../../src/domain/pool/step.ts";
import type { Disk } from "./disk.ts";
import { AGENT_MS, OFFER_MS } from "./laws.ts";
import { must } from "./violation.ts";

/** Whether the agent has all that the build asks for, decided without the machine. */
export const suits = (agent: AgentFacts, { requires }: Pick<JobFacts, "requires">): boolean => {
  const platform = { macos: 1, linux: 2, windows: 3, "": agent.platform }[requires.platform ?? ""];
  if (platform !== agent.platform) return false;
  if (requires.ios && !agent.canBuildIOS) return false;
  if (requires.android && !agent.canBuildAndroid) return false;
  if (requires.web && !agent.canBuildWeb) return false;
  for (const label of requires.labels ?? []) if (!agent.labels.includes(label)) return false;
  return true;
};

const roomFor = (
  state: PoolState,
  { pipelineId }: BuildFacts,
  { maxParallel }: JobFacts,
  alsoOffered: boolean,
): boolean => {
  if (maxParallel === null) return true;
  let taken = 0;
  for (const other of state.builds.values()) {
    if (other.pipelineId === pipelineId && (other.status !== "queued" || (alsoOffered && state.offers.has(other.id))))
      taken++;
  }
  return taken < maxParallel;
};

const isEligible = (
  state: PoolState,
  agent: AgentFacts,
  build: BuildFacts,
  now: number,
  alsoOffered: boolean,
): boolean => {
  const job = state.jobs.get(build.id)!;
  return (
    build.status === "queued" &&
    job.notBefore <= now &&
    !job.releasedBy.includes(agent.id) &&
    !(job.passedOver?.agentId === agent.id && job.passedOver.until !== null) &&
    suits(agent, job) &&
    roomFor(state, build, job, alsoOffered)
  );
};

/** The build that is this agent's turn, found by looking at every one. */
export const firstEligible = (state: PoolState, agent: AgentFacts, now: number): BuildFacts | undefined => {
  let first: BuildFacts | undefined;
  for (const build of state.builds.values()) {
    const isBefore =
      !first || build.priority > first.priority || (build.priority === first.priority && build.seq < first.seq);
    if (isBefore && isEligible(state, agent, build, now, false)) first = build;
  }
  return first;
};

/** What must hold of the state at rest, after any event. `latest` is as late as it has ever been. */
export const inspect = (state: PoolState, disk: Disk, now: number, latest: number, pushes: readonly Push[]): void => {
  const holders = new Set<string>();
  const live = new Map<string, number>();
  const due = nextDue(state, { agentMs: AGENT_MS });
  for (const [id, job] of state.jobs) {
    const build = state.builds.get(id)!;
    const { lease } = job;
    must(1, (build.status === "queued") === (lease === null), `a lease of a build that is ${build.status}`);
    const until = job.passedOver?.until ?? null;
    if (!lease && until !== null) must(17, due !== null && due <= until, "no alarm for a build that waits for another");
    if (!lease) continue;
    must(1, !holders.has(lease.agentId), "two builds in one agent's hands");
    holders.add(lease.agentId);
    must(1, state.index.holding.get(lease.agentId) === id, "the index of holders is wrong");
    must(15, state.agents.has(lease.agentId), "a lease of an agent that is gone");
    must(17, due !== null && due <= lease.expiresAt, "no alarm for a lease's end");
    if (lease.startedAt !== null && !lease.stop) {
      must(17, due <= lease.startedAt + job.timeoutSeconds * 1000, "no alarm for a timeout");
    }
    if (build.pipelineId) live.set(build.pipelineId, (live.get(build.pipelineId) ?? 0) + 1);
  }
  must(1, state.index.holding.size === holders.size, "somebody holds what nobody leased");
  for (const [id, job] of state.jobs) {
    const { pipelineId, status } = state.builds.get(id)!;
    if (status !== "queued" && job.maxParallel !== null)
      must(12, live.get(pipelineId!)! <= job.maxParallel, "more builds than maxParallel");
  }
  const isSame = state.dirty.size === disk.rows.dirty.size && state.pendingEntries === disk.rows.entries.size;
  must(16, isSame, "memory and disk differ on the outbox");
  must(17, (disk.rows.dirty.size === 0 && disk.rows.entries.size === 0) || due !== null, "no alarm for the outbox");
  inspectWaiting(state, now, latest, pushes);
};

/** One waiter is woken for each build that one could take, and none is left sleeping. */
const inspectWaiting = (state: PoolState, now: number, latest: number, pushes: readonly Push[]): void => {
  const looks = pushes.filter(({ hint }) => hint.type === "look");
  must(17, new Set(looks.map(({ hint }) => hint.buildId)).size === looks.length, "two were woken for one build");
  for (const { at } of state.offers.values()) must(17, now < at + OFFER_MS, "a hint nobody followed still stands");
  if (state.waiters.size === 0) return;
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
        state.offers.has(build.id) || !isEligible(state, agent, build, now, true),
        "a waiter sleeps while its build waits",
      );
    }
  }
};
