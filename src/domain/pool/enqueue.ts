import { LIMITS, withCommas } from "../../protocol/limits.ts";
import type { NewBuild } from "./commands.ts";
import {
  audit,
  type Decision,
  type DecisionContext,
  decided,
  notCompared,
  refused,
  unknownId,
  unknownToken,
} from "./decision.ts";
import type { BuildFacts, Change, JobFacts } from "./facts.ts";
import type { PoolState } from "./state.ts";

export interface Enqueued {
  buildId: string;
  /** False where an earlier call with the same id or idempotency key made the build. */
  isNew: boolean;
}

/** Adds a build to the queue and numbers it. Repeats of the call find the same build. */
export const enqueue = (state: PoolState, request: NewBuild, context: DecisionContext): Decision<Enqueued> => {
  const { now, rules } = context;
  const { idempotency, id, orgId, actor } = request;
  if (state.orgId !== null && state.orgId !== orgId) return unknownId();
  if (request.createdBy && !rules.mayRegister(state.revoked, request.createdBy.id)) return unknownToken();
  const earlier = idempotency && state.records.keyed(idempotency.caller, idempotency.key);
  if (earlier && rules.keyStands(earlier.at, now)) {
    if (earlier.bodyHash === idempotency.bodyHash) return repeated(state, earlier.buildId);
    return refused("idempotency-mismatch", "This Idempotency-Key was used for another request: use a new one.");
  }
  if (state.builds.has(id) || state.records.ended(id) || state.records.deletion(id)) return repeated(state, id);
  if (state.queue.size >= LIMITS.queuedBuilds) {
    return refused(
      "limit-reached",
      `${withCommas(LIMITS.queuedBuilds)} builds are queued already: wait until some of them have run.`,
    );
  }
  if (state.runValueCharacters + sizeOfInputs(request) > LIMITS.sealedInputsCharacters) {
    return refused(
      "limit-reached",
      "The active builds have too many values of their own: wait until some of them have run.",
    );
  }
  if (!rules.mayNumber(state.unchecked)) return notCompared();
  const build = newBuild(state, request, context);
  const changes: Change[] = [
    { kind: "build", build },
    { kind: "job", job: newJob(request) },
    ...runValuesOf(request, now),
    { kind: "number", repoId: build.repoId, number: build.number },
    ...rules.outbox(null, build, now),
    ...audit(actor, "build.create", id, { repoId: build.repoId, branch: build.branch, number: build.number }, context),
  ];
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

/** A run without values and keys of its own needs no row: a retry finds the rest in the build. */
const runValuesOf = (request: NewBuild, at: number): Change[] => {
  const { id, inputs, secretKeys, requires, priority } = request;
  if (inputs === null && secretKeys.length === 0) return [];
  return [{ kind: "inputs", buildId: id, runValues: { inputs, secretKeys, requires, priority }, at }];
};

const newBuild = (state: PoolState, request: NewBuild, { now, rules }: DecisionContext): BuildFacts => {
  const { id, repoId, pipelineId, pipelineVersion, branch, commitSha, trigger, priority, retryOf } = request;
  const { createdBy = null, origin, host } = request;
  return {
    id,
    repoId,
    pipelineId,
    pipelineVersion,
    branch,
    commitSha,
    trigger,
    priority,
    retryOf,
    createdBy,
    ...(origin && { origin }),
    ...(host && { host }),
    seq: state.seq + 1,
    number: rules.nextNumber(state.records, repoId),
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

const sizeOfInputs = ({ inputs, secretKeys }: NewBuild): number => (inputs?.length ?? 0) + secretKeys.join().length;

const newJob = (request: NewBuild): JobFacts => ({
  id: request.id,
  buildId: request.id,
  requires: request.requires,
  timeoutSeconds: request.timeoutSeconds,
  maxParallel: request.maxParallel,
  maxAttempts: request.maxAttempts,
  inputBytes: sizeOfInputs(request),
  attempt: 0,
  unstarted: 0,
  releasedBy: [],
  notBefore: 0,
  lease: null,
  fence: 0,
  agentId: null,
  result: null,
});
