import { applyDiff, diff } from "../../domain/diff.ts";
import type { AgentChange } from "../../protocol/agent.ts";
import { LIMITS, withCommas } from "../../protocol/limits.ts";
import { MINUTE_MS } from "../../protocol/units.ts";
import type { AgentFacts } from "../state/agent-facts.ts";
import {
  audit,
  type Decision,
  type DecisionContext,
  decided,
  findLeasedEntry,
  later,
  refused,
  toHint,
  unknownId,
  unknownToken,
  verifiedAgent,
} from "../state/decision.ts";
import type { Change } from "../state/facts.ts";
import { POOL_LIMITS } from "../state/rules.ts";
import type { PoolState } from "../state/state.ts";
import type { Actor, ClaimRequest, NewAgent } from "./commands.ts";
import { endCanceled, loseLease } from "./lease.ts";
import { settleLease, withoutSocket } from "./wake.ts";

export const register = (state: PoolState, registration: NewAgent, context: DecisionContext): Decision<string> => {
  const { id, orgId, actor, name, registeredBy = null } = registration;
  if (state.orgId !== null && state.orgId !== orgId) return unknownId();
  if (registeredBy && state.revoked.has(registeredBy.tokenId)) return unknownToken();
  if (state.agents.has(id)) return refused("conflict", "An agent with this id already exists.");
  if (state.agents.size >= LIMITS.agents) {
    return refused("limit-reached", `There are already ${withCommas(LIMITS.agents)} agents: remove unused ones.`);
  }
  if (
    registeredBy?.kind === "registration" &&
    agentsRegisteredBy(state, registeredBy.tokenId).length >= LIMITS.registeredAgents
  ) {
    return refused(
      "limit-reached",
      `This token has registered ${withCommas(LIMITS.registeredAgents)} agents: use another token.`,
    );
  }
  const agent = newAgent(registration, context.now);
  const { platform, canBuildIOS, canBuildAndroid, canBuildWeb, labels } = agent;
  const detail = { name, platform, canBuildIOS, canBuildAndroid, canBuildWeb, labels };
  const changes: Change[] = [{ kind: "agent", agent }, ...audit(actor, "agent.register", id, detail, context)];
  if (state.orgId === null) changes.push({ kind: "org", orgId });
  return decided(id, changes);
};

/** Returns the agents that this token registered, except removed agents. */
const agentsRegisteredBy = (state: PoolState, tokenId: string): AgentFacts[] =>
  [...state.agents.values()].filter(({ registeredBy }) => registeredBy?.tokenId === tokenId);

const newAgent = (registration: NewAgent, now: number): AgentFacts => ({
  id: registration.id,
  name: registration.name,
  platform: registration.platform,
  canBuildIOS: registration.canBuildIOS,
  canBuildAndroid: registration.canBuildAndroid,
  canBuildWeb: registration.canBuildWeb,
  tokenHash: registration.tokenHash,
  registeredBy: registration.registeredBy ?? null,
  labels: registration.labels ?? [],
  version: registration.version ?? null,
  isDraining: false,
  isEphemeral: registration.isEphemeral ?? false,
  createdAt: now,
  heardAt: now,
  bootId: null,
  pastBoots: [],
  ignored: 0,
  ignoredAt: 0,
  spentAt: null,
});

export const update = (
  state: PoolState,
  { agentId, change, actor }: { agentId: string; change: AgentChange; actor: Actor },
  context: DecisionContext,
): Decision<string> => {
  const agent = state.agents.get(agentId);
  if (!agent) return unknownId();
  const changes = diff<AgentChange>(agent, change);
  if (Object.keys(changes).length === 0) return decided(agentId);
  return decided(agentId, [
    { kind: "agent", agent: applyDiff(agent, changes) },
    ...audit(actor, "agent.update", agentId, { changes }, context),
  ]);
};

