import { Agenda } from "./agenda.ts";
import type { AgentFacts, BuildFacts, Change, JobFacts, Offer, Records, Waiter } from "./facts.ts";
import { type Lane, Queue } from "./queue.ts";

/** Milliseconds after a change before it is written to D1, so that changes close together become one. */
export const FLUSH_DELAY_MS = 1_000;

/**
 * Agents and live builds of one organization, and the indices that answer without looking at all of them.
 * Only `apply` changes it, and only by what a decision says.
 */
export interface PoolState {
  readonly records: Records;
  orgId: string | null;
  /** The highest fence ever granted. */
  fence: number;
  seq: number;
  readonly agents: Map<string, AgentFacts>;
  readonly builds: Map<string, BuildFacts>;
  readonly jobs: Map<string, JobFacts>;
  /** Signs of life since they were last written down. */
  readonly heard: Map<string, number>;
  readonly waiting: Map<string, Waiter>;
  /** Outstanding hints by build, oldest first. */
  readonly offers: Map<string, Offer>;
  /** Builds that D1 does not know as they are now. */
  readonly dirty: Set<string>;
  /** When the next attempt to write to D1 is due, and how many failed in a row. */
  flush: { at: number | null; failures: number };

  readonly queue: Queue;
  readonly agenda: Agenda;
  readonly agentByToken: Map<string, string>;
  /** The build an agent holds a lease on. */
  readonly holding: Map<string, string>;
  /** The build an agent was told to look for. */
  readonly offered: Map<string, string>;
  /** Live builds by pipeline. */
  readonly live: Map<string, number>;
  /** What each agent can do, as a text that agents alike have in common. */
  readonly skills: Map<string, string>;
  /** Waiters that could take a build, by what they can do, the longest waiting first. */
  readonly idle: Map<string, Set<string>>;
  readonly placed: Map<string, Placed>;
}

/** Where a build stands in the indices. */
interface Placed {
  lane: Lane | null;
  holder: string | null;
  pipelineId: string | null;
}

export const emptyState = (records: Records): PoolState => ({
  records,
  orgId: null,
  fence: 0,
  seq: records.lastSeq(),
  agents: new Map(),
  builds: new Map(),
  jobs: new Map(),
  heard: new Map(),
  waiting: new Map(),
  offers: new Map(),
  dirty: new Set(),
  flush: { at: null, failures: 0 },
  queue: new Queue(),
  agenda: new Agenda(),
  agentByToken: new Map(),
  holding: new Map(),
  offered: new Map(),
  live: new Map(),
  skills: new Map(),
  idle: new Map(),
  placed: new Map(),
});

const skillsOf = (agent: AgentFacts): string =>
  [
    agent.platform,
    Number(agent.canBuildIOS),
    Number(agent.canBuildAndroid),
    Number(agent.canBuildWeb),
    ...[...agent.labels].sort(),
  ].join(" ");

export const isTerminal = ({ status }: BuildFacts): boolean =>
  status === "succeeded" || status === "failed" || status === "canceled";

/** Brings the state to where the changes lead. */
export const apply = (state: PoolState, changes: readonly Change[]): void => {
  const builds = new Set<string>();
  const agents = new Set<string>();
  for (const change of changes) note(state, change, builds, agents);
  for (const id of builds) placeBuild(state, id, agents);
  for (const id of agents) placeAgent(state, id);
};

const note = (state: PoolState, change: Change, builds: Set<string>, agents: Set<string>): void => {
  switch (change.kind) {
    case "org":
      state.orgId = change.orgId;
      return;
    case "fence":
      state.fence = change.fence;
      return;
    case "build":
      state.builds.set(change.build.id, change.build);
      state.seq = Math.max(state.seq, change.build.seq);
      builds.add(change.build.id);
      return;
    case "job":
      state.jobs.set(change.job.buildId, change.job);
      builds.add(change.job.buildId);
      return;
    case "agent": {
      leaveIdle(state, change.agent.id);
      state.agents.set(change.agent.id, change.agent);
      state.skills.set(change.agent.id, skillsOf(change.agent));
      state.agentByToken.set(change.agent.tokenHash, change.agent.id);
      agents.add(change.agent.id);
      return;
    }
    case "agent-gone":
      forgetAgent(state, change.agentId);
      return;
    case "dirty":
      state.dirty.add(change.buildId);
      state.flush.at ??= change.at + FLUSH_DELAY_MS;
      return;
    case "audit":
      state.flush.at ??= change.entry.at + FLUSH_DELAY_MS;
      return;
    case "close":
      state.flush.at ??= change.at + FLUSH_DELAY_MS;
      return;
    case "clean":
      state.dirty.delete(change.buildId);
      return;
    case "flush":
      state.flush = { at: change.at, failures: change.failures };
      return;
    case "heard":
      state.heard.set(change.agentId, change.at);
      return;
    case "waiter":
      if (change.waiter) state.waiting.set(change.agentId, change.waiter);
      else state.waiting.delete(change.agentId);
      agents.add(change.agentId);
      return;
    case "offer":
      setOffer(state, change.buildId, change.offer, agents);
      return;
  }
};

