import { nextDue } from "../../src/queue/commands/step.ts";
import type { AgentFacts } from "../../src/queue/state/agent-facts.ts";
import type { Push } from "../../src/queue/state/decision.ts";
import { BUILD_CHANNELS, type JobFacts } from "../../src/queue/state/facts.ts";
import type { PoolState } from "../../src/queue/state/state.ts";
import { isPaused } from "./check-pause.ts";
import { findsFreeSemaphores } from "./check-semaphores.ts";
import type { CheckContext } from "./observations.ts";
import { AGENT_MS, isEnded, isLeased, LEASE_GRID, OFFER_MS } from "./specification.ts";
import type { SimStorage } from "./storage.ts";
import { must } from "./violation.ts";

/** Reports whether the job came with a plan: its build began with another job. */
export const isPlanned = ({ id, buildId }: JobFacts): boolean => id !== buildId;

/** Reports whether the agent meets the requirements and has the features, by this second implementation. */
export const canRun = (agent: AgentFacts, job: JobFacts): boolean => {
  const { requires, features = [] } = job;
  const words = [...(isPlanned(job) ? (["jobs"] as const) : []), ...features];
  if (words.some((word) => !agent.features?.includes(word))) return false;
  const platform = { macos: 1, linux: 2, windows: 3, "": agent.platform }[requires.platform ?? ""];
  if (platform !== agent.platform) return false;
  if (requires.ios && !agent.canBuildIOS) return false;
  if (requires.android && !agent.canBuildAndroid) return false;
  if (requires.web && !agent.canBuildWeb) return false;
  for (const label of requires.labels ?? []) if (!agent.labels.includes(label)) return false;
  if (agent.labels.includes("untrusted") && !requires.labels?.includes("untrusted")) return false;
  const { xcode } = requires;
  if (xcode && !`,${agent.xcodes ?? ""}`.split(",").some((one) => `${one}.`.startsWith(`${xcode}.`))) return false;
  return true;
};

const isEligible = (
  state: PoolState,
  storage: SimStorage,
  agent: AgentFacts,
  job: JobFacts,
  now: number,
  countOffers: boolean,
): boolean =>
  job.status === "queued" &&
  state.builds.get(job.buildId)!.approval?.decision !== null &&
  job.notBefore <= now &&
  !job.releasedBy.includes(agent.id) &&
  !(job.passedOver?.agentId === agent.id && job.passedOver.until !== null) &&
  canRun(agent, job) &&
  findsFreeSemaphores(state, storage, job, countOffers);

/** Finds the next job for this agent by reading every job. */
export const firstEligible = (
  state: PoolState,
  storage: SimStorage,
  agent: AgentFacts,
  now: number,
): JobFacts | undefined => {
  let first: JobFacts | undefined;
  const priorityOf = ({ buildId }: JobFacts): number => state.builds.get(buildId)!.priority;
  for (const job of state.jobs.values()) {
    const isBefore =
      !first || priorityOf(job) > priorityOf(first) || (priorityOf(job) === priorityOf(first) && job.seq < first.seq);
    if (isBefore && isEligible(state, storage, agent, job, now, false)) first = job;
  }
  return first;
};

/** Checks the state after a call. `latest` is the latest time that the clock ever showed. */
export const checkState = (context: CheckContext, state: PoolState, latest: number, pushes: readonly Push[]): void => {
  const { storage } = context;
  const holders = new Set<string>();
  const due = nextDue(state, { agentMs: AGENT_MS });
  for (const [id, job] of state.jobs) {
    const { lease } = job;
    must(1, state.builds.has(job.buildId), "an ended build still has a job");
    must(
      1,
      isLeased(job.status) === (lease !== null),
      lease ? "a job that needs no lease has one" : "a job without lease",
    );
    const until = job.passedOver?.until ?? null;
    if (job.status === "queued" && until !== null)
      must(17, due !== null && due <= until, "no alarm for a build that waits for another agent");
    if (!lease) continue;
    must(1, !holders.has(lease.agentId), "an agent holds two builds");
    holders.add(lease.agentId);
    must(1, state.index.holding.get(lease.agentId) === id, "the index of holders is wrong");
    must(15, state.agents.has(lease.agentId), "a removed agent holds a lease");
    must(17, due !== null && due <= lease.expiresAt + LEASE_GRID, "no alarm for the end of a lease");
    if (lease.startedAt !== null && !lease.stop) {
      must(17, due <= lease.startedAt + job.timeoutSeconds * 1000 + LEASE_GRID, "no alarm for a timeout");
    }
  }
  must(1, state.index.holding.size === holders.size, "the index of holders has an entry without a lease");
  const { builds, told, audits, closes } = storage.rows;
  let untold = 0;
  for (const { id, status } of builds.values()) if (isEnded(status) && !told.has(id)) untold++;
  const unheard = new Set(BUILD_CHANNELS.flatMap((channel) => [...state.outbox[channel].due.keys()]));
  const untoldInMemory = [...unheard].filter((id) => !state.builds.has(id));
  must(16, untold === untoldInMemory.length, "the outbox differs between memory and storage");
  must(17, (unheard.size === 0 && audits.size === 0 && closes.size === 0) || due !== null, "no alarm for the outbox");
  checkWaiters(context, state, latest, pushes);
};

/** Each build that a waiting agent could claim has one hint, and no such agent waits without one. */
const checkWaiters = (
  { storage, observed: { pause }, call: { now } }: CheckContext,
  state: PoolState,
  latest: number,
  pushes: readonly Push[],
): void => {
  if (pushes.length > 1) {
    const looks = pushes.filter(({ hint }) => hint.type === "look");
    const hinted = new Set(looks.map(({ hint }) => hint.buildId));
    must(17, hinted.size === looks.length, "two agents got a hint for one build");
  }
  for (const { at } of state.offers.values())
    must(17, now < at + OFFER_MS, "a hint that no agent followed was not withdrawn");
  if (isPaused(pause, now)) {
    const due = nextDue(state, { agentMs: AGENT_MS });
    must(17, due !== null && due <= pause!.until, "no alarm for the end of a pause");
    return;
  }
  if (pause && state.offers.size > 0) return;
  for (const [agentId, waiter] of state.waiters) {
    const agent = state.agents.get(agentId);
    must(17, agent !== undefined, "an agent that was removed still waits");
    const isFree =
      !state.index.holding.has(agentId) &&
      !state.index.offered.has(agentId) &&
      !agent.isDraining &&
      agent.spentAt === null;
    const isAlert = (waiter.until === null || waiter.until > latest) && waiter.ignored < 2 && agent.ignored < 2;
    if (!isFree || !isAlert) continue;
    for (const job of state.jobs.values()) {
      must(
        17,
        state.offers.has(job.id) || !isEligible(state, storage, agent, job, now, true),
        "an agent waits without a hint although a build waits for it",
      );
    }
  }
};
