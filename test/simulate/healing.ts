import { type HandOut, SimAgent } from "./agent.ts";
import { approveHeld } from "./approvals.ts";
import { arriveNext } from "./arrivals.ts";
import { checkHead } from "./check-arrivals.ts";
import { continueHandOut } from "./hand-out.ts";
import { decideGate } from "./people.ts";
import { ACTOR, type Simulator } from "./simulator.ts";
import { isEnded } from "./specification.ts";

import { must } from "./violation.ts";

/** Rounds without faults after which every build must have ended. */
const MAX_ROUNDS = 600;
/** Minutes after which the outbox must be empty. It takes at most four. */
const MAX_OUTBOX_ROUNDS = 30;

/** Injects no more faults: every build must end, and D1 must get all of them. */
export const heal = (simulator: Simulator, agents: SimAgent[], handOuts: HandOut[]): void => {
  const { pool } = simulator;
  simulator.isHealing = true;
  simulator.note("healing: no more faults, every build must end");
  for (const message of simulator.delayedMessages.splice(0)) message();
  addAbleAgents(simulator, agents);
  const { repository } = simulator;
  for (let round = 0; pool.state.builds.size > 0 || repository.onWay.length > 0; round++) {
    must(17, round < MAX_ROUNDS, "builds never end");
    while (handOuts.length > 0) continueHandOut(simulator, handOuts);
    arriveNext(simulator);
    decideGate(simulator);
    approveHeld(simulator);
    for (const agent of agents) agent.step(handOuts);
    simulator.advanceTime(5_000);
  }
  simulator.deliveries.compareAgain();
  emptyOutbox(simulator);
  simulator.deliveries.askAboutActive();
  emptyOutbox(simulator);
  for (const build of pool.storage.rows.builds.values())
    must(17, isEnded(build.status), "a stored build has not ended");
  simulator.database.compare(pool.storage);
  simulator.gitHosts.check(pool.storage);
  for (const { head, history } of repository.refs.values())
    if (head && simulator.poolRestores === 0 && !repository.isTorn(head)) checkHead(pool.checker, head, history);
  pool.checker.checkCloses(simulator.deliveries.closedLogs);
  pool.checker.checkRevocations(simulator.database.tokens);
};

/** A new object that loads only what is stored must have the same state. */
export const checkReload = ({ pool, now }: Simulator): void => {
  const agentIds = () => [...pool.state.agents.keys()].sort().join();
  const before = agentIds();
  pool.reload(now);
  must(16, agentIds() === before, "an eviction loses agents");
  const due = Object.values(pool.state.outbox).reduce((size, channel) => size + channel.due.size, 0);
  must(16, pool.state.builds.size === 0 && due === 0, "an ended build returns after an eviction");
};

const emptyOutbox = (simulator: Simulator): void => {
  const { pool } = simulator;
  const channels = () => Object.values(pool.state.outbox);
  for (let round = 0; channels().some(({ at }) => at !== null); round++) {
    must(17, round < MAX_OUTBOX_ROUNDS, "the outbox never becomes empty");
    simulator.advanceTime(60_000);
  }
};

/** Two agents that meet every requirement, two for strangers' code, and no draining agent. */
const addAbleAgents = (simulator: Simulator, agents: SimAgent[]): void => {
  const marks = simulator.hasForks ? [[], ["untrusted"]] : [[]];
  for (const [platform, mark] of marks.flatMap((mark) => [[1, mark] as const, [2, mark] as const])) {
    const labels = ["x", "y", ...mark];
    const able = { platform, canBuildIOS: true, canBuildWeb: true, labels, isEphemeral: false };
    const agent = new SimAgent(simulator, able);
    agent.install(true);
    agents.push(agent);
  }
  for (const { id } of agents)
    simulator.call("updateAgent", { agentId: id, change: { isDraining: false }, actor: ACTOR });
};
