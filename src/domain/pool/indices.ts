import { isEnded, isQueued, phaseOf } from "../../protocol/build-states.ts";
import { leaseDue, offersResumeAt, retirementAt, stopDue } from "./deadlines.ts";
import type { AgentFacts, BuildFacts, JobFacts, Offer } from "./facts.ts";
import { OFFER_MS } from "./rules.ts";
import type { PoolState, Position } from "./state.ts";

/* Keeps the indices equal to builds, jobs, agents, waiters and offers. `agents` collects the agents to index again. */

const count = (counts: Map<string, number>, key: string | null, by: 1 | -1): void => {
  if (key === null) return;
  const sum = (counts.get(key) ?? 0) + by;
  if (sum === 0) counts.delete(key);
  else counts.set(key, sum);
};

/** The build may fit a waiting agent that it did not fit before. */
const markUnmatched = (state: PoolState, buildId: string): void => {
  const lane = state.index.positions.get(buildId)?.lane;
  if (lane) state.index.unmatched.lanes.add(lane);
};

/** The pipeline has room for one more build again. */
const markPipelineUnmatched = (state: PoolState, pipelineId: string | null): void => {
  if (pipelineId === null) return;
  for (const lane of state.queue.lanesOf(pipelineId)) {
    if (lane.maxParallel !== null) state.index.unmatched.lanes.add(lane);
  }
};

export const setOffer = (state: PoolState, buildId: string, offer: Offer | null, agents: Set<string>): void => {
  const { offered, offeredByPipeline, offerDeadlines } = state.index;
  const pipelineId = state.builds.get(buildId)?.pipelineId ?? null;
  const before = state.offers.get(buildId);
  if (before) {
    state.offers.delete(buildId);
    offered.delete(before.agentId);
    offerDeadlines.remove(buildId);
    agents.add(before.agentId);
    count(offeredByPipeline, pipelineId, -1);
    markUnmatched(state, buildId);
    markPipelineUnmatched(state, pipelineId);
  }
  if (!offer) return;
  state.offers.set(buildId, offer);
  offered.set(offer.agentId, buildId);
  offerDeadlines.schedule(buildId, offer.at + OFFER_MS);
  agents.add(offer.agentId);
  count(offeredByPipeline, pipelineId, 1);
};

export const indexBuild = (state: PoolState, id: string, agents: Set<string>): void => {
  const build = state.builds.get(id)!;
  const job = state.jobs.get(id);
  const before = state.index.positions.get(id);
  const hasEnded = !job || isEnded(build.status);
  if (!isQueued(build.status)) setOffer(state, id, null, agents);
  if (before?.lane) state.queue.remove(before.lane, build);
  const after = hasEnded ? null : positionOf(state, build, job);
  if (after) state.index.positions.set(id, after);
  else state.index.positions.delete(id);
  moveHolder(state, id, before?.holder ?? null, after?.holder ?? null, agents);
  moveLeased(state, before?.leasedIn ?? null, after?.leasedIn ?? null);
  state.runValueCharacters += (after?.inputBytes ?? 0) - (before?.inputBytes ?? 0);
  if (!job?.lease) state.stopsTold.delete(id);
  if (hasEnded) {
    state.builds.delete(id);
    state.jobs.delete(id);
    return;
  }
  if (after?.lane) markUnmatched(state, id);
  const due = leaseDue(job);
  if (due !== null) state.deadlines.lease.schedule(id, due);
  scheduleStop(state, id);
  if (after?.lane && job.notBefore > 0) state.deadlines.delay.schedule(id, job.notBefore);
  const until = job.passedOver?.until ?? null;
  if (after?.lane && until !== null) state.deadlines.otherAgent.schedule(id, until);
};

const positionOf = (state: PoolState, build: BuildFacts, job: JobFacts): Position | null => {
  const inputBytes = job.inputBytes ?? 0;
  switch (phaseOf(build.status)) {
    case "queued":
      return { lane: state.queue.add(build, job), holder: null, leasedIn: null, inputBytes };
    case "leased":
      return { lane: null, holder: job.lease?.agentId ?? null, leasedIn: build.pipelineId, inputBytes };
    case "ended":
      return null;
  }
};

const moveHolder = (
  state: PoolState,
  id: string,
  from: string | null,
  to: string | null,
  agents: Set<string>,
): void => {
  if (from === to) return;
  const { holding } = state.index;
  if (from !== null && holding.get(from) === id) holding.delete(from);
  if (to !== null) holding.set(to, id);
  for (const agentId of [from, to]) if (agentId !== null) agents.add(agentId);
};

const moveLeased = (state: PoolState, from: string | null, to: string | null): void => {
  if (from === to) return;
  count(state.index.leasedByPipeline, from, -1);
  count(state.index.leasedByPipeline, to, 1);
  markPipelineUnmatched(state, from);
};

const skillsOf = (agent: AgentFacts): string =>
  [
    agent.platform,
    Number(agent.canBuildIOS),
    Number(agent.canBuildAndroid),
    Number(agent.canBuildWeb),
    ...[...agent.labels].sort(),
  ].join(" ");

export const setAgent = (state: PoolState, agent: AgentFacts): void => {
  const { index } = state;
  leaveIdle(state, agent.id);
  state.agents.set(agent.id, agent);
  index.skills.set(agent.id, skillsOf(agent));
  index.agentByToken.set(agent.tokenHash, agent.id);
  index.contacts.schedule(agent.id, agent.heardAt);
};

/** Schedules when an agent that ignored offers gets offers again. */
export const scheduleRetry = (state: PoolState, agentId: string): void => {
  const at = offersResumeAt(state, agentId);
  if (at !== null) state.deadlines.offersResume.schedule(agentId, at);
};

/** Schedules when the agent of a build is told again to stop it. */
export const scheduleStop = (state: PoolState, buildId: string): void => {
  const at = stopDue(state, buildId);
  if (at !== null) state.deadlines.stop.schedule(buildId, at);
};

/** Files the agent under its skills if it can take an offer. */
export const indexAgent = (state: PoolState, id: string): void => {
  const agent = state.agents.get(id);
  if (!agent) return;
  const { index } = state;
  leaveIdle(state, id);
  const retirement = retirementAt(state, id);
  if (retirement !== null) state.deadlines.retirement.schedule(id, retirement);
  scheduleStop(state, index.holding.get(id) ?? "");
  const mayTakeOffer = !index.holding.has(id) && !index.offered.has(id) && !agent.isDraining && agent.spentAt === null;
  if (!mayTakeOffer || !state.waiters.has(id)) return;
  const skills = index.skills.get(id)!;
  const waiters = index.idleWaiters.get(skills) ?? new Set();
  index.idleWaiters.set(skills, waiters.add(id));
  index.unmatched.agents.add(id);
};

const leaveIdle = ({ index }: PoolState, id: string): void => {
  const skills = index.skills.get(id) ?? "";
  const waiters = index.idleWaiters.get(skills);
  if (waiters?.delete(id) && waiters.size === 0) index.idleWaiters.delete(skills);
};

export const forgetAgent = (state: PoolState, id: string): void => {
  const agent = state.agents.get(id);
  if (!agent) return;
  const { index } = state;
  leaveIdle(state, id);
  const buildId = index.offered.get(id);
  if (buildId !== undefined) setOffer(state, buildId, null, new Set());
  state.agents.delete(id);
  state.lastContacts.delete(id);
  state.waiters.delete(id);
  index.skills.delete(id);
  index.unmatched.agents.delete(id);
  index.agentByToken.delete(agent.tokenHash);
  index.contacts.remove(id);
};