const setOffer = (state: PoolState, buildId: string, offer: Offer | null, agents: Set<string>): void => {
  const before = state.offers.get(buildId);
  if (before) {
    state.offers.delete(buildId);
    state.offered.delete(before.agentId);
    agents.add(before.agentId);
  }
  if (!offer) return;
  state.offers.set(buildId, offer);
  state.offered.set(offer.agentId, buildId);
  agents.add(offer.agentId);
};

const placeBuild = (state: PoolState, id: string, agents: Set<string>): void => {
  const build = state.builds.get(id)!;
  const job = state.jobs.get(id);
  unplace(state, build, agents);
  if (!job || isTerminal(build)) {
    state.builds.delete(id);
    state.jobs.delete(id);
    setOffer(state, id, null, agents);
    return;
  }
  const isQueued = build.status === "queued";
  if (!isQueued) setOffer(state, id, null, agents);
  const holder = job.lease?.agentId ?? null;
  const lane = isQueued ? state.queue.add(build, job) : null;
  state.placed.set(id, { lane, holder, pipelineId: isQueued ? null : build.pipelineId });
  if (holder) {
    state.holding.set(holder, id);
    agents.add(holder);
  }
  if (!isQueued && build.pipelineId) state.live.set(build.pipelineId, (state.live.get(build.pipelineId) ?? 0) + 1);
  const due = leaseDue(job);
  if (due !== null) state.agenda.note(`lease:${id}`, due);
  if (isQueued && job.notBefore > 0) state.agenda.note(`wait:${id}`, job.notBefore);
};

const unplace = (state: PoolState, build: BuildFacts, agents: Set<string>): void => {
  const before = state.placed.get(build.id);
  if (!before) return;
  if (before.lane) state.queue.remove(before.lane, build);
  if (before.holder && state.holding.get(before.holder) === build.id) {
    state.holding.delete(before.holder);
    agents.add(before.holder);
  }
  if (before.pipelineId) state.live.set(before.pipelineId, state.live.get(before.pipelineId)! - 1);
  state.placed.delete(build.id);
};

/** When a lease asks for attention: it ends, or its build has taken too long. */
export const leaseDue = ({ lease, timeoutSeconds }: JobFacts): number | null => {
  if (!lease) return null;
  if (lease.startedAt === null || lease.stop) return lease.expiresAt;
  return Math.min(lease.expiresAt, lease.startedAt + timeoutSeconds * 1000);
};

const leaveIdle = (state: PoolState, id: string): void => {
  const skills = state.skills.get(id) ?? "";
  const alike = state.idle.get(skills);
  if (alike?.delete(id) && alike.size === 0) state.idle.delete(skills);
};

const placeAgent = (state: PoolState, id: string): void => {
  const agent = state.agents.get(id);
  if (!agent) return;
  leaveIdle(state, id);
  if (agent.spentAt !== null) state.agenda.note(`agent:${id}`, agent.spentAt);
  const isFree = !state.holding.has(id) && !state.offered.has(id) && !agent.isDraining && agent.spentAt === null;
  if (!isFree || !state.waiting.has(id)) return;
  const skills = state.skills.get(id)!;
  const alike = state.idle.get(skills);
  if (alike) alike.add(id);
  else state.idle.set(skills, new Set([id]));
};

const forgetAgent = (state: PoolState, id: string): void => {
  const agent = state.agents.get(id);
  if (!agent) return;
  leaveIdle(state, id);
  const offered = state.offered.get(id);
  if (offered) state.offers.delete(offered);
  state.offered.delete(id);
  state.agents.delete(id);
  state.skills.delete(id);
  state.agentByToken.delete(agent.tokenHash);
  state.heard.delete(id);
  state.waiting.delete(id);
};
