import { dayProblem, secondsUntilTomorrow } from "../state/day.ts";
import {
  type Decision,
  type DecisionContext,
  decided,
  notCompared,
  refused,
  unknownId,
  unknownToken,
} from "../state/decision.ts";
import type { Change } from "../state/facts.ts";
import { REMEMBER_MS } from "../state/rules.ts";
import type { PoolState } from "../state/state.ts";
import type { NewBuild } from "./commands.ts";
import { addBuild, isKnown, queueProblem } from "./new-build.ts";

interface Enqueued {
  buildId: string;
  /** False where an earlier call with the same id or idempotency key made the build. */
  isNew: boolean;
}

/** Adds a build to the queue and numbers it. Repeats of the call find the same build. */
export const enqueue = (state: PoolState, request: NewBuild, context: DecisionContext): Decision<Enqueued> => {
  const { now } = context;
  const { idempotency, id, orgId } = request;
  if (state.orgId !== null && state.orgId !== orgId) return unknownId();
  if (request.createdBy && state.revoked.has(request.createdBy.id)) return unknownToken();
  const earlier = idempotency && state.records.keyed(idempotency.caller, idempotency.key);
  if (earlier && now < earlier.at + REMEMBER_MS) {
    if (earlier.bodyHash === idempotency.bodyHash) return repeated(state, earlier.buildId);
    return refused("idempotency-mismatch", "This Idempotency-Key was used for another request: use a new one.");
  }
  if (isKnown(state, id)) return repeated(state, id);
  const ofDay = dayProblem(state, 0, context);
  if (ofDay !== null) return refused("limit-reached", ofDay, secondsUntilTomorrow(now));
  const problem = queueProblem(state, request, { builds: 0, runValueCharacters: 0 }, context);
  if (problem) return refused("limit-reached", problem);
  if (state.unchecked !== null) return notCompared();
  const changes: Change[] = addBuild(state, request, { inPool: 1, inRepository: 1 }, context).changes;
  if (state.orgId === null) changes.push({ kind: "org", orgId });
  if (idempotency) {
    const { caller, key, bodyHash } = idempotency;
    changes.push({ kind: "key", caller, key, keyed: { buildId: id, bodyHash, at: now } });
  }
  return decided({ buildId: id, isNew: true }, changes);
};

const repeated = (state: PoolState, buildId: string): Decision<Enqueued> =>
  state.records.deletion(buildId)?.deleted === "build"
    ? refused("conflict", "The build of this request was deleted: trigger a new one, with another Idempotency-Key.")
    : decided({ buildId, isNew: false });
