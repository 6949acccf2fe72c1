import { LIMITS, withCommas } from "../../protocol/limits.ts";
import type { NewBuild } from "./commands.ts";
import { audit, type Decision, type DecisionContext, decided, noBuild, refused } from "./decision.ts";
import type { BuildFacts, Change, JobFacts } from "./facts.ts";
import type { PoolState } from "./state.ts";

export interface Enqueued {
  buildId: string;
  /** False where this call, or another with its idempotency key, had made it already. */
  isNew: boolean;
}

/** A build is born: it has its number, waits in the queue, and is the only one of its idempotency key. */
export const enqueue = (state: PoolState, wanted: NewBuild, context: DecisionContext): Decision<Enqueued> => {
  const { now, rules } = context;
  const { idempotency, id, orgId, actor } = wanted;
  if (state.orgId !== null && state.orgId !== orgId) return noBuild();
  const known = idempotency && state.records.keyed(idempotency.caller, idempotency.key);
  if (known && rules.keyStands(known.at, now)) {
    if (known.bodyHash === idempotency.bodyHash) return decided({ buildId: known.buildId, isNew: false });
    return refused("idempotency-mismatch", "This Idempotency-Key was used for another request: use a new one.");
  }
  if (state.builds.has(id) || state.records.ended(id)) return decided({ buildId: id, isNew: false });
  if (state.queue.size >= LIMITS.queuedBuilds) {
    return refused(
      "limit-reached",
      `${withCommas(LIMITS.queuedBuilds)} builds are waiting: let some of them run first.`,
    );
  }
  if (state.inputBytes + sizeOfInputs(wanted) > LIMITS.sealedInputsCharacters) {
    return refused("limit-reached", "The builds that wait were given too much together: let some of them run first.");
  }
  const build = newBuild(state, wanted, context);
  const { inputs, secretKeys, requires, priority } = wanted;
  const changes: Change[] = [
    { kind: "build", build },
    { kind: "job", job: newJob(wanted) },
    { kind: "inputs", buildId: id, inputs: { inputs, secretKeys, requires, priority }, at: now },
    { kind: "number", repoId: build.repoId, number: build.number },
    ...rules.outbox(build, now),
    ...audit(actor, "build.create", id, { repoId: build.repoId, branch: build.branch, number: build.number }, context),
  ];
  if (state.orgId === null) changes.push({ kind: "org", orgId });
  if (idempotency) {
    const { caller, key, bodyHash } = idempotency;
    changes.push({ kind: "key", caller, key, keyed: { buildId: id, bodyHash, at: now } });
  }
  return decided({ buildId: id, isNew: true }, changes);
};

const newBuild = (state: PoolState, wanted: NewBuild, { now, rules }: DecisionContext): BuildFacts => {
  const { id, repoId, pipelineId, pipelineVersion, branch, commitSha, trigger, priority, retryOf } = wanted;
  const { createdBy = null } = wanted;
  return {
    ...{ id, repoId, pipelineId, pipelineVersion, branch, commitSha, trigger, priority, retryOf, createdBy },
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

const newJob = (wanted: NewBuild): JobFacts => ({
  buildId: wanted.id,
  requires: wanted.requires,
  timeoutSeconds: wanted.timeoutSeconds,
  maxParallel: wanted.maxParallel,
  maxAttempts: wanted.maxAttempts,
  inputBytes: sizeOfInputs(wanted),
  attempt: 0,
  unstarted: 0,
  releasedBy: [],
  notBefore: 0,
  lease: null,
  fence: 0,
  agentId: null,
  result: null,
});
