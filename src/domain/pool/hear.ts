import type { Claim } from "./commands.ts";
import { type Decision, decided, type Setting, SYSTEM, speaker, underWay } from "./decision.ts";
import type { AgentFacts, Change } from "./facts.ts";
import { CANCELED, end, lose } from "./lease.ts";
import { LIMITS } from "./rules.ts";
import type { PoolState } from "./state.ts";

/** Milliseconds between two signs of life of an agent that are written down. */
const WRITE_DOWN_MS = 60_000;
/** With a socket of its own, which remembers by itself: the part of the time for which a silent agent is kept. */
const WRITE_DOWN_PART = 0.25;

/** What an agent's mere call says: it lives, it may have been restarted, and it may have nothing to do. */
export const hear = (
  state: PoolState,
  call: Claim & { by: "claim" | "heartbeat" | "wait" },
  setting: Setting,
): Decision<null> => {
  const { now, rules } = setting;
  const agent = speaker(state, setting, call);
  if (!agent || rules.isStale(agent, call.bootId)) return decided(null);
  const isRestart = rules.isRestart(agent, call.bootId);
  const awake = isRestart || call.by === "heartbeat" ? { ignored: 0 } : {};
  const known = { ...agent, ...awake, ...(isRestart ? rebooted(agent, call.bootId) : {}) };
  const hasSocket = state.waiting.get(agent.id)?.until === null;
  const isWritten = now - agent.heardAt < (hasSocket ? setting.agentMs * WRITE_DOWN_PART : WRITE_DOWN_MS);
  const isNews = isRestart || known.ignored !== agent.ignored || !isWritten;
  const changes: Change[] = [{ kind: "heard", agentId: agent.id, at: now }, ...alert(state, agent)];
  if (isNews) changes.push({ kind: "agent", agent: { ...known, heardAt: now } });
  return decided(null, [...changes, ...freed(state, { ...known, heardAt: now }, isRestart, call.by, setting)]);
};

const rebooted = (agent: AgentFacts, bootId: string | null) => ({
  bootId,
  pastBoots: agent.bootId === null ? [] : [agent.bootId, ...agent.pastBoots].slice(0, LIMITS.pastBoots),
});

const alert = (state: PoolState, { id }: AgentFacts): Change[] => {
  const waiter = state.waiting.get(id);
  return waiter?.ignored ? [{ kind: "waiter", agentId: id, waiter: { ...waiter, ignored: 0 } }] : [];
};

/** The build that an agent restarted away from, or that was canceled before it had started it. */
const freed = (state: PoolState, agent: AgentFacts, isRestart: boolean, by: string, setting: Setting): Change[] => {
  const buildId = state.index.holding.get(agent.id);
  const held = buildId === undefined ? undefined : underWay(state, buildId);
  if (!held) return [];
  if (isRestart) return lose(held, agent, "restarted", setting);
  const isIdle = by === "claim" && held.build.status === "canceling" && held.job.lease?.startedAt === null;
  return isIdle ? end(held, CANCELED, null, SYSTEM, setting) : [];
};
