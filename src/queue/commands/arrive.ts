import { refOf } from "../../domain/git-ref.ts";
import type { BuildOrigin } from "../../githosts/core/build-origin.ts";
import { type EndedRef, MERGE_QUEUE } from "../../githosts/core/effect-facts.ts";
import { isQueued } from "../../protocol/build-states.ts";
import { dayProblem } from "../state/counts.ts";
import {
  type Decision,
  type DecisionContext,
  decided,
  notCompared,
  patchBuild,
  unknownId,
  unknownToken,
} from "../state/decision.ts";
import type { BuildFacts, Change } from "../state/facts.ts";
import type { PoolState } from "../state/state.ts";
import { type Cancellation, cancelBuild } from "./cancel.ts";
import type { Actor, DeliveredBuild, DeliveryRequest, DeliveryResult, RequestedBuild } from "./commands.ts";
import { type Added, addBuild, isKnown, queueProblem, sizeOfInputs } from "./enqueue.ts";
import { HEAD_MS, type Head, type HeadKey, learn, madeAgain, olderThanNewest, place, remember } from "./heads.ts";

/** Processes a git host's delivery. Creates builds, each of them once, and cancels builds that are no longer needed. */
export const arrive = (
  state: PoolState,
  request: DeliveryRequest,
  context: DecisionContext,
): Decision<DeliveryResult> => {
  const { now } = context;
  const { orgId, connectionId, deliveryId } = request;
  if (state.orgId !== null && state.orgId !== orgId) return unknownId();
  if (request.hook !== null && state.revoked.has(request.hook)) return unknownToken();
  const earlierDelivery = state.records.delivery(connectionId, deliveryId);
  if (earlierDelivery && now < earlierDelivery.at + HEAD_MS)
    return decided({ ...earlierDelivery.arrived, isRepeat: true });
  if (state.unchecked !== null) return notCompared();
  const delivery = new DeliveryInProgress(state, request.actor, context);
  for (const endedRef of request.ended) delivery.end(endedRef);
  const builds = request.builds.map((build) => delivery.take(build));
  const result: DeliveryResult = { builds, canceled: [...delivery.canceled], isRepeat: false };
  const isRefused = builds.some(({ outcome }) => outcome === "refused");
  const changes: Change[] = [...delivery.changes, ...delivery.headChanges()];
  if (state.orgId === null) changes.push({ kind: "org", orgId });
  if (!isRefused) changes.push({ kind: "delivery", connectionId, deliveryId, known: { arrived: result, at: now } });
  return decided(result, changes);
};

const PURPOSES = ["build", "read-file"] as const;

/** Returns the message that people see on the builds of a deleted ref. */
const goneMessage = (ref: string): string => {
  if (ref.startsWith(refOf(MERGE_QUEUE))) return "The merge queue no longer needs it: it was merged or dropped.";
  return `The ${ref.startsWith("refs/tags/") ? "tag" : "branch"} was deleted.`;
};

/** One delivery during its decisions. Its earlier changes count for its later decisions. */
class DeliveryInProgress {
  readonly changes: Change[] = [];
  readonly canceled = new Set<string>();
  readonly #state: PoolState;
  readonly #actor: Actor;
  readonly #context: DecisionContext;
  readonly #added: Added = { builds: 0, runValueCharacters: 0 };
  readonly #addedByRepository = new Map<string, number>();
  readonly #heads = new Map<string, { key: HeadKey; heads: readonly Head[]; stored: readonly Head[] }>();

  constructor(state: PoolState, actor: Actor, context: DecisionContext) {
    this.#state = state;
    this.#actor = actor;
    this.#context = context;
  }

  /** Cancels builds of a deleted ref, or of a closed pull request. */
  end({ pipelineId, ref, pull, sha = null }: EndedRef): void {
    const sparedBuilds = this.#madeAgain(pipelineId, ref, sha);
    const endedBuilds = [...this.#state.builds.values()].filter(
      ({ id, pipelineId: own, branch, origin }) =>
        own === pipelineId &&
        refOf(branch) === ref &&
        origin &&
        (pull === null || origin.pull?.number === pull) &&
        !sparedBuilds.has(id),
    );
    const message = pull === null ? goneMessage(ref) : "The pull request was closed.";
    for (const build of endedBuilds) this.#cancel(build.id, { message, supersededBy: null });
    for (const purpose of PURPOSES) {
      const record = this.#readHeads({ pipelineId, ref, purpose });
      // A reopened pull request builds its head again.
      const remaining = record.heads.filter(({ buildId }) =>
        pull === null ? buildId !== null && sparedBuilds.has(buildId) : !endedBuilds.some(({ id }) => id === buildId),
      );
      if (remaining.length < record.heads.length) record.heads = remaining;
    }
  }

