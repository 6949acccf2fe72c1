import { isEnded } from "../../protocol/build-states.ts";
import { isGroup } from "../commands/match.ts";
import type { AgentFacts, Offer } from "./agent-facts.ts";
import { buildDue, leaseDue, offersResumeAt, retirementAt, stopDue } from "./deadlines.ts";
import { findEntry } from "./decision.ts";
import type { BuildFacts, JobFacts } from "./facts.ts";
import type { Lane } from "./queue.ts";
import { OFFER_MS } from "./rules.ts";
import { type Semaphore, semaphoresOfBuild, semaphoresOfJob } from "./semaphores.ts";
import { graphOf, type IndexedJob, type PoolState } from "./state.ts";
import { awaitsApproval } from "./trust.ts";

/*
 * Keeps the indices consistent with builds, jobs, agents, waiters and offers. `agents` collects the agents to reindex.
 */

/** Marks a job that may now fit a waiting agent. */
const markUnmatched = (state: PoolState, jobId: string): void => {
  const lane = state.index.positions.get(jobId)?.inQueue?.lane;
  if (lane) state.index.unmatched.lanes.add(lane);
};

/** Marks semaphores that may now have room for another holder. */
const markSemaphoresUnmatched = (state: PoolState, semaphores: readonly Pick<Semaphore, "key">[]): void => {
  for (const { key } of semaphores) {
    for (const lane of state.queue.lanesIn(key)) {
      if (lane.semaphores.some((semaphore) => semaphore.key === key && semaphore.limit !== null))
        state.index.unmatched.lanes.add(lane);
    }
  }
};

/**
 * Returns the lanes with other jobs of the build that now holds the semaphore. These jobs need no semaphore of their
 * own.
 */
export const lanesWithin = ({ queue }: PoolState, { key, holder }: Pick<Semaphore, "key" | "holder">): Lane[] =>
  [...queue.lanesIn(key)].filter(({ semaphores }) =>
    semaphores.some((semaphore) => semaphore.key === key && semaphore.holder === holder),
  );

export const setOffer = (state: PoolState, jobId: string, offer: Offer | null, agents: Set<string>): void => {
  const { offered, offerDeadlines, semaphores } = state.index;
  const before = state.offers.get(jobId);
  if (!before && !offer) return;
  const job = state.jobs.get(jobId);
  const build = job && state.builds.get(job.buildId);
  const needed = build ? semaphoresOfJob(state, { build, job }) : [];
  if (before) {
    state.offers.delete(jobId);
    offered.delete(before.agentId);
    offerDeadlines.remove(jobId);
    agents.add(before.agentId);
    for (const semaphore of needed) semaphores.take(semaphore, -1);
    markUnmatched(state, jobId);
    markSemaphoresUnmatched(state, needed);
  }
  if (!offer) return;
  state.offers.set(jobId, offer);
  offered.set(offer.agentId, jobId);
  offerDeadlines.schedule(jobId, offer.at + OFFER_MS);
  agents.add(offer.agentId);
  for (const semaphore of needed) semaphores.take(semaphore, 1);
};

export const indexJob = (state: PoolState, id: string, agents: Set<string>): void => {
  const { index, deadlines } = state;
  const job = state.jobs.get(id);
  const before = index.positions.get(id);
  if (job?.status !== "queued") setOffer(state, id, null, agents);
  if (before?.inQueue) leaveQueue(state, before.inQueue);
  const after = job ? findPosition(state, job, before?.semaphores ?? []) : null;
  if (after) index.positions.set(id, after);
  else index.positions.delete(id);
  moveHolder(state, id, before?.holder ?? null, after?.holder ?? null, agents);
  moveSemaphores(state, before?.semaphores ?? [], after?.semaphores ?? []);
  index.waitingJobs += Number(after?.isWaiting ?? false) - Number(before?.isWaiting ?? false);
  if (!job?.lease) state.stopNotices.delete(id);
  if (!job || !after) return;
  if (job.gate && !job.gate.decision) deadlines.gate.schedule(id, job.gate.until);
  const due = leaseDue(job);
  if (due !== null) deadlines.lease.schedule(id, due);
  scheduleStop(state, id);
  if (!after.inQueue) return;
  markUnmatched(state, id);
  if (job.notBefore > 0) deadlines.delay.schedule(id, job.notBefore);
  const until = job.passedOver?.until ?? null;
  if (until !== null) deadlines.otherAgent.schedule(id, until);
};

