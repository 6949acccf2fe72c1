import type { DecisionContext } from "../state/decision.ts";
import type { JobFacts } from "../state/facts.ts";
import type { PoolState } from "../state/state.ts";
import { explain, type ReasonsByAgent, reasonsByAgent } from "./explain.ts";
import { queuedJob } from "./explain-jobs.ts";

/** Different needs for which all agents are looked at: builds that need yet another thing are left out. */
const MOST_NEEDS = 10;

/** Jobs with the same one wait for the same agents. */
const needOf = ({ requires, features = [], releasedBy, passedOver }: JobFacts): string =>
  JSON.stringify([requires, features, releasedBy, passedOver ?? null]);

/** Why each of these builds waits, in a sentence, by its id. Only of those that wait in the queue. */
export const explainEach = (
  state: PoolState,
  buildIds: readonly string[],
  context: DecisionContext,
  pingedAt: (agentId: string) => number,
): Map<string, string> => {
  const known = new Map<string, ReasonsByAgent>();
  const said = new Map<string, string>();
  for (const id of buildIds) {
    const queued = queuedJob(state, id);
    if (!queued) continue;
    const need = needOf(queued.job);
    if (!known.has(need) && known.size >= MOST_NEEDS) continue;
    const reasons = known.get(need) ?? reasonsByAgent(state, queued.job, context, pingedAt);
    known.set(need, reasons);
    said.set(id, explain(state, queued, context, pingedAt, reasons).message);
  }
  return said;
};
