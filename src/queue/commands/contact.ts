import { type Decision, type DecisionContext, decided, jobHeldBy, verifiedAgent } from "../state/decision.ts";
import type { AgentFacts, Change } from "../state/facts.ts";
import { POOL_LIMITS } from "../state/rules.ts";
import type { PoolState } from "../state/state.ts";
import type { ClaimRequest } from "./commands.ts";
import { endCanceled, loseLease } from "./lease.ts";

/** The commands that only an agent sends, and by which the pool knows that its program runs. */
export type ContactKind = "claim" | "heartbeat" | "wait";

/** Milliseconds between two contacts of an agent that are stored. */
const PERSIST_CONTACT_MS = 60_000;
/** The same for an agent with a socket, which remembers its pings: a part of the time for which it is kept. */
const PERSIST_CONTACT_PART = 0.25;

/** Records that the agent is alive, whether it was restarted, and what that means for the job it holds. */
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
  const seen = isStored ? asSeen(agent, call, { ignored, isRestart, now }) : agent;
  const changes: Change[] = [{ kind: "contact", agentId: agent.id, at: now }, ...resetIgnoredOffers(state, agent)];
  if (isStored) changes.push({ kind: "agent", agent: seen });
  return decided(null, [...changes, ...releaseHeldJob(state, seen, isRestart, call.by, context)]);
};

/** The agent as this contact shows it. */
const asSeen = (
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

const isEqualList = (left: readonly string[] = [], right: readonly string[] = []): boolean =>
  left.length === right.length && left.every((word) => right.includes(word));

const bootHistory = (agent: AgentFacts, bootId: string | null) => ({
  bootId,
  pastBoots: agent.bootId === null ? [] : [agent.bootId, ...agent.pastBoots].slice(0, POOL_LIMITS.pastBoots),
});

const resetIgnoredOffers = (state: PoolState, { id }: AgentFacts): Change[] => {
  const waiter = state.waiters.get(id);
  return waiter?.ignored ? [{ kind: "waiter", agentId: id, waiter: { ...waiter, ignored: 0 } }] : [];
};

/** Releases the job that the agent lost by its restart, or that was canceled before the agent started it. */
const releaseHeldJob = (
  state: PoolState,
  agent: AgentFacts,
  isRestart: boolean,
  by: ContactKind,
  context: DecisionContext,
): Change[] => {
  const held = jobHeldBy(state, agent.id);
  if (!held) return [];
  if (isRestart) return loseLease(held, agent, "restarted", context);
  const isIdle = by === "claim" && held.job.status === "canceling" && held.job.lease?.startedAt === null;
  return isIdle ? endCanceled(held, context) : [];
};
