import { isEnded, isQueued, phaseOf } from "../../protocol/build-states.ts";
import { leaseDue, offersResumeAt, retirementAt, severalDue, stopDue } from "./deadlines.ts";
import type { AgentFacts, BuildFacts, JobFacts, Offer } from "./facts.ts";
import { heldUntil, isHeld } from "./held.ts";
import { isGroup } from "./match.ts";
import type { Lane } from "./queue.ts";
import type { Room } from "./rooms.ts";
import { roomsOfBuild } from "./rooms-of.ts";
import { OFFER_MS } from "./rules.ts";
import type { PoolState, Position } from "./state.ts";

/* Keeps the indices equal to builds, jobs, agents, waiters and offers. `agents` collects the agents to index again. */

/** The build may fit a waiting agent that it did not fit before. */
const markUnmatched = (state: PoolState, buildId: string): void => {
  const lane = state.index.positions.get(buildId)?.lane;
  if (lane) state.index.unmatched.lanes.add(lane);
};

/** The rooms may have room for one more again. */
const markRoomsUnmatched = (state: PoolState, rooms: readonly Pick<Room, "key">[]): void => {
  for (const { key } of rooms) {
    for (const lane of state.queue.lanesIn(key)) {
      if (lane.rooms.some((room) => room.key === key && room.limit !== null)) state.index.unmatched.lanes.add(lane);
    }
  }
};

/** Lanes of other jobs of the build that holds the room now: they need no room of their own. */
export const lanesWithin = ({ queue }: PoolState, { key, holder }: Pick<Room, "key" | "holder">): Lane[] =>
  [...queue.lanesIn(key)].filter(({ rooms }) => rooms.some((room) => room.key === key && room.holder === holder));

export const setOffer = (state: PoolState, buildId: string, offer: Offer | null, agents: Set<string>): void => {
  const { offered, offerDeadlines, rooms } = state.index;
  const before = state.offers.get(buildId);
  if (!before && !offer) return;
  const build = state.builds.get(buildId);
  const needed = build ? roomsOfBuild(state, build) : [];
  if (before) {
    state.offers.delete(buildId);
    offered.delete(before.agentId);
    offerDeadlines.remove(buildId);
    agents.add(before.agentId);
    for (const room of needed) rooms.take(room, -1);
    markUnmatched(state, buildId);
    markRoomsUnmatched(state, needed);
  }
  if (!offer) return;
  state.offers.set(buildId, offer);
  offered.set(offer.agentId, buildId);
  offerDeadlines.schedule(buildId, offer.at + OFFER_MS);
  agents.add(offer.agentId);
  for (const room of needed) rooms.take(room, 1);
};

export const indexBuild = (state: PoolState, id: string, agents: Set<string>): void => {
  const build = state.builds.get(id)!;
  const job = state.jobs.get(id);
  const before = state.index.positions.get(id);
  const hasEnded = !job || isEnded(build.status);
  if (!isQueued(build.status)) setOffer(state, id, null, agents);
  if (before?.lane) leaveLane(state, before.lane, build);
  const after = hasEnded ? null : positionOf(state, build, job, before?.held ?? []);
  if (after) state.index.positions.set(id, after);
  else state.index.positions.delete(id);
  moveHolder(state, id, before?.holder ?? null, after?.holder ?? null, agents);
  moveRooms(state, before?.held ?? [], after?.held ?? []);
  state.runValueCharacters += (after?.inputBytes ?? 0) - (before?.inputBytes ?? 0);
  if (!job?.lease) state.stopsTold.delete(id);
  if (hasEnded) {
    state.builds.delete(id);
    state.jobs.delete(id);
    if (build.several) forgetGraph(state, id, agents);
    return;
  }
  if (build.several) state.deadlines.build.schedule(id, severalDue(build.several));
  const heldUntilAt = heldUntil(build);
  if (heldUntilAt !== null) state.deadlines.build.schedule(id, heldUntilAt);
  if (after?.lane) markUnmatched(state, id);
  const due = leaseDue(job);
  if (due !== null) state.deadlines.lease.schedule(id, due);
  scheduleStop(state, id);
  if (after?.lane && job.notBefore > 0) state.deadlines.delay.schedule(id, job.notBefore);
  const until = job.passedOver?.until ?? null;
  if (after?.lane && until !== null) state.deadlines.otherAgent.schedule(id, until);
};

const positionOf = (
  state: PoolState,
  build: BuildFacts,
  job: JobFacts,
  heldBefore: readonly Room[],
): Position | null => {
  const inputBytes = job.inputBytes ?? 0;
  const held = () => (heldBefore.length > 0 ? heldBefore : roomsOfBuild(state, build));
  if (build.several) {
    const holder = job.lease?.agentId ?? null;
    return { lane: null, holder, held: build.several.holdsPlace ? held() : [], inputBytes };
  }
  switch (phaseOf(build.status)) {
    case "queued":
      if (isHeld(build)) return { lane: null, holder: null, held: [], inputBytes };
      return { lane: state.queue.add(build, job, roomsOfBuild(state, build)), holder: null, held: [], inputBytes };
    case "leased":
      return { lane: null, holder: job.lease?.agentId ?? null, held: held(), inputBytes };
    case "ended":
      return null;
  }
};

/** A concurrency group that a job leaves may have a larger limit from now on. */
const leaveLane = (state: PoolState, lane: Lane, build: BuildFacts): void => {
  state.queue.remove(lane, build);
  if (lane.builds.length === 0) state.index.unmatched.lanes.delete(lane);
  markRoomsUnmatched(
    state,
    lane.rooms.filter(({ key }) => isGroup(key)),
  );
};

/** A build of several has ended: nothing of it is left in the queue, whatever ended it. */
const forgetGraph = (state: PoolState, id: string, agents: Set<string>): void => {
  const { graphs, index, unsettled, builds, jobs } = state;
  for (const [jobId, { end }] of graphs.get(id)?.nodes ?? []) {
    const left = builds.get(jobId);
    if (left) builds.set(jobId, { ...left, status: "canceled" });
    if (left && jobs.has(jobId)) indexBuild(state, jobId, agents);
    index.buildOfJob.delete(jobId);
    if (!end) index.openJobs--;
  }
  graphs.delete(id);
  unsettled.delete(id);
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

const moveRooms = (state: PoolState, from: readonly Room[], to: readonly Room[]): void => {
  if (from === to) return;
  for (const room of from) state.index.rooms.hold(room, -1);
  for (const room of to) state.index.rooms.hold(room, 1);
  markRoomsUnmatched(state, from);
  for (const room of to) for (const lane of lanesWithin(state, room)) state.index.unmatched.lanes.add(lane);
};

const skillsOf = (agent: AgentFacts): string =>
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
