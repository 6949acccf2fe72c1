import { AGENT_STATUS } from "../../protocol/agent.ts";
import type { JobStatus } from "../../protocol/build-job.ts";
import { LEASED, type LeasedStatus } from "../../protocol/build-states.ts";
import type { Metrics } from "../../protocol/metrics.ts";
import { toAgent } from "../read/record.ts";
import type { AgentFacts } from "../state/agent-facts.ts";
import type { DecisionContext } from "../state/decision.ts";
import { requirementKey } from "../state/queue.ts";
import type { PoolState } from "../state/state.ts";
import { awaitsApproval } from "../state/trust.ts";

type ByRequirement = Metrics["byRequirement"][number];

/** Online agents with equal skills, with the number of idle agents among them. */
interface SkillGroup {
  agent: AgentFacts;
  online: number;
  idle: number;
}

/** Measures the pool's current state. `deadLetters` comes from the disk, `pingedAt` from the sockets. */
export const measure = (
  state: PoolState,
  orgId: string,
  context: DecisionContext,
  deadLetters: number,
  pingedAt: (agentId: string) => number,
): Metrics => {
  const { agents, skillGroups } = countAgents(state, orgId, context.now, pingedAt);
  const { lists } = state.outbox;
  const byRequirement = [...countJobs(state, context.now).values()].map((group) => ({
    ...group,
    ...capacityFor(group, skillGroups, context),
  }));
  return {
    orgId,
    at: new Date(context.now).toISOString(),
    builds: { waiting: state.queue.size, ...countByLeasedStatus(state) },
    oldestWaitSeconds: Math.max(0, ...byRequirement.map((group) => group.oldestWaitSeconds)),
    agents,
    outbox: { builds: lists.due.size, failures: lists.failures, deadLetters, parked: deadLetters },
    byRequirement,
  };
};

const countAgents = (state: PoolState, orgId: string, now: number, pingedAt: (agentId: string) => number) => {
  const agents = { registered: state.agents.size, online: 0, idle: 0, busy: 0, draining: 0, offline: 0 };
  const skillGroups = new Map<string, SkillGroup>();
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
    const group = skillGroups.get(skills) ?? { agent, online: 0, idle: 0 };
    skillGroups.set(skills, group);
    group.online++;
    if (status === AGENT_STATUS.busy) agents.busy++;
    else {
      agents.idle++;
      group.idle++;
    }
  }
  return { agents, skillGroups };
};

const isLeased = (status: JobStatus): status is LeasedStatus => (LEASED as readonly JobStatus[]).includes(status);

const countByLeasedStatus = (state: PoolState): Record<LeasedStatus, number> => {
  const counts = Object.fromEntries(LEASED.map((status) => [status, 0])) as Record<LeasedStatus, number>;
  for (const { status } of state.jobs.values()) if (isLeased(status)) counts[status]++;
  return counts;
};

const countJobs = (state: PoolState, now: number): Map<string, ByRequirement> => {
  const groups = new Map<string, ByRequirement>();
  for (const { requires, status, buildId, queuedAt } of state.jobs.values()) {
    const counter = status === "queued" ? "waiting" : isLeased(status) ? "running" : null;
    if (!counter || awaitsApproval(state.builds.get(buildId)!)) continue;
    const key = requirementKey(requires);
    const group = groups.get(key) ?? { requires, waiting: 0, running: 0, oldestWaitSeconds: 0, agents: 0, idle: 0 };
    groups.set(key, group);
    group[counter]++;
    if (counter === "waiting")
      group.oldestWaitSeconds = Math.max(group.oldestWaitSeconds, (now - (queuedAt ?? now)) / 1000);
  }
  return groups;
};

const capacityFor = ({ requires }: ByRequirement, skillGroups: Map<string, SkillGroup>, { rules }: DecisionContext) => {
  const able = [...skillGroups.values()].filter(({ agent }) => rules.meets(agent, requires));
  const sum = (count: (group: SkillGroup) => number) => able.reduce((total, group) => total + count(group), 0);
  return { agents: sum((group) => group.online), idle: sum((group) => group.idle) };
};
