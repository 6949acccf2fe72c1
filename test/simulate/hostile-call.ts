import type { LeaseHolder } from "../../src/queue/commands/commands.ts";
import type { SimAgent } from "./agent.ts";
import { ACTOR, ORG, type Simulator } from "./simulator.ts";

/** Makes one call as an attacker with an agent's token, or with a token of another organization, might. */
export const hostileCall = (simulator: Simulator, agents: readonly SimAgent[]): void => {
  const { random, pool } = simulator;
  if (!simulator.injectFault("hostile call", 1)) return;
  const jobs = simulator.hasJobs && random.chance(0.6) ? [...pool.storage.rows.jobs.keys()] : [];
  const ids = jobs.length > 0 ? jobs : simulator.builds;
  const jobId = ids.length > 0 && random.chance(0.9) ? random.pick(ids) : "nowhere";
  const holder = pool.storage.rows.jobs.get(jobId)?.agentId;
  const attacker = (random.chance(0.5) && agents.find(({ id }) => id === holder)) || random.pick(agents);
  const tokenHash = random.chance(0.8) ? attacker.caller.tokenHash : random.pick(agents).caller.tokenHash;
  const currentFence = pool.storage.rows.jobs.get(jobId)?.fence ?? 0;
  const fence = random.pick([
    currentFence,
    currentFence,
    currentFence - 1,
    currentFence + 1,
    0,
    random.below(1_000_000),
  ]);
  const lease = { agentId: attacker.id, tokenHash, jobId, fence };
  const attempts: (() => unknown)[] = [
    () => simulator.call("start", lease),
    () => simulator.call("heartbeat", { ...lease, bootId: attacker.boot }),
    () => simulator.call("progress", { ...lease, summary: "mine" }),
    () => simulator.call("finish", { ...lease, status: random.pick(["succeeded", "failed", "canceled"]), exitCode: 0 }),
    () =>
      simulator.call("finish", {
        ...lease,
        fence: currentFence,
        status: random.pick(["succeeded", "failed"]),
        exitCode: 0,
      }),
    () => simulator.call("release", { ...lease, reason: "no", interrupted: random.chance(0.5) }),
    () => simulator.call("release", { ...lease, reason: "no", elsewhere: true }),
    () => simulator.call("registerAgent", { ...foreignAgent(simulator), orgId: ORG, ...byRevokedToken(simulator) }),
    () => simulator.call("deliver", { jobId, fence, agentId: attacker.id, environment: [] }),
    () => simulator.call("unclaim", { jobId, fence: fence - 1, notBefore: simulator.now }),
    () =>
      simulator.call("claim", { agentId: attacker.id, tokenHash, bootId: random.pick([attacker.boot, null, "boot0"]) }),
    () => simulator.call("registerAgent", foreignAgent(simulator)),
    () => simulator.call("enqueue", foreignBuild(simulator)),
    () => simulator.call("flagLeak", { jobId, fence }),
  ];
  if (simulator.hasJobs) attempts.push(...attemptsOnJobs(simulator, lease, jobId));
  random.pick(attempts)();
};

const attemptsOnJobs = (simulator: Simulator, lease: LeaseHolder, jobId: string): (() => unknown)[] => {
  const { files, random } = simulator;
  const text = random.pick([files.textOf(jobId), "another file"]);
  const plan = () => ({ ...lease, graph: files.read(jobId, null, text), text, base: null });
  const decision = { approved: true, comment: null, role: "viewer" as const, name: "nobody", actor: ACTOR };
  const ids = [...simulator.pool.storage.rows.jobs.keys()];
  return [
    () => simulator.call("plan", plan()),
    () => simulator.call("plan", plan()),
    () => simulator.call("refusePlan", { ...lease, reason: "pipeline-invalid", message: "mine" }),
    () => simulator.call("decideGate", { ...decision, id: ids.length > 0 ? random.pick(ids) : jobId }),
    () => simulator.call("finish", { ...lease, status: "succeeded", exitCode: 0, outputs: { word: "mine" } }),
  ];
};

const byRevokedToken = ({ pool }: Simulator) => {
  const tokenId = [...pool.storage.rows.revoked.keys()].at(-1) ?? "nowhere";
  return { registeredBy: tokenId === "nowhere" ? null : { tokenId, kind: "registration" as const, name: "r" } };
};

const foreignAgent = (simulator: Simulator) => {
  const id = simulator.newId("f");
  const skills = { platform: 2, canBuildIOS: true, canBuildAndroid: true, canBuildWeb: true };
  return { id, orgId: "other", name: id, tokenHash: `hash of ${id}`, actor: ACTOR, ...skills };
};

const foreignBuild = (simulator: Simulator) => ({
  id: simulator.newId("f"),
  orgId: "other",
  repoId: "r1",
  pipelineId: "p1",
  pipelineVersion: 1,
  branch: "main",
  commitSha: null,
  trigger: "api" as const,
  priority: 0,
  requires: {},
  timeoutSeconds: 60,
  maxParallel: null,
  maxAttempts: 1,
  inputs: null,
  secretKeys: [],
  retryOf: null,
  idempotency: null,
  actor: ACTOR,
});