/** Removes the agent. Its token becomes invalid, and another agent gets its job. */
export const remove = (
  state: PoolState,
  { agentId, actor }: { agentId: string; actor: Actor },
  context: DecisionContext,
): Decision<null> => {
  const agent = state.agents.get(agentId);
  return agent ? decided(null, removalChanges(state, agent, actor, context)) : unknownId();
};

const removalChanges = (
  state: PoolState,
  { id, name }: AgentFacts,
  actor: Actor,
  context: DecisionContext,
): Change[] => {
  const entry = findLeasedEntry(state, id);
  return [
    ...(entry ? loseLease(entry, undefined, "removed", context) : []),
    { kind: "agent-removed", agentId: id },
    ...audit(actor, "agent.remove", id, { name }, context),
  ];
};

/** The maximum number of agents that one call removes, so that it never blocks the queue. */
const REMOVE_LIMIT = 250;

/**
 * Removes the first agents of a revoked token, and rejects new ones. Callers repeat the call while any agents are left.
 */
export const removeRegistered = (
  state: PoolState,
  { tokenId, wasThere, actor }: { tokenId: string; wasThere: boolean; actor: Actor },
  context: DecisionContext,
): Decision<{ removed: string[]; left: number }> => {
  const agents = agentsRegisteredBy(state, tokenId);
  const removed = agents.slice(0, REMOVE_LIMIT);
  const isNews = (wasThere || agents.length > 0) && !state.revoked.has(tokenId);
  const revoked: Change[] = isNews ? [{ kind: "revoked", tokenId, at: later(state, context.now) }] : [];
  return decided({ removed: removed.map(({ id }) => id), left: agents.length - removed.length }, [
    ...revoked,
    ...removed.flatMap((agent) => removalChanges(state, agent, actor, context)),
  ]);
};

/** Finds the agent that a token belongs to. Only the pool knows whether an agent's token is valid. */
export const authenticate = (state: PoolState, { tokenHash }: { tokenHash: string }): Decision<{ agentId: string }> => {
  const agentId = state.index.agentByToken.get(tokenHash);
  return agentId === undefined ? unknownToken() : decided({ agentId });
};

/**
 * Records that the agent waits for offers: until `until`, or while its socket is open (null). On a new socket, notifies
 * the agent again to stop its job, because the last socket may have lost the hint.
 */
export const wait = (
  state: PoolState,
  call: ClaimRequest & { until: number | null },
  context: DecisionContext,
): Decision<null> => {
  const agent = verifiedAgent(state, call);
  if (!agent) return unknownToken();
  if (context.rules.isStale(agent, call.bootId)) return refused("conflict", "This agent has restarted since then.");
  const { agentId, until } = call;
  const isNews = agent.isEphemeral && until === null && !agent.hasSocket;
  const job = state.jobs.get(state.index.holding.get(agentId) ?? "");
  const mustStop = until === null && job?.lease?.stop && state.stopNotices.get(job.id) !== null;
  return decided(
    null,
    [
      { kind: "contact", agentId, at: context.now },
      ...(isNews ? [{ kind: "agent", agent: { ...agent, hasSocket: true } } as const] : []),
      { kind: "waiter", agentId, waiter: { until, ignored: 0, ignoredAt: 0 } },
      ...(mustStop ? [{ kind: "stop-told", jobId: job.id, at: context.now } as const] : []),
    ],
    mustStop ? [{ agentId, hint: toHint("cancel", job) }] : [],
  );
};

/**
 * Records that a socket of the agent was closed. `until` is the time until which another socket waits in a poll. It is
 * absent if there is no other socket; another agent then gets this agent's offer.
 */
export const leave = (
  state: PoolState,
  { agentId, until }: { agentId: string; until?: number },
  { now }: DecisionContext,
): Decision<null> => {
  const waiter = state.waiters.get(agentId);
  const leaseChanges = settleLease(state, agentId);
  if (!waiter) return decided(null, leaseChanges);
  const agent = waiter.until === null ? state.agents.get(agentId) : undefined;
  const offered = until === undefined ? state.index.offered.get(agentId) : undefined;
  const rest = until === undefined ? null : { ...waiter, until };
  return decided(null, [
    { kind: "contact", agentId, at: now },
    ...(agent ? [{ kind: "agent", agent: withoutSocket(agent, now) } as const] : []),
    ...leaseChanges,
    { kind: "waiter", agentId, waiter: rest },
    ...(offered ? [{ kind: "offer", jobId: offered, offer: null } as const] : []),
  ]);
};

