import type { HandOut } from "./agent.ts";
import type { Simulator } from "./simulator.ts";

/** Advances one hand-out by one stage. Anything may happen between two stages. */
export const continueHandOut = (simulator: Simulator, handOuts: HandOut[]): void => {
  if (handOuts.length === 0) return;
  const handOut = handOuts[simulator.random.below(handOuts.length)]!;
  const isOver = simulator.injectFault("Worker died", 0.03) || runStage(simulator, handOut);
  if (isOver) handOuts.splice(handOuts.indexOf(handOut), 1);
};

/** Does the Worker's work between two calls of the pool. Returns whether the hand-out is over. */
const runStage = (simulator: Simulator, handOut: HandOut): boolean => {
  const { agent, jobId, fence, stage } = handOut;
  if (stage === "read") {
    if (simulator.injectFault("D1 unavailable", 0.08, "hand-out")) {
      simulator.request("unclaim", { jobId, fence, notBefore: simulator.now + 5_000, isAway: true });
      return true;
    }
    if (simulator.injectFault("git host unavailable", 0.03, "token for the clone")) {
      simulator.request("unclaim", { jobId, fence, notBefore: simulator.now + 5_000, isAway: false });
      return true;
    }
    if (simulator.injectFault("secret unreadable", 0.02)) {
      const message = "A secret's sealed value is damaged.";
      simulator.request("failClaim", { jobId, fence, reason: "environment", message });
      return true;
    }
    handOut.stage = "deliver";
    return false;
  }
  if (stage === "deliver") {
    const environment = [{ key: "A", scope: "organization", isSecret: true, version: 1 } as const];
    const answer = simulator.call("deliver", { jobId, fence, agentId: agent.id, environment });
    handOut.stage = "answer";
    return !answer.ok;
  }
  if (!simulator.injectFault("answer lost", 0.08, "hand-out")) agent.receiveJob(jobId, fence);
  return true;
};
