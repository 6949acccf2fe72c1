import { type Reason, reason, unmetRequirements } from "../../domain/requires.ts";
import type { LeasedStatus } from "../../protocol/build-states.ts";
import { type AgentCode, type Explanation, sentence, type WaitCode } from "../../protocol/explain.ts";
import type { Feature } from "../../protocol/jobs.ts";
import { effectiveLimit, isGroup } from "../commands/match.ts";
import { isPaused } from "../commands/pause.ts";
import type { AgentFacts } from "../state/agent-facts.ts";
import { isOnline } from "../state/deadlines.ts";
import type { DecisionContext } from "../state/decision.ts";
import type { BuildFacts, JobEntry, JobFacts } from "../state/facts.ts";
import { semaphoresOfJob } from "../state/semaphores.ts";
import type { PoolState } from "../state/state.ts";
import { APPROVER, awaitsApproval, isReserved, trustOf, UNTRUSTED_LABEL } from "../state/trust.ts";

/** Reasons that can pass without a change to the agent or the build. */
const TEMPORARY: readonly AgentCode[] = ["offline", "busy", "draining", "unresponsive"];

const isTemporary = (code: AgentCode): boolean => TEMPORARY.includes(code);

const countPermanent = (codes: readonly AgentCode[]): number => codes.filter((code) => !isTemporary(code)).length;

/** Returns the permanent reasons, or the temporary ones if there are no permanent ones. */
const decisive = (reasons: Reason[]): Reason[] => {
  const permanent = reasons.filter(({ code }) => !isTemporary(code));
  return permanent.length > 0 ? permanent : reasons;
};

const messageFor = (reasons: Reason[], agents: number, online: number): string => {
  const subject = agents === 1 ? "1 agent" : `${agents.toLocaleString("en")} agents`;
  if (reasons.length === 0) return `${subject} could take it now.`;
  const phrases = decisive(reasons).map(({ phrase, pluralPhrase }) => (agents === 1 ? phrase : pluralPhrase));
  const status = countPermanent(reasons.map(({ code }) => code)) > 0 ? ` (${onlineStatus(agents, online)})` : "";
  return `${subject} ${phrases.join(", ")}${status}.`;
};

const onlineStatus = (agents: number, online: number): string => {
  if (agents === 1) return online === 1 ? "online" : "offline";
  if (online === agents) return "all online";
  return online === 0 ? "all offline" : `${online.toLocaleString("en")} online`;
};

/**
 * Groups agents by their decisive reasons. Groups with fewer permanent reasons come first. Among equal ones, larger
 * groups come first.
 */
const groupWaits = (reasonsByAgent: Reason[][]): NonNullable<Explanation["groups"]> => {
  const groups = Map.groupBy(reasonsByAgent, (reasons) =>
    JSON.stringify(decisive(reasons).map(({ phrase }) => phrase)),
  );
  return [...groups.values()]
    .map((members) => {
      const reasons = members[0] ?? [];
      const online = members.filter((each) => each.every(({ code }) => code !== "offline")).length;
      const codes = decisive(reasons).map(({ code }) => code);
      const message = messageFor(reasons, members.length, online);
      return { codes, agents: members.length, online, ...sentence(message) };
    })
    .sort((one, other) => countPermanent(one.codes) - countPermanent(other.codes) || other.agents - one.agents);
};

type AgentView = Explanation["agents"][number];
/** The maximum number of groups in an answer. The list of agents shows the rest. */
const GROUP_LIMIT = 20;

const IS = ["is", "are"] as const;

const isUnresponsive = (agent: AgentFacts, context: DecisionContext): boolean =>
  !context.rules.takesBuilds({ ...agent, isDraining: false, spentAt: null }, context.now);

/**
 * Describes the features that the agent's program lacks. The service itself marks a build as untrusted. All other
 * features are from the build's file.
 */
const tooOldFor = (unknown: Feature[]): string =>
  unknown.includes("untrusted") ? "too old for untrusted builds" : `too old for ${unknown.join(", ")} in the file`;

/** Each agent's reasons for not taking a job. An agent that could take the job has none. */
export type ReasonsByAgent = Map<AgentFacts, Reason[]>;

/** Checks every agent, and returns its reasons. */
export const reasonsByAgent = (
  state: PoolState,
  job: JobFacts,
  context: DecisionContext,
  pingedAt: (agentId: string) => number,
): ReasonsByAgent =>
  new Map(
    [...state.agents.values()].map((agent) => [agent, findReasons(state, agent, job, context, pingedAt(agent.id))]),
  );

const findReasons = (
  state: PoolState,
  agent: AgentFacts,
  job: JobFacts,
  context: DecisionContext,
  pingedAt: number,
) => {
  const reasons = unmetRequirements(agent, job.requires);
  if (isReserved(agent.labels, job.requires.labels))
    reasons.push(reason("labels", ["takes", "take"], `only builds that require the label ${UNTRUSTED_LABEL}`));
  if (context.rules.isNotFor(job, agent.id))
    reasons.push(reason("gave-it-back", ["released", "released"], "this build"));
  const runs = (features: Feature[]): boolean => context.rules.runsLane(agent, { features });
  const unknown = (job.features ?? []).filter((feature) => !runs([feature]));
  if (unknown.includes("jobs")) reasons.push(reason("too-old", IS, "too old to run planned jobs"));
  else if (unknown.length > 0) reasons.push(reason("too-old", IS, tooOldFor(unknown)));
  if (!isOnline(state, agent, context.now, pingedAt)) reasons.push(reason("offline", IS, "offline"));
  if (agent.isDraining || agent.spentAt !== null) reasons.push(reason("draining", ["takes", "take"], "no new builds"));
  if (isUnresponsive(agent, context)) {
    reasons.push(
      reason("unresponsive", ["claimed", "claimed"], "two builds, started neither, and sent no heartbeat since"),
    );
  }
  if (state.index.holding.has(agent.id)) reasons.push(reason("busy", IS, "busy with another build"));
  return reasons;
};

