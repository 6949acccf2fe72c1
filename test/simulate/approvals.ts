import { ACTOR, type Simulator } from "./simulator.ts";
import { isEnded } from "./specification.ts";
import { request } from "./triggers.ts";

/** Somebody answers for a waiting commit, or for another build. They may lack the permission. */
export const approveHeld = (simulator: Simulator): void => {
  const { random, pool, isHealing, hasForks } = simulator;
  if (!hasForks) return;
  const asked = [...pool.storage.rows.builds.values()].filter(({ approval }) => approval);
  const waiting = asked.filter(({ approval, status }) => !approval!.decision && !isEnded(status));
  if (isHealing ? waiting.length === 0 : asked.length === 0) return;
  const build = waiting.length > 0 && (isHealing || random.chance(0.8)) ? random.pick(waiting) : random.pick(asked);
  const isOther = !isHealing && random.chance(0.1);
  simulator.request("decideGate", {
    id: build.id,
    approved: random.chance(0.75),
    comment: null,
    role: isHealing ? "admin" : random.pick(["viewer", "member", "member", "maintainer"]),
    name: "somebody",
    commitSha: isOther ? "another" : random.chance(0.5) ? build.commitSha : null,
    actor: ACTOR,
  });
};

/** Somebody rebuilds a stranger's build, and the pool or the service knows the author of the code. */
export const retryStranger = (simulator: Simulator): void => {
  const { random, pool, pipelines, database } = simulator;
  const ended = [...pool.storage.rows.builds.values()].filter(
    ({ id, status, trust }) => trust && isEnded(status) && !database.erased.has(id),
  );
  if (ended.length === 0 || simulator.builds.length > 12) return;
  const { id: retryOf, pipelineId, branch, commitSha, trust } = random.pick(ended);
  const isKnown = pool.state.records.ended(retryOf) !== undefined;
  const answer = simulator.request("enqueue", {
    ...request(simulator.newId("b"), pipelines.find(({ id }) => id === pipelineId)!),
    ...{ trigger: "retry", retryOf, branch, commitSha },
    ...(isKnown && random.chance(0.5) ? {} : { trust, needsApproval: true }),
  });
  if (answer?.ok && !simulator.builds.includes(answer.value.buildId)) simulator.builds.push(answer.value.buildId);
};
