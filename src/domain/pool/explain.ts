import { isEnded, isQueued, type LeasedStatus } from "../../protocol/build-states.ts";
import type { Explanation, WaitCode } from "../../protocol/explain.ts";
import { lacking, type Reason, reason } from "../requires.ts";
import type { DecisionContext } from "./decision.ts";
import type { AgentFacts, BuildFacts, JobFacts } from "./facts.ts";
import { leasedBuilds } from "./match.ts";
import { isOnline } from "./record.ts";
import type { PoolState } from "./state.ts";
import { groupWaits, isPassing } from "./wait-groups.ts";

type AgentView = Explanation["agents"][number];
/** Kinds of reasons that are told; the agents themselves tell the others. */
const MOST_GROUPS = 20;

const IS = ["is", "are"] as const;

const isUnresponsive = (agent: AgentFacts, context: DecisionContext): boolean =>
  !context.rules.takesBuilds({ ...agent, isDraining: false, spentAt: null }, context.now);

const reasonsOf = (state: PoolState, agent: AgentFacts, job: JobFacts, context: DecisionContext, pingedAt: number) => {
  const reasons = lacking(agent, job.requires);
  if (context.rules.isNotFor(job, agent.id)) reasons.push(reason("gave-it-back", ["gave", "gave"], "this build back"));
  if (!isOnline(state, agent, context.now, pingedAt)) reasons.push(reason("offline", IS, "offline"));
  if (agent.isDraining || agent.spentAt !== null) reasons.push(reason("draining", ["takes", "take"], "no new builds"));
  if (isUnresponsive(agent, context)) {
    reasons.push(reason("unresponsive", ["took", "took"], "two builds, started neither, and sent no heartbeat since"));
  }
  if (state.index.holding.has(agent.id)) reasons.push(reason("busy", IS, "busy with another build"));
  return reasons;
};

const viewOf = (agent: AgentFacts, reasons: Reason[]): AgentView => ({
  agentId: agent.id,
  name: agent.name,
  codes: reasons.map(({ code }) => code),
  words:
    reasons.length === 0
      ? `${agent.name} could take it now.`
      : `${agent.name} ${reasons.map(({ words }) => words).join(", ")}.`,
});

const isCapable = ({ codes }: AgentView): boolean => codes.every(isPassing);

/** Why the queued build waits, the most binding reason first. */
const waitOf = (
  state: PoolState,
  build: BuildFacts,
  job: JobFacts,
  agents: AgentView[],
  ahead: number,
  now: number,
) => {
  const live = leasedBuilds(state, build.pipelineId);
  const say = (code: WaitCode, words: string) => ({ code, words });
  if (agents.length === 0) return say("no-agents", "No agent is registered.");
  if (!agents.some(isCapable)) {
    const none = job.requires.platform === "windows" ? " There is no agent for Windows yet." : "";
    return say("no-capable-agent", `No registered agent has what this build requires.${none}`);
  }
  if (job.maxParallel !== null && live >= job.maxParallel) {
    return say("max-parallel", `Its pipeline runs ${live} builds at a time at most (maxParallel), and does.`);
  }
  if (job.notBefore > now) {
    return say(
      "dependency-away",
      "It could not be handed out, because a part of the service was away; it is tried again soon.",
    );
  }
  if (!agents.some(({ codes }) => codes.length === 0)) {
    return say("all-busy", "Every agent that could take it is busy, draining or offline.");
  }
  if (ahead > 0) return say("behind-others", `${ahead} builds are before it in the queue.`);
  return say("next", "It is next, and an agent could take it now.");
};

const LEASED_WORDS: Record<LeasedStatus, (agent: string) => string> = {
  assigned: (agent) => `It was handed to ${agent}, which has not started it yet.`,
  running: (agent) => `It runs on ${agent}.`,
  canceling: (agent) => `It was canceled; ${agent} is stopping it.`,
};

/** Why a build waits, agent by agent, or who has it. `pingedAt` tells what sockets know of an agent's life. */
export const explain = (
  state: PoolState,
  build: BuildFacts,
  job: JobFacts,
  context: DecisionContext,
  pingedAt: (agentId: string) => number,
): Explanation => {
  const { id: buildId, status, reason } = build;
  const elsewhere = { buildId, status, ahead: null, agents: [] };
  if (isEnded(status)) {
    return { ...elsewhere, code: "ended", words: `It has ended: ${status}${reason ? ` (${reason})` : ""}.` };
  }
  if (!isQueued(status)) {
    const name = (job.agentId && state.agents.get(job.agentId)?.name) ?? "an agent";
    return { ...elsewhere, code: status, words: LEASED_WORDS[status](name) };
  }
  const reasons = new Map(
    [...state.agents.values()].map((agent) => [agent, reasonsOf(state, agent, job, context, pingedAt(agent.id))]),
  );
  const agents = [...reasons]
    .map(([agent, its]) => viewOf(agent, its))
    .sort((left, right) => left.codes.length - right.codes.length);
  const groups = groupWaits([...reasons.values()]).slice(0, MOST_GROUPS);
  const ahead = state.queue.ahead(build);
  return {
    buildId,
    status,
    ...waitOf(state, build, job, agents, ahead, context.now),
    ahead,
    requires: job.requires,
    groups,
    agents,
  };
};
