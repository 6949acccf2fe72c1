import type { Claim } from "./commands.ts";
import { activeBuild, type Decision, type DecisionContext, decided, SYSTEM, verifiedAgent } from "./decision.ts";
import type { AgentFacts, Change } from "./facts.ts";
import { CANCELED, endBuild, loseLease } from "./lease.ts";
import { POOL_LIMITS } from "./rules.ts";
import type { PoolState } from "./state.ts";

/** Milliseconds between two signs of life of an agent that are written down. */
const PERSIST_CONTACT_MS = 60_000;
/** With a socket of its own, which remembers by itself: the part of the time for which a silent agent is kept. */
const PERSIST_CONTACT_PART = 0.25;

/** What an agent's mere call says: it lives, it may have been restarted, and it may have nothing to do. */
export const recordContact = (
  state: PoolState,
  call: Claim & { by: "claim" | "heartbeat" | "wait" },
  context: DecisionContext,
): Decision<null> => {
  const { now, rules } = context;
  const agent = verifiedAgent(state, context, call);
  if (!agent || rules.isStale(agent, call.bootId)) return decided(null);
  const isRestart = rules.isRestart(agent, call.bootId);
  const awake = isRestart || call.by === "heartbeat" ? { ignored: 0 } : {};
  const known = { ...agent, ...awake, ...(isRestart ? recordBoot(agent, call.bootId) : {}) };
  const hasSocket = state.waiting.get(agent.id)?.until === null;
  const isWritten = now - agent.heardAt < (hasSocket ? context.agentMs * PERSIST_CONTACT_PART : PERSIST_CONTACT_MS);
  const isNews = isRestart || known.ignored !== agent.ignored || !isWritten;
  const changes: Change[] = [{ kind: "heard", agentId: agent.id, at: now }, ...resetIgnoredHints(state, agent)];
  if (isNews) changes.push({ kind: "agent", agent: { ...known, heardAt: now } });
  return decided(null, [
    ...changes,
    ...releaseHeldBuild(state, { ...known, heardAt: now }, isRestart, call.by, context),
  ]);
};

const recordBoot = (agent: AgentFacts, bootId: string | null) => ({
  bootId,
  pastBoots: agent.bootId === null ? [] : [agent.bootId, ...agent.pastBoots].slice(0, POOL_LIMITS.pastBoots),
});

const resetIgnoredHints = (state: PoolState, { id }: AgentFacts): Change[] => {
  const waiter = state.waiting.get(id);
  return waiter?.ignored ? [{ kind: "waiter", agentId: id, waiter: { ...waiter, ignored: 0 } }] : [];
};

/** The build that an agent restarted away from, or that was canceled before it had started it. */
const releaseHeldBuild = (
  state: PoolState,
  agent: AgentFacts,
  isRestart: boolean,
  by: string,
  context: DecisionContext,
): Change[] => {
  const buildId = state.index.holding.get(agent.id);
  const held = buildId === undefined ? undefined : activeBuild(state, buildId);
  if (!held) return [];
  if (isRestart) return loseLease(held, agent, "restarted", context);
  const isIdle = by === "claim" && held.build.status === "canceling" && held.job.lease?.startedAt === null;
  return isIdle ? endBuild(held, CANCELED, null, SYSTEM, context) : [];
};
