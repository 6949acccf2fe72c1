import { isEnded } from "../../protocol/build-states.ts";
import { SECOND_MS } from "../../protocol/units.ts";
import { countEnd, laterCount, noEvents, toDayCount } from "./counts.ts";
import {
  BUILD_CHANNELS,
  type BuildFacts,
  type Change,
  type Channel,
  type Deletion,
  type JobFacts,
  type MemoryChange,
} from "./facts.ts";
import {
  forgetAgent,
  indexAgent,
  indexBuild,
  indexJob,
  scheduleRetry,
  scheduleStop,
  setAgent,
  setOffer,
} from "./indices.ts";
import { jobsOf, type PoolState, unsettle } from "./state.ts";
import { awaitsApproval } from "./trust.ts";

/** Milliseconds between a change and its write to D1. Changes that follow each other closely become one write. */
export const FLUSH_DELAY_MS = SECOND_MS;
/**
 * The delay in place of `FLUSH_DELAY_MS` if nobody waits for the write (a hand-out), or if the object writes at once
 * anyway (a build).
 */
const LATE_FLUSH_MS = 30 * SECOND_MS;

/** Ids that a list of changes touched. Each id is indexed once, at the end. */
interface Touched {
  builds: Set<string>;
  jobs: Set<string>;
  agents: Set<string>;
}

/** Applies the changes to the state and its indices. */
export const apply = (state: PoolState, changes: readonly Change[]): void => {
  const touched: Touched = { builds: new Set(), jobs: new Set(), agents: new Set() };
  for (const change of changes) applyChange(state, change, touched);
  for (const id of touched.jobs) indexJob(state, id, touched.agents);
  for (const id of touched.builds) indexBuild(state, id, touched.agents);
  for (const id of touched.agents) indexAgent(state, id);
};

const applyChange = (state: PoolState, change: Change, touched: Touched): void => {
  switch (change.kind) {
    case "org":
      state.orgId = change.orgId;
      return;
    case "fence":
      state.storedFence = change.fence;
      reachFence(state, change.fence);
      return;
    case "build":
      applyBuild(state, change.build, touched);
      return;
    case "job":
      applyJob(state, change.job, touched);
      return;
    case "agent":
      setAgent(state, change.agent);
      scheduleRetry(state, change.agent.id);
      touched.agents.add(change.agent.id);
      return;
    case "agent-removed":
      forgetAgent(state, change.agentId);
      return;
    case "revoked":
      state.revoked.set(change.tokenId, change.at);
      reach(state, change.at);
      attemptBy(state, "lists", change.at + FLUSH_DELAY_MS);
      return;
    case "untold":
      reach(state, change.at);
      markDue(state, { ...change, channel: "lists" });
      return;
    case "audit":
      if (!change.variableIds) reach(state, change.entry.at);
      attemptBy(state, "lists", change.entry.at + (mayWait(change) ? LATE_FLUSH_MS : FLUSH_DELAY_MS));
      return;
    case "close":
      attemptAtOnce(state, "logs", change.at);
      return;
    case "deleted":
      applyDeletion(state, change.deletion);
      return;
    case "deletions-done":
      for (const buildId of change.buildIds) state.outbox.deletions.due.delete(buildId);
      return;
    case "forget":
      for (const [tokenId, at] of state.revoked) if (at < change.revokedBefore) state.revoked.delete(tokenId);
      return;
    case "told":
      state.databaseSequence = change.sequence;
      state.isDatabaseSequenceStored = !change.isInMemory;
      reach(state, change.sequence);
      return;
    case "unchecked":
      state.unchecked = change.sequence;
      state.isUncheckedStored = true;
      return;
    case "compared":
      state.unchecked = null;
      state.isUncheckedStored = false;
      return;
    case "tell-again":
      state.resendAfter = change.after;
      if (change.after !== null) reach(state, change.at);
      return;
    case "graph":
      state.graphs.set(change.buildId, change.graph);
      state.jobs.delete(change.buildId);
      touched.jobs.add(change.buildId);
      unsettle(state, change.buildId);
      return;
    case "heard":
    case "entries-delivered":
    case "outputs":
    case "heads":
    case "delivery":
    case "report":
    case "inputs":
    case "number":
    case "key":
      return;
    case "day-count":
      state.dayCount = laterCount(state.dayCount, change.count);
      return;
    default:
      applyMemoryChange(state, change, touched.agents);
  }
};

/** Adds or replaces a build. Its jobs are in no queue until the build is approved. An approval reindexes them. */
const applyBuild = (state: PoolState, build: BuildFacts, touched: Touched): void => {
  const before = state.builds.get(build.id);
  if (before && isEnded(build.status)) countEnd(state.events, build.status, build.reason);
  state.builds.set(build.id, build);
  state.seq = Math.max(state.seq, build.seq);
  state.dayCount = laterCount(state.dayCount, toDayCount(build));
  reach(state, build.version);
  reachFence(state, build.plannedBy?.fence ?? 0);
  touched.builds.add(build.id);
  if (before && awaitsApproval(before) !== awaitsApproval(build))
    for (const { id } of jobsOf(state, build.id)) touched.jobs.add(id);
  unsettle(state, build.id);
};