const toView = (agent: AgentFacts, reasons: Reason[]): AgentView => ({
  agentId: agent.id,
  name: agent.name,
  codes: reasons.map(({ code }) => code),
  ...sentence(
    reasons.length === 0
      ? `${agent.name} could take it now.`
      : `${agent.name} ${reasons.map(({ phrase }) => phrase).join(", ")}.`,
  ),
});

const isCapable = ({ codes }: AgentView): boolean => codes.every(isTemporary);

/** Returns the first full semaphore, with its effective limit. */
const fullSemaphore = (state: PoolState, entry: JobEntry, { rules }: DecisionContext) => {
  for (const { key, limit, holder } of semaphoresOfJob(state, entry)) {
    const holders = state.index.semaphores.holders(key);
    const most = effectiveLimit(state, { key, limit });
    if (most !== null && !holders.has(holder) && !rules.hasRoom(holders.size, most)) return { key, most };
  }
  return null;
};

const fullMessage = ({ key, most }: { key: string; most: number }): string => {
  if (isGroup(key)) return `Its concurrency group is full (${most} at a time).`;
  return key.startsWith("matrix ")
    ? `Its matrix has reached its limit of parallel jobs (${most}).`
    : `Its pipeline has reached its limit of parallel builds (${most}).`;
};

const needsLabel = (build: BuildFacts): string =>
  trustOf(build) === "trusted" ? "" : ` It is untrusted and requires an agent with the label ${UNTRUSTED_LABEL}.`;

/** Explains why the queued job waits, with the first reason that applies. */
const explainWait = (
  state: PoolState,
  { build, job }: JobEntry,
  agents: AgentView[],
  ahead: number,
  context: DecisionContext,
) => {
  const full = fullSemaphore(state, { build, job }, context);
  const say = (code: WaitCode, message: string) => ({ code, ...sentence(message) });
  if (agents.length === 0) return say("no-agents", "No agent is registered.");
  if (!agents.some(isCapable)) {
    const none = job.requires.platform === "windows" ? " There is no agent for Windows yet." : needsLabel(build);
    return say("no-capable-agent", `No registered agent meets these requirements.${none}`);
  }
  if (full) return say(isGroup(full.key) ? "group" : "max-parallel", fullMessage(full));
  if (isPaused(state, context.now)) {
    const seconds = Math.ceil((state.pause!.until - context.now) / 1000);
    return say(
      "dependency-away",
      `No builds start because part of the service is unavailable. The pool retries within ${seconds} s.`,
    );
  }
  if (job.notBefore > context.now) {
    return say(
      "dependency-away",
      "It could not start because part of the service was unavailable. The pool retries soon.",
    );
  }
  if (!agents.some(({ codes }) => codes.length === 0)) {
    return say("all-busy", "Every agent that could take it is busy, draining or offline.");
  }
  if (ahead === 1) return say("behind-others", "1 build is ahead of it in the queue.");
  if (ahead > 1) return say("behind-others", `${ahead} builds are ahead of it in the queue.`);
  return say("next", "It is next, and an agent could take it now.");
};

/** Adds the number of failed tries to the message. */
const afterTries = ({ retries = 0, retry = 0 }: JobFacts, { code, message }: ReturnType<typeof explainWait>) => {
  const failed = retries === 1 ? "1 try" : `${retries} tries`;
  const text = retries === 0 ? message : `${failed} of at most ${retry + 1} failed. ${message}`;
  return { code, ...sentence(text) };
};

const LEASED_MESSAGES: Record<LeasedStatus, (agent: string) => string> = {
  assigned: (agent) => `It was handed to ${agent}, which has not started it yet.`,
  running: (agent) => `It runs on ${agent}.`,
  canceling: (agent) => `It was canceled; ${agent} is stopping it.`,
};

/**
 * Explains why a queued job waits, with each agent's reasons, or describes the state of a leased job. `pingedAt`
 * returns the last ping on an agent's socket.
 * @param cachedReasons each agent's reasons, if the caller already knows them
 */
export const explain = (
  state: PoolState,
  entry: JobEntry,
  context: DecisionContext,
  pingedAt: (agentId: string) => number,
  cachedReasons?: ReasonsByAgent,
): Explanation => {
  const { build, job } = entry;
  const { id: buildId, status } = job;
  const notQueued = { buildId, status, ahead: null, agents: [] };
  if (status !== "queued") {
    const name = (job.agentId && state.agents.get(job.agentId)?.name) ?? "an agent";
    const leased = status as LeasedStatus;
    return { ...notQueued, code: leased, ...sentence(LEASED_MESSAGES[leased](name)) };
  }
  if (awaitsApproval(build)) {
    const message = `Its commit waits for approval by a person with the role ${APPROVER}.`;
    return { ...notQueued, code: "gate", ...sentence(message) };
  }
  const reasons = cachedReasons ?? reasonsByAgent(state, job, context, pingedAt);
  const agents = [...reasons]
    .map(([agent, agentReasons]) => toView(agent, agentReasons))
    .sort((one, other) => one.codes.length - other.codes.length);
  const groups = groupWaits([...reasons.values()]).slice(0, GROUP_LIMIT);
  const ahead = state.queue.countAhead(entry);
  return {
    buildId,
    status,
    ...afterTries(job, explainWait(state, entry, agents, ahead, context)),
    ahead,
    requires: job.requires,
    groups,
    agents,
  };
};