  /** Returns the builds of a ref that somebody created again before the notice of its deletion arrived. */
  #madeAgain(pipelineId: string, ref: string, sha: string | null): Set<string | null> {
    const heads = PURPOSES.flatMap((purpose) => madeAgain(this.#readHeads({ pipelineId, ref, purpose }).heads, sha));
    return new Set(heads.map(({ buildId }) => buildId));
  }

  /** Decides about one build. */
  take(request: RequestedBuild): DeliveredBuild {
    const { now } = this.#context;
    const { id, pipelineId, branch, commitSha, origin, supersedes } = request;
    const answer = (outcome: DeliveredBuild["outcome"], buildId: string | null): DeliveredBuild => {
      return { buildId, pipelineId, outcome };
    };
    if (isKnown(this.#state, id)) return answer("same", id);
    const record = this.#readHeads({ pipelineId, ref: refOf(branch), purpose: origin.purpose });
    const pushedHead = { sha: commitSha, before: origin.before };
    const position = place(record.heads, pushedHead);
    if (position.kind === "new") {
      const problem =
        dayProblem(this.#state, this.#added.builds, this.#context) ??
        queueProblem(this.#state, request, this.#added, this.#context);
      if (problem) return { ...answer("refused", null), reason: problem };
      const { number } = this.#make(request);
      record.heads = remember(record.heads, { ...pushedHead, buildId: id, number, at: now });
      if (supersedes && position.isCertain) this.#supersede(record.heads, pushedHead.sha, branch);
      return answer("made", id);
    }
    const learnedHeads = learn(record.heads, pushedHead, now);
    if (learnedHeads !== record.heads) {
      record.heads = learnedHeads;
      if (supersedes) this.#supersede(learnedHeads, pushedHead.sha, branch);
    }
    const buildId = position.kind === "same" ? position.head.buildId : null;
    if (buildId === null) return answer("late", null);
    this.#adopt(buildId, origin);
    return answer("same", buildId);
  }

  /** Returns the changed heads, which the pool must store. */
  headChanges(): Change[] {
    return [...this.#heads.values()]
      .filter(({ heads, stored }) => heads !== stored)
      .map(({ key, heads }) => ({ kind: "heads", key, heads, at: this.#context.now }));
  }

  #readHeads(key: HeadKey) {
    const name = JSON.stringify([key.pipelineId, key.ref, key.purpose]);
    const cached = this.#heads.get(name);
    if (cached) return cached;
    const oldest = this.#context.now - HEAD_MS;
    const storedHeads = this.#state.records.heads(key).filter(({ at }) => at > oldest);
    const record = { key, heads: storedHeads, stored: storedHeads };
    this.#heads.set(name, record);
    return record;
  }

  #make(request: RequestedBuild): BuildFacts {
    const { repoId } = request;
    const inRepository = (this.#addedByRepository.get(repoId) ?? 0) + 1;
    const { build, changes } = addBuild(
      this.#state,
      request,
      { inPool: ++this.#added.builds, inRepository },
      this.#context,
    );
    this.#addedByRepository.set(repoId, inRepository);
    this.#added.runValueCharacters += sizeOfInputs(request);
    this.changes.push(...changes);
    return build;
  }

  /** Assigns an active build to the pull request for which the build's head arrives. */
  #adopt(buildId: string, newOrigin: BuildOrigin): void {
    const build = this.#state.builds.get(buildId);
    const origin = build && !this.canceled.has(buildId) ? withPull(build, newOrigin) : null;
    if (build && origin) this.changes.push(...patchBuild(build, { origin }, this.#context));
  }

  #supersede(heads: readonly Head[], sha: string, branch: string): void {
    const line = olderThanNewest(heads, { sha });
    if (!line) return;
    const { newest, older } = line;
    const message = `A newer commit on ${branch} took its place: build ${newest.number}.`;
    for (const { buildId } of older) {
      if (buildId !== null && buildId !== newest.buildId)
        this.#cancel(buildId, { message, supersededBy: newest.buildId });
    }
  }

  #cancel(buildId: string, why: Cancellation): void {
    const build = this.#state.builds.get(buildId);
    // Only a person can end the clean-up time of a canceled build's jobs early.
    if (!build || build.cancel || this.canceled.has(buildId)) return;
    this.canceled.add(buildId);
    this.changes.push(...cancelBuild(build, why, this.#actor, this.#context));
  }
}

/**
 * Returns an active build's origin after its head also arrives for a pull request, or null if that changes nothing. A
 * build that no agent has begun changes as if the pull request had arrived first. A build that has begun continues
 * unchanged, and belongs to the pull request.
 */
const withPull = ({ origin, status, until }: BuildFacts, { event, pull, paths }: BuildOrigin): BuildOrigin | null => {
  if (!origin || !pull || origin.event !== "push") return null;
  if (event === "pull" && isQueued(status) && until === null) return { ...origin, event, pull, paths };
  return origin.pull ? null : { ...origin, pull };
};
