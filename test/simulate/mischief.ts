import type { SimAgent } from "./agent.ts";
import { ACTOR, ORG, type World } from "./world.ts";

/** What an agent under somebody else's control, or a caller of another organization, might try. */
export const mischief = (world: World, agents: readonly SimAgent[]): void => {
  const { chance, pool } = world;
  if (!world.strikes("hostile call", 1)) return;
  const buildId = world.builds.length > 0 && chance.odds(0.9) ? chance.pick(world.builds) : "nowhere";
  const holder = pool.disk.rows.jobs.get(buildId)?.agentId;
  const speaker = (chance.odds(0.5) && agents.find(({ id }) => id === holder)) || chance.pick(agents);
  const tokenHash = chance.odds(0.8) ? speaker.speaker.tokenHash : chance.pick(agents).speaker.tokenHash;
  const known = pool.disk.rows.jobs.get(buildId)?.fence ?? 0;
  const fence = chance.pick([known, known, known - 1, known + 1, 0, chance.below(1_000_000)]);
  const about = { agentId: speaker.id, tokenHash, buildId, fence };
  const tricks: (() => unknown)[] = [
    () => world.tell("start", about),
    () => world.tell("heartbeat", { ...about, bootId: speaker.boot }),
    () => world.tell("progress", { ...about, summary: "mine" }),
    () => world.tell("finish", { ...about, status: chance.pick(["succeeded", "failed", "canceled"]), exitCode: 0 }),
    () => world.tell("finish", { ...about, fence: known, status: chance.pick(["succeeded", "failed"]), exitCode: 0 }),
    () => world.tell("release", { ...about, reason: "no", interrupted: chance.odds(0.5) }),
    () => world.tell("release", { ...about, reason: "no", elsewhere: true }),
    () => world.tell("registerAgent", { ...foreignAgent(world), orgId: ORG, ...byRevoked(world) }),
    () => world.tell("deliver", { buildId, fence, agentId: speaker.id, environment: [] }),
    () => world.tell("unclaim", { buildId, fence: fence - 1, notBefore: world.now }),
    () => world.tell("claim", { agentId: speaker.id, tokenHash, bootId: chance.pick([speaker.boot, null, "boot0"]) }),
    () => world.tell("registerAgent", foreignAgent(world)),
    () => world.tell("enqueue", foreignBuild(world)),
    () => world.tell("flagLeak", { buildId, fence }),
  ];
  chance.pick(tricks)();
};

const byRevoked = ({ pool }: World) => {
  const tokenId = [...pool.disk.rows.revoked.keys()].at(-1) ?? "nowhere";
  return { registeredBy: tokenId === "nowhere" ? null : { tokenId, kind: "registration" as const, name: "r" } };
};

const foreignAgent = (world: World) => {
  const id = world.id("f");
  const skills = { platform: 2, canBuildIOS: true, canBuildAndroid: true, canBuildWeb: true };
  return { id, orgId: "other", name: id, tokenHash: `hash of ${id}`, actor: ACTOR, ...skills };
};

const foreignBuild = (world: World) => ({
  ...{ id: world.id("f"), orgId: "other", repoId: "r1", pipelineId: "p1", pipelineVersion: 1, branch: "main" },
  ...{ commitSha: null, trigger: "api" as const, priority: 0, requires: {}, timeoutSeconds: 60, maxParallel: null },
  ...{ maxAttempts: 1, inputs: null, secretKeys: [], retryOf: null, idempotency: null, actor: ACTOR },
});
