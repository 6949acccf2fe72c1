import { branchOf } from "../../src/domain/git-ref.ts";
import type { DeliveryRequest, DeliveryResult, Result } from "../../src/queue/commands/commands.ts";
import { HOST_OF, type Pipeline } from "./pipeline.ts";
import type { OnWay, SimArriving } from "./repository.ts";
import { ORG, type Simulator } from "./simulator.ts";
import { isOfFork, pullOf, sourceOf } from "./strangers.ts";

const ACTOR = { actor: "connection:c", requestId: null };

/** The next delivery arrives. Its host repeats one that was not answered, or not carried out in full, or gives up. */
export const arriveNext = (simulator: Simulator): void => {
  const { repository, random, isHealing } = simulator;
  const delivery = repository.next();
  if (!delivery) return;
  const input = requestOf(simulator, delivery);
  const answer = isHealing ? simulator.call("arrive", input) : simulator.request("arrive", input);
  noteBuilds(simulator, delivery, answer);
  const isDone = answer?.ok && answer.value.builds.every(({ outcome }) => outcome !== "refused");
  if (isDone) return;
  if (isHealing || answer || random.chance(0.6)) repository.onWay.push(delivery);
  else repository.tear(delivery);
};

const requestOf = (simulator: Simulator, delivery: OnWay): DeliveryRequest => {
  const { push, ref, pipelines } = delivery;
  const ended = push ? [] : pipelines.map(({ id }) => ({ pipelineId: id, ref, pull: null }));
  const builds = push ? pipelines.map((pipeline) => buildOf(simulator, pipeline, delivery)) : [];
  return { orgId: ORG, connectionId: "c", deliveryId: delivery.id, hook: null, builds, ended, actor: ACTOR };
};

const buildOf = (simulator: Simulator, { platform, ...pipeline }: Pipeline, delivery: OnWay): SimArriving => {
  const push = delivery.push!;
  const origin = { ...pullOf(push), before: delivery.before, commit: null };
  return {
    id: simulator.newId("b"),
    orgId: ORG,
    repoId: pipeline.repoId,
    pipelineId: pipeline.id,
    pipelineVersion: 1,
    branch: branchOf(push.ref),
    commitSha: push.sha,
    trigger: "api",
    priority: 0,
    requires: { platform },
    timeoutSeconds: pipeline.timeoutSeconds,
    maxParallel: pipeline.maxParallel,
    maxAttempts: pipeline.maxAttempts,
    inputs: null,
    secretKeys: [],
    retryOf: null,
    origin: { ...origin, schedule: null, paths: null, purpose: "build" },
    host: HOST_OF(pipeline.id),
    idempotency: null,
    actor: ACTOR,
    supersedes: pipeline.supersedes || isOfFork(push),
    ...sourceOf(push),
    push,
    history: simulator.repository.refs.get(push.ref)!.history,
  };
};

/** Remembers the created builds, and whether a ref's deletion arrived after the ref was created again. */
const noteBuilds = (simulator: Simulator, delivery: OnWay, answer: Result<DeliveryResult> | undefined): void => {
  const { builds, repository } = simulator;
  const { life, history } = repository.refs.get(delivery.ref)!;
  if (!delivery.push && history.some((push) => push.life > delivery.life)) repository.tear({ ref: delivery.ref, life });
  if (!answer?.ok) return;
  for (const { buildId, outcome } of answer.value.builds)
    if (outcome === "made" && buildId && !builds.includes(buildId)) builds.push(buildId);
};
