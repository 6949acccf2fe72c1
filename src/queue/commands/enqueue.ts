import { buildPart } from "../../protocol/build.ts";
import { LIMITS, withCommas } from "../../protocol/limits.ts";
import { builtToday, dayProblem, secondsUntilTomorrow } from "../state/counts.ts";
import {
  audit,
  type Decision,
  type DecisionContext,
  decided,
  notCompared,
  refused,
  unknownId,
  unknownToken,
} from "../state/decision.ts";
import type { BuildFacts, Change } from "../state/facts.ts";
import { REMEMBER_MS } from "../state/rules.ts";
import type { PoolState } from "../state/state.ts";
import { confined, trustOf } from "../state/trust.ts";
import type { NewBuild } from "./commands.ts";
import { APPROVAL_MS, approvalProblem } from "./gates.ts";
import { addGraph, countWaiting, endOfPlanned, firstJob } from "./plan.ts";

interface Enqueued {
  buildId: string;
  /** Whether this call created the build. False if an earlier call with the same id or idempotency key created it. */
  isNew: boolean;
}

/** Adds a build to the queue and gives it a number. Repeated calls find the same build. */
export const enqueue = (state: PoolState, request: NewBuild, context: DecisionContext): Decision<Enqueued> => {
  const { now } = context;
  const { idempotency, id, orgId } = request;
  if (state.orgId !== null && state.orgId !== orgId) return unknownId();
  if (request.createdBy && state.revoked.has(request.createdBy.id)) return unknownToken();
  const earlierBuild = idempotency && state.records.keyed(idempotency.caller, idempotency.key);
  if (earlierBuild && now < earlierBuild.at + REMEMBER_MS) {
    if (earlierBuild.bodyHash === idempotency.bodyHash) return repeated(state, earlierBuild.buildId);
    return refused("idempotency-mismatch", "This Idempotency-Key was used for another request: use a new one.");
  }
  if (isKnown(state, id)) return repeated(state, id);
  const problemOfDay = dayProblem(state, 0, context);
  if (problemOfDay !== null) return refused("limit-reached", problemOfDay, secondsUntilTomorrow(now));
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

/** The additions that the same decision has already made to the queue. */
export interface Added {
  builds: number;
  runValueCharacters: number;
}

/** Returns why the queue rejects the build, or null if it accepts the build. */
export const queueProblem = (
  state: PoolState,
  request: NewBuild,
  added: Added,
  { maxQueued }: DecisionContext,
): string | null => {
  const problem = request.needsApproval ? approvalProblem(state, request.repoId, added.builds) : null;
  if (problem !== null) return problem;
  if (countWaiting(state) + added.builds + (request.planned?.graph.jobs.length ?? 1) > maxQueued)
    return `${withCommas(maxQueued)} jobs are already waiting: wait until some of them have run.`;
  const characters = state.runValueCharacters + added.runValueCharacters + sizeOfInputs(request);
  return characters > LIMITS.sealedInputsCharacters
    ? "The values of all active builds together are too large: wait until some of them have run."
    : null;
};

/** Reports whether the pool has, had or deleted the build with this id. */
export const isKnown = ({ builds, records }: PoolState, id: string): boolean =>
  builds.has(id) || records.ended(id) !== undefined || records.deletion(id) !== undefined;

/** Returns a build and the changes that add it to the queue. `nth` is its position in the same decision. */
export const addBuild = (
  state: PoolState,
  request: NewBuild,
  nth: { inPool: number; inRepository: number },
  context: DecisionContext,
): { build: BuildFacts; changes: Change[] } => {
  const { now, rules } = context;
  const { id, repoId, branch, actor, planned } = request;
  const number = state.records.lastNumber(repoId) + nth.inRepository;
  const build: BuildFacts = {
    ...newFacts(request, state, context),
    seq: state.seq + nth.inPool,
    number,
    ofDay: builtToday(state, now) + nth.inPool,
  };
  const changes: Change[] = [
    { kind: "build", build },
    ...(planned
      ? addGraph(build, planned)
      : [{ kind: "job", job: confined(firstJob(request, build), build) } as const]),
    ...runValueChanges(request, now),
    { kind: "number", repoId, number },
    { kind: "due", channel: "lists", buildId: build.id, at: now },
    ...rules.hostOutbox(build, now),
    ...audit(actor, "build.create", id, { repoId, branch, number, ...jobsIn(planned) }, context),
  ];
  return { build, changes };
};

const jobsIn = (planned: NewBuild["planned"]) => (planned ? { jobs: planned.graph.jobs.length } : {});

/**
 * Stores the run's values. A run without values and keys of its own needs no row, because a retry finds the rest in the
 * build.
 */
const runValueChanges = (request: NewBuild, at: number): Change[] => {
  const { id, inputs, secretKeys, requires, priority } = request;
  if (inputs === null && secretKeys.length === 0) return [];
  return [{ kind: "inputs", buildId: id, runValues: { inputs, secretKeys, requires, priority }, at }];
};

const newFacts = (
  request: NewBuild,
  { records, builds }: PoolState,
  { now, rules }: DecisionContext,
): Omit<BuildFacts, "seq" | "number" | "ofDay"> => {
  const { pipelineVersion, retryOf, origin, host } = request;
  const retriedBuild = retryOf === null ? undefined : (builds.get(retryOf) ?? records.ended(retryOf));
  const trust = trustOf(request.trust ? request : (retriedBuild ?? {}));
  const isHeld = trust === "untrusted" && (request.needsApproval || retryOf !== null);
  return {
    ...buildPart("request", request),
    pipelineVersion,
    ...(origin && { origin }),
    ...(host && { host }),
    ...(trust === "untrusted" && { trust }),
    ...(isHeld && { approval: { since: now, until: now + APPROVAL_MS, decision: null } }),
    requires: request.requires,
    maxParallel: request.maxParallel,
    maxAttempts: request.maxAttempts,
    inputBytes: sizeOfInputs(request),
    until: request.planned ? endOfPlanned(now) : null,
    holdsPlace: false,
    cancel: null,
    status: "queued",
    exitCode: null,
    reason: null,
    leak: false,
    queuedAt: now,
    startedAt: null,
    finishedAt: null,
    version: rules.nextVersion(0, now),
  };
};

export const sizeOfInputs = ({ inputs, secretKeys }: NewBuild): number =>
  (inputs?.length ?? 0) + secretKeys.join().length;
