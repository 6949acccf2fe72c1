import type { SimAgent } from "./agent.ts";
import { ACTOR, ORG, type Simulator } from "./simulator.ts";

/** What an agent under somebody else's control, or a caller of another organization, might try. */
export const hostileCall = (simulator: Simulator, agents: readonly SimAgent[]): void => {
  const { random, pool } = simulator;
  if (!simulator.injectFault("hostile call", 1)) return;
  const buildId = simulator.builds.length > 0 && random.chance(0.9) ? random.pick(simulator.builds) : "nowhere";
  const holder = pool.storage.rows.jobs.get(buildId)?.agentId;
  const speaker = (random.chance(0.5) && agents.find(({ id }) => id === holder)) || random.pick(agents);
  const tokenHash = random.chance(0.8) ? speaker.caller.tokenHash : random.pick(agents).caller.tokenHash;
  const known = pool.storage.rows.jobs.get(buildId)?.fence ?? 0;
  const fence = random.pick([known, known, known - 1, known + 1, 0, random.below(1_000_000)]);
  const about = { agentId: speaker.id, tokenHash, buildId, fence };
  const tricks: (() => unknown)[] = [
    () => simulator.call("start", about),
    () => simulator.call("heartbeat", { ...about, bootId: speaker.boot }),
    () => simulator.call("progress", { ...about, summary: "mine" }),
    () => simulator.call("finish", { ...about, status: random.pick(["succeeded", "failed", "canceled"]), exitCode: 0 }),
    () =>
      simulator.call("finish", { ...about, fence: known, status: random.pick(["succeeded", "failed"]), exitCode: 0 }),
    () => simulator.call("release", { ...about, reason: "no", interrupted: random.chance(0.5) }),
    () => simulator.call("release", { ...about, reason: "no", elsewhere: true }),
    () => simulator.call("registerAgent", { ...foreignAgent(simulator), orgId: ORG, ...byRevoked(simulator) }),
    () => simulator.call("deliver", { buildId, fence, agentId: speaker.id, environment: [] }),
    () => simulator.call("unclaim", { buildId, fence: fence - 1, notBefore: simulator.now }),
    () =>
      simulator.call("claim", { agentId: speaker.id, tokenHash, bootId: random.pick([speaker.boot, null, "boot0"]) }),
    () => simulator.call("registerAgent", foreignAgent(simulator)),
    () => simulator.call("enqueue", foreignBuild(simulator)),
    () => simulator.call("flagLeak", { buildId, fence }),
  ];
  random.pick(tricks)();
};

const byRevoked = ({ pool }: Simulator) => {
  const tokenId = [...pool.storage.rows.revoked.keys()].at(-1) ?? "nowhere";
  return { registeredBy: tokenId === "nowhere" ? null : { tokenId, kind: "registration" as const, name: "r" } };
};

const foreignAgent = (simulator: Simulator) => {
  const id = simulator.id("f");
  const skills = { platform: 2, canBuildIOS: true, canBuildAndroid: true, canBuildWeb: true };
  return { id, orgId: "other", name: id, tokenHash: `hash of ${id}`, actor: ACTOR, ...skills };
};

const foreignBuild = (simulator: Simulator) => ({
  ...{ id: simulator.id("f"), orgId: "other", repoId: "r1", pipelineId: "p1", pipelineVersion: 1, branch: "main" },
  ...{ commitSha: null, trigger: "api" as const, priority: 0, requires: {}, timeoutSeconds: 60, maxParallel: null },
  ...{ maxAttempts: 1, inputs: null, secretKeys: [], retryOf: null, idempotency: null, actor: ACTOR },
});
