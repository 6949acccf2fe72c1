import type { Rules } from "../../src/domain/pool/rules.ts";
import { isTerminal } from "../../src/domain/pool/state.ts";
import type { Requires } from "../../src/protocol/pipeline.ts";
import { type HandOut, SimAgent } from "./agent.ts";
import { hostileCall } from "./hostile-call.ts";
import type { Observer } from "./pool.ts";
import { ACTOR, ORG, Simulator } from "./simulator.ts";
import { DAY_MS } from "./specification.ts";
import { must } from "./violation.ts";

const EVENT_WEIGHTS = [
  ["agent", 42],
  ["hand-out", 22],
  ["time", 16],
  ["trigger", 7],
  ["late message", 4],
  ["mischief", 4],
  ["cancel", 2],
  ["flush", 2],
  ["drain", 1],
  ["remove", 0.6],
  ["register", 0.6],
  ["revoke", 0.15],
  ["silence", 0.3],
  ["evict", 1.5],
  ["restore", 2],
  ["clock", 0.4],
] as const;
const TOTAL_WEIGHT = EVENT_WEIGHTS.reduce((sum, [, weight]) => sum + weight, 0);
const MAX_BUILDS = 9;
/** Rounds of calm, of five seconds each, after which every build must have ended. */
const MAX_HEALING_ROUNDS = 600;

/** One seeded story from an empty pool to the end of all its builds. */
export class History {
  readonly simulator: Simulator;
  readonly agents: SimAgent[] = [];
  readonly #handOuts: HandOut[] = [];
  /** Either a restore or clocks that go back, never both: no fence could grow across the two. */
  readonly #canRestore: boolean;
  #saved: (() => void) | null = null;

  constructor(seed: number, index: number, rules: Rules, onlooker?: Observer) {
    this.simulator = new Simulator(seed, index, rules, onlooker);
    const { random } = this.simulator;
    this.#canRestore = random.chance(0.5);
    const count = 2 + random.below(3);
    for (let made = 0; made < count; made++) this.#register();
  }

  /** @throws Violation where something happens that must never happen */
  run(events = 40 + this.simulator.random.below(80)): void {
    if (this.simulator.random.chance(0.02)) this.#playDeaf();
    for (let event = 0; event < events; event++) this.#event();
    this.#calm();
  }

