import { LIMITS, withCommas } from "../../protocol/limits.ts";
import { changed, differences } from "../differences.ts";
import type { Actor, AgentChange, Claim, NewAgent } from "./commands.ts";
import {
  activeBuild,
  audit,
  type Decision,
  type DecisionContext,
  decided,
  noAgent,
  refused,
  unknownToken,
  verifiedAgent,
} from "./decision.ts";
import type { AgentFacts, Change } from "./facts.ts";
import { loseLease } from "./lease.ts";
import type { PoolState } from "./state.ts";

export const register = (state: PoolState, wanted: NewAgent, context: DecisionContext): Decision<string> => {
  const { id, orgId, actor, name, registeredBy = null } = wanted;
  if (state.orgId !== null && state.orgId !== orgId) return noAgent();
  if (registeredBy && !context.rules.mayRegister(state.revoked, registeredBy.tokenId)) return unknownToken();
  if (state.agents.has(id)) return refused("conflict", "There is already an agent with this id.");
  if (state.agents.size >= LIMITS.agents) {
    return refused(
      "limit-reached",
      `There are ${withCommas(LIMITS.agents)} agents already: remove some that are gone.`,
    );
  }
  if (
    registeredBy?.kind === "registration" &&
    registeredWith(state, registeredBy.tokenId).length >= LIMITS.registeredAgents
  ) {
    return refused(
      "limit-reached",
      `This token has registered ${withCommas(LIMITS.registeredAgents)} agents: use another one.`,
    );
  }
  const agent = newAgent(wanted, context.now);
  const { platform, canBuildIOS, canBuildAndroid, canBuildWeb, labels } = agent;
  const detail = { name, platform, canBuildIOS, canBuildAndroid, canBuildWeb, labels };
  const changes: Change[] = [{ kind: "agent", agent }, ...audit(actor, "agent.register", id, detail, context)];
  if (state.orgId === null) changes.push({ kind: "org", orgId });
  return decided(id, changes);
};

/** The agents that a token registered and that are still there. */
const registeredWith = (state: PoolState, tokenId: string): AgentFacts[] =>
  [...state.agents.values()].filter(({ registeredBy }) => registeredBy?.tokenId === tokenId);

const newAgent = (wanted: NewAgent, now: number): AgentFacts => {
  const { id, name, platform, canBuildIOS, canBuildAndroid, canBuildWeb, tokenHash, registeredBy = null } = wanted;
  return {
    ...{ id, name, platform, canBuildIOS, canBuildAndroid, canBuildWeb, tokenHash, registeredBy },
    labels: wanted.labels ?? [],
    version: wanted.version ?? null,
    isDraining: false,
    isEphemeral: wanted.isEphemeral ?? false,
    createdAt: now,
    heardAt: now,
    bootId: null,
    pastBoots: [],
    ignored: 0,
    ignoredAt: 0,
    spentAt: null,
  };
};

export const update = (
  state: PoolState,
  { agentId, change, actor }: { agentId: string; change: AgentChange; actor: Actor },
  context: DecisionContext,
): Decision<string> => {
  const agent = state.agents.get(agentId);
  if (!agent) return noAgent();
  const changes = differences<AgentChange>(agent, change);
  if (Object.keys(changes).length === 0) return decided(agentId);
  return decided(agentId, [
    { kind: "agent", agent: changed(agent, changes) },
    ...audit(actor, "agent.update", agentId, { changes }, context),
  ]);
};

/** The agent is gone from this moment: its token opens nothing, and its build waits for another. */
export const remove = (
  state: PoolState,
  { agentId, actor }: { agentId: string; actor: Actor },
  context: DecisionContext,
): Decision<null> => {
  const agent = state.agents.get(agentId);
  return agent ? decided(null, gone(state, agent, actor, context)) : noAgent();
};

const gone = (state: PoolState, { id, name }: AgentFacts, actor: Actor, context: DecisionContext): Change[] => {
  const buildId = context.rules.freedByRemoval(state.index.holding.get(id));
  const held = buildId === undefined ? undefined : activeBuild(state, buildId);
  return [
    ...(held ? loseLease(held, undefined, "removed", context) : []),
    { kind: "agent-removed", agentId: id },
    ...audit(actor, "agent.remove", id, { name }, context),
  ];
};

/** Agents that one round removes, so that it never holds up the queue. */
const REMOVED_AT_ONCE = 250;

/** Of the agents that a revoked token registered the first are gone from this moment, and no more come from it. */
export const removeRegistered = (
  state: PoolState,
  { tokenId, wasThere, actor }: { tokenId: string; wasThere: boolean; actor: Actor },
  context: DecisionContext,
): Decision<{ removed: string[]; left: number }> => {
  const agents = registeredWith(state, tokenId);
  const removed = agents.slice(0, REMOVED_AT_ONCE);
  const isNews = (wasThere || agents.length > 0) && context.rules.mayRegister(state.revoked, tokenId);
  const revoked: Change[] = isNews ? [{ kind: "revoked", tokenId, at: context.now }] : [];
  return decided({ removed: removed.map(({ id }) => id), left: agents.length - removed.length }, [
    ...revoked,
    ...removed.flatMap((agent) => gone(state, agent, actor, context)),
  ]);
};

/** Who a token belongs to: the pool is the judge of agents' tokens. */
export const authenticate = (state: PoolState, { tokenHash }: { tokenHash: string }): Decision<{ agentId: string }> => {
  const agentId = state.index.agentByToken.get(tokenHash);
  return agentId === undefined ? unknownToken() : decided({ agentId });
};

/** The agent waits to be woken, until `until` or (null) as long as its socket is open. */
export const wait = (
  state: PoolState,
  call: Claim & { until: number | null },
  context: DecisionContext,
): Decision<null> => {
  const agent = verifiedAgent(state, context, call);
  if (!agent) return unknownToken();
  if (context.rules.isStale(agent, call.bootId)) return refused("conflict", "This agent was started again elsewhere.");
  const { agentId, until } = call;
  return decided(null, [
    { kind: "heard", agentId, at: context.now },
    { kind: "waiter", agentId, waiter: { until, ignored: 0, ignoredAt: 0 } },
  ]);
};

/** The last of the agent's sockets is closed: what it was told to look for goes to another. */
export const leave = (state: PoolState, { agentId }: { agentId: string }, { now }: DecisionContext): Decision<null> => {
  const waiter = state.waiting.get(agentId);
  if (!waiter) return decided(null);
  const offered = state.index.offered.get(agentId);
  const agent = waiter.until === null ? state.agents.get(agentId) : undefined;
  return decided(null, [
    { kind: "heard", agentId, at: now },
    ...(agent ? [{ kind: "agent", agent: { ...agent, heardAt: now } } as const] : []),
    { kind: "waiter", agentId, waiter: null },
    ...(offered ? [{ kind: "offer", buildId: offered, offer: null } as const] : []),
  ]);
};