const applyJob = (state: PoolState, job: JobFacts, touched: Touched): void => {
  if (!state.builds.has(job.buildId)) return;
  const before = state.jobs.get(job.id);
  if (before?.lease && job.status === "queued") state.events.requeues++;
  else if (before?.status === "queued" && job.status === "assigned") state.events.handOuts++;
  state.jobs.set(job.id, job);
  state.seq = Math.max(state.seq, job.seq);
  reachFence(state, job.fence);
  touched.jobs.add(job.id);
  unsettle(state, job.buildId);
};

const applyMemoryChange = (state: PoolState, change: MemoryChange, agents: Set<string>): void => {
  switch (change.kind) {
    case "attempt":
      Object.assign(state.outbox[change.channel], { at: change.at, failures: change.failures });
      return;
    case "due":
      markDue(state, change);
      return;
    case "delivered":
      markDelivered(state, change);
      return;
    case "lease-lost":
      state.events.leasesLost[change.cause]++;
      return;
    case "offer-ignored":
      state.events.offersIgnored++;
      return;
    case "events-told":
      state.events = noEvents();
      return;
    case "contact":
      state.lastContacts.set(change.agentId, change.at);
      return;
    case "waiter":
      if (change.waiter) state.waiters.set(change.agentId, change.waiter);
      else state.waiters.delete(change.agentId);
      scheduleRetry(state, change.agentId);
      agents.add(change.agentId);
      return;
    case "offer":
      setOffer(state, change.jobId, change.offer, agents);
      return;
    case "renewal":
      setDeadline(state, change.jobId, change.expiresAt);
      return;
    case "stop-told":
      state.stopNotices.set(change.jobId, change.at);
      scheduleStop(state, change.jobId);
      return;
    case "pause":
      state.pause = change.pause;
      if (change.pause?.until) state.deadlines.pause.schedule("", change.pause.until);
      return;
    case "offers-resumed":
      agents.add(change.agentId);
      return;
    case "granted":
      reachFence(state, change.fence);
      return;
    case "sequence":
      reach(state, change.sequence);
      return;
    case "unsettled":
      unsettle(state, change.buildId);
      return;
    case "loaded":
      state.unchecked ??= state.sequence;
      return;
    case "matched":
      state.index.unmatched.lanes.clear();
      state.index.unmatched.agents.clear();
      return;
    default:
      change satisfies never;
  }
};

const reach = (state: PoolState, sequence: number): void => {
  state.sequence = Math.max(state.sequence, sequence);
};

const reachFence = (state: PoolState, fence: number): void => {
  state.fence = Math.max(state.fence, fence);
};

const markDue = (state: PoolState, { channel, buildId, at }: Omit<Change & { kind: "due" }, "kind">): void => {
  const { due } = state.outbox[channel];
  if (!due.has(buildId)) due.set(buildId, at);
  attemptAtOnce(state, channel, at);
};

/**
 * Schedules a fallback attempt. The object makes an attempt at once, which may be lost with the memory. While other
 * deliveries on the channel fail, the fallback attempt is the only one.
 */
const attemptAtOnce = (state: PoolState, channel: Channel, at: number): void =>
  attemptBy(state, channel, at + (state.outbox[channel].failures > 0 ? FLUSH_DELAY_MS : LATE_FLUSH_MS));

/** Records the delivery in the build. The pool stores it when it stores the build for another reason. */
const markDelivered = ({ outbox, builds }: PoolState, change: Change & { kind: "delivered" }): void => {
  const { channel, buildId, known } = change;
  outbox[channel].due.delete(buildId);
  const build = builds.get(buildId);
  if (build) builds.set(buildId, { ...build, ...known });
};

const mayWait = ({ entry, variableIds }: Change & { kind: "audit" }): boolean =>
  variableIds !== undefined || entry.action === "build.create";

/** Records a deletion. D1 gets a later sequence, which would reveal a restore of D1 to a time before the deletion. */
const applyDeletion = (state: PoolState, { buildId, deleted, at }: Deletion): void => {
  if (deleted === "build") for (const channel of BUILD_CHANNELS) state.outbox[channel].due.delete(buildId);
  state.outbox.deletions.due.set(buildId, at);
  attemptBy(state, "deletions", at);
  reach(state, at);
  attemptBy(state, "lists", at + FLUSH_DELAY_MS);
};

/**
 * Schedules an attempt. After a failure, D1's back-off stays. An unavailable log or git host delays no other receiver.
 */
const attemptBy = ({ outbox }: PoolState, channel: Channel, at: number): void => {
  const next = outbox[channel];
  const mayHurry = channel !== "lists" || next.failures === 0;
  if (next.at === null || (mayHurry && at < next.at)) next.at = at;
};

/**
 * Sets the deadline. A deadline only moves later, and the deadline queue reads the new one when the old one has passed.
 */
const setDeadline = ({ jobs }: PoolState, jobId: string, expiresAt: number): void => {
  const job = jobs.get(jobId);
  if (job?.lease) jobs.set(jobId, { ...job, lease: { ...job.lease, expiresAt } });
};
