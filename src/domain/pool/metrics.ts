import { AGENT_STATUS } from "../../protocol/agent.ts";
import { isLeased, LEASED, type LeasedStatus, type Phase, phaseOf } from "../../protocol/build-states.ts";
import type { Metrics } from "../../protocol/metrics.ts";
import type { DecisionContext } from "./decision.ts";
import type { AgentFacts } from "./facts.ts";
import { requirementKey } from "./queue.ts";
import { toAgent } from "./record.ts";
import type { PoolState } from "./state.ts";

type ByRequirement = Metrics["byRequirement"][number];

/** Online agents alike, and how many of them have nothing to do. */
interface Alike {
  agent: AgentFacts;
  online: number;
  idle: number;
}

/** Counts of the pool at this moment. `deadLetters` and `pingedAt` are what disk and sockets know. */
export const measure = (
  state: PoolState,
  orgId: string,
  context: DecisionContext,
  deadLetters: number,
  pingedAt: (agentId: string) => number,
): Metrics => {
  const { agents, alike } = countAgents(state, orgId, context.now, pingedAt);
  const kinds = countBuilds(state, context.now);
  const byRequirement = [...kinds.values()].map((kind) => ({ ...kind, ...capacityFor(kind, alike, context) }));
  return {
    orgId,
    at: new Date(context.now).toISOString(),
    builds: { waiting: state.queue.size, ...countLeased(state) },
    oldestWaitSeconds: Math.max(0, ...byRequirement.map((kind) => kind.oldestWaitSeconds)),
    agents,
    outbox: { builds: state.dirty.size, failures: state.flush.failures, parked: deadLetters },
    byRequirement,
  };
};

const countAgents = (state: PoolState, orgId: string, now: number, pingedAt: (agentId: string) => number) => {
  const agents = { registered: state.agents.size, online: 0, idle: 0, busy: 0, draining: 0, offline: 0 };
  const alike = new Map<string, Alike>();
  for (const agent of state.agents.values()) {
    const { status } = toAgent(state, orgId, agent, now, pingedAt(agent.id));
    if (status === AGENT_STATUS.offline) {
      agents.offline++;
      continue;
    }
    agents.online++;
    if (status === AGENT_STATUS.draining) {
      agents.draining++;
      continue;
    }
    const skills = state.index.skills.get(agent.id)!;
    const group = alike.get(skills) ?? { agent, online: 0, idle: 0 };
    alike.set(skills, group);
    group.online++;
    if (status === AGENT_STATUS.busy) agents.busy++;
    else {
      agents.idle++;
      group.idle++;
    }
  }
  return { agents, alike };
};

const countLeased = (state: PoolState): Record<LeasedStatus, number> => {
  const counts = Object.fromEntries(LEASED.map((status) => [status, 0])) as Record<LeasedStatus, number>;
  for (const { status } of state.builds.values()) if (isLeased(status)) counts[status]++;
  return counts;
};

/** What a build counts as where agents are started on demand. */
const COUNTED_AS: Record<Phase, "waiting" | "running" | null> = { queued: "waiting", leased: "running", ended: null };

const countBuilds = (state: PoolState, now: number): Map<string, ByRequirement> => {
  const kinds = new Map<string, ByRequirement>();
  for (const build of state.builds.values()) {
    const { requires } = state.jobs.get(build.id)!;
    const needs = requirementKey(requires);
    const kind = kinds.get(needs) ?? { requires, waiting: 0, running: 0, oldestWaitSeconds: 0, agents: 0, idle: 0 };
    kinds.set(needs, kind);
    const counter = COUNTED_AS[phaseOf(build.status)];
    if (counter) kind[counter]++;
    if (counter === "waiting") {
      kind.oldestWaitSeconds = Math.max(kind.oldestWaitSeconds, (now - build.queuedAt) / 1000);
    }
  }
  return kinds;
};

const capacityFor = ({ requires }: ByRequirement, alike: Map<string, Alike>, { rules }: DecisionContext) => {
  const able = [...alike.values()].filter(({ agent }) => rules.meets(agent, requires));
  const sum = (of: (group: Alike) => number) => able.reduce((total, group) => total + of(group), 0);
  return { agents: sum((group) => group.online), idle: sum((group) => group.idle) };
};