  /** Behind this network no answer reaches any agent: leases end unstarted, again and again. */
  #playDeaf(): void {
    this.#trigger();
    for (let round = 0; round < 25; round++) {
      for (const agent of this.agents) agent.pollWithoutAnswer();
      this.simulator.advanceTime(31_000);
    }
  }

  #event(): void {
    const { simulator, agents } = this;
    const { random } = simulator;
    const acts: Record<(typeof EVENT_WEIGHTS)[number][0], () => unknown> = {
      agent: () => random.pick(agents).step(this.#handOuts),
      "hand-out": () => this.#advance(),
      time: () => simulator.advanceTime(random.pick([1, 500, 2_500, 7_000, 16_000, 35_000, 70_000])),
      trigger: () => this.#trigger(),
      "late message": () => simulator.delayedMessages.splice(random.below(simulator.delayedMessages.length), 1)[0]?.(),
      mischief: () => hostileCall(simulator, agents),
      cancel: () => this.#cancel(),
      flush: () => simulator.flush(),
      drain: () => this.#drain(random.chance(0.5)),
      remove: () => this.#remove(),
      register: () => this.#register(),
      revoke: () => this.#revoke(),
      silence: () => this.#keepSilent(),
      evict: () => simulator.injectFault("object evicted", 1) && simulator.evict(),
      restore: () => this.#canRestore && this.#saveOrRestore(),
      clock: () => !this.#canRestore && this.#jump(),
    };
    acts[random.weighted(EVENT_WEIGHTS, TOTAL_WEIGHT)]();
  }

  #jump(): void {
    const { simulator } = this;
    if (simulator.injectFault("clock jump", 1))
      simulator.now += simulator.random.pick([-90_000, -3_000, 40_000, 200_000]);
  }

  #register(): void {
    const { simulator } = this;
    const isEphemeral = simulator.random.chance(0.12);
    this.agents.push(new SimAgent(simulator, { isEphemeral }));
  }

  #trigger(): void {
    const { simulator } = this;
    const { random } = simulator;
    if (simulator.builds.length >= MAX_BUILDS) return;
    const {
      id: pipelineId,
      repoId,
      maxParallel,
      maxAttempts,
      timeoutSeconds,
      platform,
    } = random.pick(simulator.pipelines);
    const requires: Requires = { platform, web: random.chance(0.2), labels: random.chance(0.2) ? ["x"] : [] };
    const key = random.chance(0.4) ? `k${random.below(4)}` : null;
    const answer = simulator.request("enqueue", {
      ...{ id: simulator.id("b"), orgId: ORG, repoId, pipelineId, pipelineVersion: 1, branch: "main", commitSha: null },
      ...{
        trigger: "api",
        priority: random.pick([0, 0, 0, 5, -5]),
        requires,
        timeoutSeconds,
        maxParallel,
        maxAttempts,
      },
      ...{ inputs: null, secretKeys: [], retryOf: null, actor: ACTOR },
      idempotency: key === null ? null : { key, caller: "c", bodyHash: random.chance(0.9) ? "same" : "other" },
    });
    if (answer?.ok && !simulator.builds.includes(answer.value.buildId)) simulator.builds.push(answer.value.buildId);
  }

  /** One step of the Worker's way from the claim to the answer; between any two of them anything may happen. */
  #advance(): void {
    const { simulator } = this;
    const handOuts = this.#handOuts;
    if (handOuts.length === 0) return;
    const at = simulator.random.below(handOuts.length);
    const { agent, buildId, fence, stage } = handOuts[at]!;
    const over = () => handOuts.splice(at, 1);
    if (simulator.injectFault("Worker died", 0.03)) {
      over();
      return;
    }
    if (stage === "read") {
      if (simulator.injectFault("D1 away", 0.08)) {
        over();
        simulator.request("unclaim", { buildId, fence, notBefore: simulator.now + 5_000 });
      } else if (simulator.injectFault("secret unreadable", 0.02)) {
        over();
        simulator.request("failClaim", {
          buildId,
          fence,
          reason: "environment",
          message: "A secret's sealed value is damaged.",
        });
      } else handOuts[at]!.stage = "deliver";
      return;
    }
    if (stage === "deliver") {
      const environment = [{ key: "A", scope: "organization", isSecret: true, version: 1 } as const];
      const answer = simulator.call("deliver", { buildId, fence, agentId: agent.id, environment });
      if (answer.ok) handOuts[at]!.stage = "answer";
      else over();
      return;
    }
    over();
    if (!simulator.injectFault("answer lost", 0.08)) agent.receiveJob(buildId, fence);
  }

  #cancel(): void {
    const { simulator } = this;
    if (simulator.builds.length === 0 || !simulator.injectFault("cancel", 1)) return;
    simulator.request("cancel", { buildId: simulator.random.pick(simulator.builds), actor: ACTOR });
  }

  #drain(isDraining: boolean): void {
    const agent = this.simulator.random.pick(this.agents);
    this.simulator.call("updateAgent", { agentId: agent.id, change: { isDraining }, actor: ACTOR });
  }

  #remove(): void {
    const { simulator } = this;
    const agent = simulator.random.pick(this.agents);
    if (agent.isUnregistered || !simulator.injectFault("removal", 1)) return;
    const answer = simulator.call("removeAgent", { agentId: agent.id, actor: ACTOR });
    if (answer.ok) simulator.sockets.delete(agent.id);
  }

  /** No message takes as long as that. */
  #keepSilent(): void {
    const { simulator } = this;
    if (!simulator.injectFault("months of silence", 1)) return;
    simulator.delayedMessages.length = 0;
    simulator.advanceTime(simulator.random.pick([50, 95]) * DAY_MS);
  }

  /** All agents of a token go with it; others register by the next one. */
  #revoke(): void {
    const { simulator } = this;
    if (!simulator.injectFault("token revoked", 1)) return;
    const order = { tokenId: simulator.registrationToken, wasThere: true, actor: ACTOR };
    const answer = simulator.call("removeAgentsOf", order);
    if (answer.ok) for (const id of answer.value.removed) simulator.sockets.delete(id);
    simulator.registrationToken = simulator.id("t");
    this.#register();
  }

  #saveOrRestore(): void {
    const { simulator } = this;
    const { pool } = simulator;
    if (this.#saved) {
      if (!simulator.injectFault("restore", 1)) return;
      this.#saved();
      this.#saved = null;
      return;
    }
    const rows = pool.storage.copy();
    const memory = pool.checker.snapshot();
    this.#saved = () => {
      pool.storage.rows = rows;
      pool.checker.observed = memory;
      simulator.now += 5_000;
      simulator.evict(true);
      simulator.database.poolWasRestored(pool.storage);
    };
  }

  /** Nothing goes wrong any more: every build must end, and D1 must know all of it. */
  #calm(): void {
    const { simulator } = this;
    const { pool } = simulator;
    simulator.isHealing = true;
    for (const message of simulator.delayedMessages.splice(0)) message();
    for (const platform of [1, 2]) {
      const able = { platform, canBuildIOS: true, canBuildWeb: true, labels: ["x", "y"], isEphemeral: false };
      this.agents.push(new SimAgent(simulator, able));
    }
    for (const { id } of this.agents)
      simulator.call("updateAgent", { agentId: id, change: { isDraining: false }, actor: ACTOR });
    for (let round = 0; pool.state.builds.size > 0; round++) {
      must(
        17,
        round < MAX_HEALING_ROUNDS,
        `${[...pool.state.builds.values()].map(({ status }) => status).join(", ")} for ever`,
      );
      while (this.#handOuts.length > 0) this.#advance();
      for (const agent of this.agents) agent.step(this.#handOuts);
      simulator.advanceTime(5_000);
    }
    for (let round = 0; pool.state.flush.at !== null; round++) {
      must(17, round < MAX_HEALING_ROUNDS, "the outbox never empties");
      simulator.advanceTime(60_000);
    }
    for (const build of pool.storage.rows.builds.values()) must(17, isTerminal(build), "a build is left");
    simulator.database.compare(pool.storage);
    this.#reload();
  }

  /** What is on disk is all there is: a fresh object answers the same. */
  #reload(): void {
    const { pool } = this.simulator;
    const agents = [...pool.state.agents.keys()].sort();
    pool.reload([]);
    must(
      16,
      JSON.stringify([...pool.state.agents.keys()].sort()) === JSON.stringify(agents),
      "agents were lost with the memory",
    );
    must(16, pool.state.builds.size === 0 && pool.state.dirty.size === 0, "a build came back from the disk");
  }
}