/** The commands that only an agent sends. They show the pool that its program runs. */
export type ContactKind = "claim" | "heartbeat" | "wait";

/** Milliseconds between two stored contacts of an agent. */
const PERSIST_CONTACT_MS = MINUTE_MS;
/**
 * The share of an agent's lifetime without contact that may pass between two stored contacts if it has a socket, which
 * remembers its pings.
 */
const PERSIST_CONTACT_PART = 0.25;

/** Records that the agent is alive, whether it restarted, and what that means for its job. */
export const recordContact = (
  state: PoolState,
  call: ClaimRequest & { by: ContactKind },
  context: DecisionContext,
): Decision<null> => {
  const { now, rules } = context;
  const agent = verifiedAgent(state, call);
  if (!agent || rules.isStale(agent, call.bootId)) return decided(null);
  const isRestart = rules.isRestart(agent, call.bootId);
  const ignored = isRestart || call.by === "heartbeat" ? 0 : agent.ignored;
  const hasSocket = state.waiters.get(agent.id)?.until === null;
  const isRecent = now - agent.heardAt < (hasSocket ? context.agentMs * PERSIST_CONTACT_PART : PERSIST_CONTACT_MS);
  const isStored =
    isRestart ||
    !isEqualList(call.features ?? agent.features, agent.features) ||
    !isEqualList(call.xcodes ?? agent.xcodes, agent.xcodes) ||
    ignored !== agent.ignored ||
    !isRecent;
  const next = isStored ? afterContact(agent, call, { ignored, isRestart, now }) : agent;
  const changes: Change[] = [{ kind: "contact", agentId: agent.id, at: now }, ...resetIgnoredOffers(state, agent)];
  if (isStored) changes.push({ kind: "agent", agent: next });
  return decided(null, [...changes, ...releaseJob(state, next, isRestart, call.by, context)]);
};

/** Returns the agent with the facts of this contact. */
const afterContact = (
  agent: AgentFacts,
  { bootId, features, xcodes }: ClaimRequest,
  { ignored, isRestart, now }: { ignored: number; isRestart: boolean; now: number },
): AgentFacts => ({
  ...agent,
  ignored,
  ...(isRestart ? bootHistory(agent, bootId) : {}),
  ...(features ? { features } : {}),
  ...(xcodes?.length || agent.xcodes ? { xcodes: xcodes ?? agent.xcodes } : {}),
  heardAt: now,
});

const isEqualList = (one: readonly string[] = [], other: readonly string[] = []): boolean =>
  one.length === other.length && one.every((word) => other.includes(word));

const bootHistory = (agent: AgentFacts, bootId: string | null) => ({
  bootId,
  pastBoots: agent.bootId === null ? [] : [agent.bootId, ...agent.pastBoots].slice(0, POOL_LIMITS.pastBoots),
});

const resetIgnoredOffers = (state: PoolState, { id }: AgentFacts): Change[] => {
  const waiter = state.waiters.get(id);
  return waiter?.ignored ? [{ kind: "waiter", agentId: id, waiter: { ...waiter, ignored: 0 } }] : [];
};

/** Releases the job that the agent lost in its restart, or the job that was canceled before the agent started it. */
const releaseJob = (
  state: PoolState,
  agent: AgentFacts,
  isRestart: boolean,
  by: ContactKind,
  context: DecisionContext,
): Change[] => {
  const entry = findLeasedEntry(state, agent.id);
  if (!entry) return [];
  if (isRestart) return loseLease(entry, agent, "restarted", context);
  const isIdle = by === "claim" && entry.job.status === "canceling" && entry.job.lease?.startedAt === null;
  return isIdle ? endCanceled(entry, context) : [];
};