/** Returns the job's place in the indices; null if the job has ended. */
const findPosition = (state: PoolState, job: JobFacts, semaphoresBefore: readonly Semaphore[]): IndexedJob | null => {
  const nowhere: IndexedJob = { inQueue: null, holder: null, semaphores: [], isWaiting: false };
  if (job.status === "waiting") return { ...nowhere, isWaiting: true };
  const entry = findEntry(state, job.id);
  if (!entry) return null;
  if (job.status !== "queued") {
    const semaphores = semaphoresBefore.length > 0 ? semaphoresBefore : semaphoresOfJob(state, entry);
    return { ...nowhere, holder: job.lease?.agentId ?? null, semaphores: semaphores };
  }
  return awaitsApproval(entry.build)
    ? nowhere
    : { ...nowhere, inQueue: state.queue.add(entry, semaphoresOfJob(state, entry)) };
};

/** Takes a job out of the queue. The job's concurrency group may then have a larger limit. */
const leaveQueue = (state: PoolState, place: NonNullable<IndexedJob["inQueue"]>): void => {
  const { lane } = place;
  state.queue.remove(place);
  if (lane.jobs.length === 0) state.index.unmatched.lanes.delete(lane);
  markSemaphoresUnmatched(
    state,
    lane.semaphores.filter(({ key }) => isGroup(key)),
  );
};

/** Indexes a changed build. Removes a build that has ended, together with its jobs. */
export const indexBuild = (state: PoolState, id: string, agents: Set<string>): void => {
  const build = state.builds.get(id)!;
  const hasEnded = isEnded(build.status);
  const before = state.index.places.get(id);
  const semaphores =
    build.holdsPlace && !hasEnded ? (before?.semaphores.length ? before.semaphores : semaphoresOfBuild(build)) : [];
  moveSemaphores(state, before?.semaphores ?? [], semaphores);
  state.runValueCharacters += (hasEnded ? 0 : build.inputBytes) - (before?.inputBytes ?? 0);
  if (hasEnded) {
    forgetBuild(state, build, agents);
    return;
  }
  state.index.places.set(id, { semaphores: semaphores, inputBytes: build.inputBytes });
  const due = buildDue(build);
  if (due !== null) state.deadlines.build.schedule(id, due);
};

const forgetBuild = (state: PoolState, { id }: BuildFacts, agents: Set<string>): void => {
  const jobs = graphOf(state, id).jobs.map((job) => job.id);
  for (const jobId of jobs) {
    setOffer(state, jobId, null, agents);
    state.jobs.delete(jobId);
    indexJob(state, jobId, agents);
  }
  state.builds.delete(id);
  state.graphs.delete(id);
  state.unsettled.delete(id);
  state.index.places.delete(id);
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

const moveSemaphores = (state: PoolState, from: readonly Semaphore[], to: readonly Semaphore[]): void => {
  if (from === to) return;
  for (const semaphore of from) state.index.semaphores.countLease(semaphore, -1);
  for (const semaphore of to) state.index.semaphores.countLease(semaphore, 1);
  markSemaphoresUnmatched(state, from);
  for (const semaphore of to) for (const lane of lanesWithin(state, semaphore)) state.index.unmatched.lanes.add(lane);
};

const toSkills = (agent: AgentFacts): string =>
  [
    agent.platform,
    Number(agent.canBuildIOS),
    Number(agent.canBuildAndroid),
    Number(agent.canBuildWeb),
    ...[...(agent.features ?? [])].sort(),
    ...(agent.xcodes ?? []).map((version) => `xcode-${version}`).sort(),
    "",
    ...[...agent.labels].sort(),
  ].join(" ");

export const setAgent = (state: PoolState, agent: AgentFacts): void => {
  const { index } = state;
  leaveIdle(state, agent.id);
  state.agents.set(agent.id, agent);
  index.skills.set(agent.id, toSkills(agent));
  index.agentByToken.set(agent.tokenHash, agent.id);
  index.contacts.schedule(agent.id, agent.heardAt);
};

/** Schedules the time when an agent that ignored offers gets offers again. */
export const scheduleRetry = (state: PoolState, agentId: string): void => {
  const at = offersResumeAt(state, agentId);
  if (at !== null) state.deadlines.offersResume.schedule(agentId, at);
};

/** Schedules the time when the pool notifies a job's agent again to stop the job. */
export const scheduleStop = (state: PoolState, jobId: string): void => {
  const at = stopDue(state, jobId);
  if (at !== null) state.deadlines.stop.schedule(jobId, at);
};

/** Files the agent under its skills if it can accept an offer. */
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
  const jobId = index.offered.get(id);
  if (jobId !== undefined) setOffer(state, jobId, null, new Set());
  state.agents.delete(id);
  state.lastContacts.delete(id);
  state.waiters.delete(id);
  index.skills.delete(id);
  index.unmatched.agents.delete(id);
  index.agentByToken.delete(agent.tokenHash);
  index.contacts.remove(id);
};
